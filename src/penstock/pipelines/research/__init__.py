"""Research: one query to many sources, and one list of products from their answers."""
