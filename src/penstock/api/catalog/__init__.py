"""Products, pictures and profiles."""
