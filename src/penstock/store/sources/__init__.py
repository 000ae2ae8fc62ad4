"""Configured sources."""
