"""Configured sources over HTTP."""
