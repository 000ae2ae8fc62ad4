"""Searches of lookups."""
