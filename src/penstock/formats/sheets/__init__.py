"""Workbooks: their sheets as rows of text, then the table among the rows."""
