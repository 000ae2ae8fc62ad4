"""Values that were found for a field, each with where it stood and how sure it is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple


class Candidate(NamedTuple):
    value: Any
    source: str
    confidence: float


# The value chosen for each field.
Chosen = dict[str, Candidate]


class Candidates:
    """Candidates by field."""

    def __init__(self) -> None:
        self._found: dict[str, list[Candidate]] = defaultdict(list)

    def add(self, field: str, value: Any, source: str, confidence: float) -> None:
        if value not in (None, "", [], {}):
            self._found[field].append(Candidate(value, source, confidence))

    def all(self, field: str) -> list[Candidate]:
        return self._found.get(field, [])

    def has(self, field: str) -> bool:
        return bool(self._found.get(field))

    def fields(self) -> list[str]:
        return list(self._found)

    def best(self, field: str, same: Callable[[Any], Hashable] | None = None) -> Candidate | None:
        """The most probable value: sources that agree (by ``same``) support each other."""
        found = self._found.get(field)
        if not found:
            return None
        if same is None or len(found) == 1:
            return max(found, key=lambda one: one.confidence)
        doubt: dict[Hashable, dict[str, float]] = defaultdict(dict)
        for one in found:
            sources = doubt[same(one.value)]
            sources[one.source] = min(sources.get(one.source, 1.0), 1.0 - one.confidence)
        together = {key: 1.0 - _product(sources.values()) for key, sources in doubt.items()}
        winner = max(found, key=lambda one: (together[same(one.value)], one.confidence))
        return winner._replace(confidence=min(0.99, together[same(winner.value)]))


def _product(values: Any) -> float:
    result = 1.0
    for value in values:
        result *= value
    return result
