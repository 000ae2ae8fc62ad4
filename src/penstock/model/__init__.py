"""Domain types and pure decisions. No I/O, no clock, no SQL."""
