"""Use cases of lookups."""
