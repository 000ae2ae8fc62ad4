"""Rows to files: CSV, JSON, NDJSON and XLSX."""
