"""Watched places and the files that were seen there."""
