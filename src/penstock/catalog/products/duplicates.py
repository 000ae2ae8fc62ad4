"""Duplicates within a file, and how a product differs from the one already known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from penstock.catalog.profiles.checks import Key, Winner
from penstock.catalog.values.gtin import match_key
from penstock.catalog.values.result import Problem, problem

State = Literal["new", "changed", "unchanged"]

# By these the catalog knows a product; a row of another source that means it does not rename it.
_IDENTITY = ("id", "source", "sourceId")
# Differ from run to run without the product having changed.
_UNTOLD = frozenset(("metadata.confidence", "metadata.lastUpdated", "price.base", *_IDENTITY))


def key_of(product: Mapping[str, Any], key: Key) -> str | None:
    """What makes two rows the same: case and outer spaces do not, nor a GTIN's leading zeros."""
    if key == "sourceId":
        found = product.get("sourceId")
    else:
        found = product.get("identifiers", {}).get(key)
    return same_key(found if isinstance(found, str) else None, key)


def same_key(name: str | None, key: Key) -> str | None:
    if not name:
        return None
    return match_key(name) if key == "gtin" else name.strip().casefold()


def completeness(product: Mapping[str, Any]) -> int:
    """How many values a product has, at any depth."""
    count = 0
    for value in product.values():
        if isinstance(value, Mapping):
            count += completeness(value)
        elif isinstance(value, list):
            count += len(value)
        elif value not in (None, ""):
            count += 1
    return count


class Duplicate(NamedTuple):
    """``row`` loses to ``kept``."""

    row: int
    kept: int
    key: str

    def problem(self, field: Key) -> Problem:
        return problem("DUPLICATE_IN_FILE", field=field, value=self.key, row=self.kept)


@dataclass(slots=True)
class _Best:
    row: int
    score: int


class Duplicates:
    """Rows go in one by one; losers come out once all are in. Holds keys and row numbers only."""

    def __init__(self, key: Key = "sku", winner: Winner = "first") -> None:
        self._key: Key = key
        self._winner: Winner = winner
        self._best: dict[str, _Best] = {}
        self._losers: list[tuple[int, str]] = []

    def add(self, row: int, product: Mapping[str, Any]) -> None:
        key = key_of(product, self._key)
        if key is None:
            return
        score = completeness(product) if self._winner == "most_complete" else 0
        best = self._best.get(key)
        if best is None:
            self._best[key] = _Best(row, score)
        elif self._beats(row, score, best):
            self._losers.append((best.row, key))
            self._best[key] = _Best(row, score)
        else:
            self._losers.append((row, key))

    def _beats(self, row: int, score: int, best: _Best) -> bool:
        """By row number, not by arrival: rows may come in any order."""
        if self._winner == "most_complete":
            return score > best.score or (score == best.score and row < best.row)
        return row < best.row if self._winner == "first" else row > best.row

    def losers(self) -> list[Duplicate]:
        return sorted(Duplicate(row, self._best[key].row, key) for row, key in self._losers)


def find_duplicates(
    rows: Iterable[tuple[int, Mapping[str, Any]]], key: Key = "sku", winner: Winner = "first"
) -> list[Duplicate]:
    duplicates = Duplicates(key, winner)
    for row, product in rows:
        duplicates.add(row, product)
    return duplicates.losers()


class Change(NamedTuple):
    """One field that differs; None where one side does not have it."""

    field: str
    before: Any
    after: Any


def diff(
    existing: Mapping[str, Any] | None, product: Mapping[str, Any], *, blanks_count: bool = False
) -> tuple[State, list[Change]]:
    """How ``product`` differs from ``existing``. Fields the new one lacks are left as they are,
    unless ``blanks_count``: then they are changes to nothing."""
    if existing is None:
        return "new", []
    changes: list[Change] = []
    _compare(existing, product, "", blanks_count, changes)
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
            # A part that one of them lacks altogether differs by what is in it.
            _compare(old or {}, new or {}, field + ".", blanks_count, changes)
        elif old != new and (new is not None or blanks_count):
            changes.append(Change(field, old, new))
