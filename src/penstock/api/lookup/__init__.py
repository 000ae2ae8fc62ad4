"""Lookups: searches and choices."""
