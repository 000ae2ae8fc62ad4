"""Cells that hold several options of a variant, as Magento and PrestaShop write them.

`color=Green,size=XS`               names and values (`additional_attributes`)
`sku=A-1,size=XS|sku=A-2,size=S`    the variants of a product (`configurable_variations`)
`Colour:color:0,Size:select:1`      names of options (PrestaShop), without kind and position
`Green:0,M:1`                       their values
"""

from __future__ import annotations

import re

from penstock.catalog.values.numbers import is_empty_cell
from penstock.catalog.values.result import EMPTY, NormalisedValue
from penstock.catalog.values.text import tidy_line

MAX_LISTED = 1_000
_MAX_NAME_LENGTH = 100
# A comma separates two pairs only if a name and an equals sign follow it.
_NEXT_PAIR = re.compile(r",(?=[A-Za-z][A-Za-z0-9_]{0,60}=)")


def read_attributes(text: str) -> NormalisedValue:
    found = _pairs(text)
    return NormalisedValue(found, "attributes") if found else EMPTY


def read_listed(text: str) -> NormalisedValue:
    """Variants as (SKU, options), in the order of the cell."""
    listed: list[tuple[str, dict[str, str]]] = []
    for part in text.split("|")[:MAX_LISTED]:
        options = _pairs(part)
        sku = options.pop("sku", None)
        if sku:
            listed.append((sku, options))
        elif not options and (alone := tidy_line(part)):
            listed += [(one, {}) for one in map(tidy_line, alone.split(",")) if one]
    return NormalisedValue(tuple(listed), "listed_variants") if listed else EMPTY


def _pairs(text: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for part in _NEXT_PAIR.split(text):
        name, equals, value = part.partition("=")
        name, value = tidy_line(name)[:_MAX_NAME_LENGTH], tidy_line(value)
        if equals and name and value:
            pairs.setdefault(name, value)
    return pairs


def read_names(text: str) -> NormalisedValue:
    return _parts(text, "option_names")


def read_values(text: str) -> NormalisedValue:
    return _parts(text, "option_values")


def _parts(text: str, rule: str) -> NormalisedValue:
    if is_empty_cell(text):
        return EMPTY
    parts = [tidy_line(part.partition(":")[0]) for part in text.split(",")]
    return NormalisedValue(tuple(parts), rule) if all(parts) else EMPTY
