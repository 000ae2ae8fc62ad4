"""Rows to products: normalise, validate, find duplicates, match with known products."""
