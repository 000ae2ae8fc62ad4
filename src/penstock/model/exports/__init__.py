"""Exports that are sent to a place or a URL."""
