"""Delimited and fixed-width text: detect encoding, dialect and table, then stream the rows."""
