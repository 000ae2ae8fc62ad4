"""The OpenAPI document, and the reference made from it."""
