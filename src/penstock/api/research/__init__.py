"""Research requests over HTTP."""
