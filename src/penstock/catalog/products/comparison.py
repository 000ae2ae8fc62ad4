"""Compare products: keys of duplicates, completeness, and differences to a known product."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Literal, NamedTuple

from penstock.catalog.profiles.checks import Key
from penstock.catalog.values.gtin import match_key

State = Literal["new", "changed", "unchanged"]

# The identity of a catalog product; a matching row of another source does not change it.
_IDENTITY = ("id", "source", "sourceId")
# Fields that differ between runs without a change of the product.
_UNTOLD = frozenset(("metadata.confidence", "metadata.lastUpdated", "price.base", *_IDENTITY))


def same_key(name: str | None, key: Key) -> str | None:
    """Equal for duplicates: case, outer spaces and a GTIN's leading zeros are ignored."""
    if not name:
        return None
    return match_key(name) if key == "gtin" else name.strip().casefold()


def row_digest(product: bytes) -> bytes:
    """Equal for the same product, given as JSON. A row that gives the product it gave before has
    nothing to change, and the two need not be compared."""
    return sha256(product).digest()[:16]


def completeness(product: Mapping[str, Any]) -> int:
    """The number of values of a product, at any depth."""
    count = 0
    for value in product.values():
        if isinstance(value, Mapping):
            count += completeness(value)
        elif isinstance(value, list):
            count += len(value)
        elif value not in (None, ""):
            count += 1
    return count


class Change(NamedTuple):
    """One field that differs; a side is None if it lacks the field."""

    field: str
    before: Any
    after: Any


def diff(
    existing: Mapping[str, Any] | None, product: Mapping[str, Any], *, blanks_count: bool = False
) -> tuple[State, list[Change]]:
    """How ``product`` differs from ``existing``. Fields that the new one lacks stay unchanged,
    unless ``blanks_count``: then they count as removed."""
    if existing is None:
        return "new", []
    changes: list[Change] = []
    _compare(existing, product, "", blanks_count, changes)
    # The order of members in a document means nothing.
    changes.sort(key=lambda change: change.field)
    return ("changed" if changes else "unchanged"), changes


def _compare(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    path: str,
    blanks_count: bool,
    changes: list[Change],
) -> None:
    for name in dict.fromkeys((*after, *before)):
        field = f"{path}{name}"
        if field in _UNTOLD:
            continue
        old, new = before.get(name), after.get(name)
        if isinstance(old, Mapping | None) and isinstance(new, Mapping | None):
            # A section that one side lacks differs in all of its fields.
            _compare(old or {}, new or {}, field + ".", blanks_count, changes)
        elif old != new and (new is not None or blanks_count):
            changes.append(Change(field, old, new))
