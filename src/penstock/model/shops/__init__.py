"""Shops as pipelines and use cases see them: connections, products, and the provider contract."""
