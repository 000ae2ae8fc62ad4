"""What products are sorted by and found by, as the database functions `title_key`, `price_key`,
`maker_key` and `title_words` compute it.

Products that are written in large numbers come with their keys: computed by the database they took
a quarter of its time for a new product.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from string import ascii_lowercase, ascii_uppercase
from typing import Any

from penstock.catalog.lookup.words import all_words
from penstock.model.effects import ProductKeys

_TITLE_LENGTH = 24
_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)
_WITHOUT_ACCENTS = _LOWER | str.maketrans(
    "ÀÁÂÃÄÅÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝàáâãäåçèéêëìíîïñòóôõöøùúûüýÿĄĆĘŁŃŚŹŻąćęłńśźżČĎĚŇŘŠŤŮŽčďěňřšťůž",
    "aaaaaaceeeeiiiinoooooouuuuyaaaaaaceeeeiiiinoooooouuuuyyacelnszzacelnszzcdenrstuzcdenrstuz",
)
_AMOUNT = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,10})?")
_MAKER_LENGTH = 200
_SEPARATOR = "\x1f"


def product_keys(product: Mapping[str, Any]) -> ProductKeys:
    return keys_of(
        product.get("title"),
        (product.get("price") or {}).get("amount"),
        product.get("brand"),
        (product.get("identifiers") or {}).get("mpn"),
    )


def keys_of(
    title: str | None, amount: str | None, brand: str | None, mpn: str | None
) -> ProductKeys:
    return ProductKeys(
        None if title is None else _title_key(title),
        None if amount is None or not _AMOUNT.fullmatch(amount) else float(amount),
        _maker_key(brand, mpn),
        None if title is None else all_words(title),
    )


def _title_key(title: str) -> str | None:
    if title.isascii():
        return title[:_TITLE_LENGTH].lower() or None
    return title[:_TITLE_LENGTH].translate(_WITHOUT_ACCENTS)


def _maker_key(brand: str | None, mpn: str | None) -> str | None:
    if brand is None or mpn is None:
        return None
    return f"{brand}{_SEPARATOR}{mpn}"[:_MAKER_LENGTH].translate(_LOWER)
