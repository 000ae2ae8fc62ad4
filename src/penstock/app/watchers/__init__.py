"""Watched places: their settings, and their scans."""
