"""Workbooks: read their sheets as rows of text, then find the table."""
