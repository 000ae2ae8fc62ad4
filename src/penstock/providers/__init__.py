"""Shops that products are imported from. Each provider implements the contract in `base`."""
