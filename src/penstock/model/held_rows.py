"""Rows that a pipeline holds back until a person accepts them."""

from __future__ import annotations

PRICE_HELD = "PRICE_CHANGE_HELD"
GTIN_HELD = "GTIN_CHANGE_HELD"
# Items with these codes are SKIPPED: nothing of them was written, and accepting them writes it.
HELD_CODES = (GTIN_HELD, PRICE_HELD)
# In an item's checkpoint, once a person has accepted what the item was held back for.
ACCEPTED = "accepted"
