"""The fields that each column may fill, before each gets one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from penstock.catalog.mapping.synonyms import Hints

How = Literal["exact", "fuzzy", "content", "custom"]

# Below this a column stays a custom field; the alternatives are still listed.
MIN_CONFIDENCE = 0.5


@dataclass(frozen=True, slots=True)
class ColumnOptions:
    options: dict[str, tuple[float, How]]
    looks_like: str | None
    hints: Hints
