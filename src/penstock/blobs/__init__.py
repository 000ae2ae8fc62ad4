"""Bytes by content hash."""
