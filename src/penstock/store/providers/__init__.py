"""Calls to providers: buckets, circuits and counts."""
