"""Products, their history, and profiles."""
