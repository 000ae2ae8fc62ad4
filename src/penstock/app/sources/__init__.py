"""Use cases of configured sources."""
