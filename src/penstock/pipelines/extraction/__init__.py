"""Supplier files to products: config, rows, stages, preview and summary."""
