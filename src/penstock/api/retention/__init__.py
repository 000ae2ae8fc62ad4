"""Retention over HTTP."""
