"""Import products and their pictures from connected shops."""
