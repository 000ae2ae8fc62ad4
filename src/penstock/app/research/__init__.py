"""Use cases of research requests."""
