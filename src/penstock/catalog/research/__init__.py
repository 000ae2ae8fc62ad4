"""Offers of several sources as one list: the same products merged, filtered and ranked."""
