"""Keeps PostgreSQL, the API and the workers running as one program."""
