"""Rows that a pipeline holds back until a person accepts them."""

from __future__ import annotations

PRICE_HELD = "PRICE_CHANGE_HELD"
GTIN_HELD = "GTIN_CHANGE_HELD"
# Items with these codes are SKIPPED and not written until they are accepted.
HELD_CODES = (GTIN_HELD, PRICE_HELD)
# A proposal that fills gaps of a product is written when a person accepts it.
PROPOSED = "ENRICHMENT_PROPOSED"
# Set in an item's checkpoint when a person has accepted (true) or refused (false) it.
ACCEPTED = "accepted"
