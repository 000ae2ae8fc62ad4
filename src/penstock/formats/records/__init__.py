"""Nested formats: find their records and flatten them to rows."""
