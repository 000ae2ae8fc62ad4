"""Use cases of connected shops."""
