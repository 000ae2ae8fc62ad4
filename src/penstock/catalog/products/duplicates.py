"""Duplicates within a file, and the difference between a product and the known one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from penstock.catalog.profiles.checks import Key, Winner
from penstock.catalog.values.gtin import match_key
from penstock.catalog.values.result import Problem, problem

State = Literal["new", "changed", "unchanged"]

# The identity of a catalog product; a matching row of another source does not change it.
_IDENTITY = ("id", "source", "sourceId")
# Fields that differ between runs without a change of the product.
_UNTOLD = frozenset(("metadata.confidence", "metadata.lastUpdated", "price.base", *_IDENTITY))


def key_of(product: Mapping[str, Any], key: Key) -> str | None:
    """Equal for duplicates: case, outer spaces and a GTIN's leading zeros are ignored."""
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


class Duplicate(NamedTuple):
    """``row`` is dropped in favour of ``kept``."""

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
    """Collects rows and returns those to drop. Keeps keys and row numbers only."""

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
        """Decided by row number, since rows may be added in any order."""
        if self._winner == "most_complete":
            return score > best.score or (score == best.score and row < best.row)
        return row < best.row if self._winner == "first" else row > best.row

    def losers(self) -> list[Duplicate]:
        return sorted(Duplicate(row, self._best[key].row, key) for row, key in self._losers)


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
