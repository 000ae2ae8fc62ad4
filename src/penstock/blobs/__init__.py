"""Storage of bytes by content hash."""
