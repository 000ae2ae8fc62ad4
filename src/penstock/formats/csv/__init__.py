"""Delimited text: its encoding, its dialect, where its table is, and the rows as a stream."""
