"""Penstock: a self-hosted, durable intake for product data."""

__version__ = "0.1.0"
