"""Columns to fields: what each column of a file means, and what its cells have in common."""
