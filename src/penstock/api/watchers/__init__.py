"""Watched places over HTTP."""
