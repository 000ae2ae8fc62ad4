"""Commands for products, profiles and exchange rates."""
