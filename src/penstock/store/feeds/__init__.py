"""Feeds of products."""
