"""Shopify: GraphQL Admin API with bulk operations, and REST where a shop has no GraphQL."""
