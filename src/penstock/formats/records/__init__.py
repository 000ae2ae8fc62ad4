"""Nested formats: where their records are, and records flattened to rows."""
