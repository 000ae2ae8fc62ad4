"""Find rows with a unique key: they can be matched before all other rows are known.

While a file is read, the ASCII letters and digits of the key cells are compared. This is coarser
than comparing keys, so two rows with the same key are always found. These rows wait for the
barrier; the others are matched at once.
"""

from __future__ import annotations

import unicodedata
from array import array
from collections.abc import Mapping, Sequence
from itertools import pairwise
from string import ascii_letters, digits
from typing import Any
from zlib import crc32

from penstock.catalog.products.plan import Plan
from penstock.model.pipeline import Job
from penstock.pipelines.extraction.plan import plan_of
from penstock.pipelines.extraction.rows import GROUPS

# With more similar rows, or a larger share, it is cheaper to let all rows wait.
_MAX_SIMILAR_ROWS = 20_000
_MAX_SIMILAR_SHARE = 0.2
# Longer keys are cut, so that two different cells can have the same key.
_MAX_CELL_LENGTH = 200
# Letters that become others in a key.
_UNSURE = frozenset("ßİŉſǰẖẗẘẙẚẞﬀﬁﬂﬃﬄﬅﬆ")
_UNTOLD = bytes(set(range(256)) - set((ascii_letters + digits).encode()))


def letters_and_digits(text: str) -> bytes:
    """ASCII letters and digits only, in lower case."""
    return text.encode("ascii", "ignore").translate(None, _UNTOLD).lower()


def key_column(plan: Plan) -> int | None:
    """The cell that contains the key as it is written; None if there is none, or if rows can be
    variants of each other. GTINs are normalised too much, and an id may come from other cells."""
    if plan.profile.key != "sku" or not GROUPS.isdisjoint(plan.targets):
        return None
    return next((step.column for step in plan.steps if step.target == "identifiers.sku"), None)


class KeyCells:
    """The key cells of a file while it is read, as short digests. Different cells can share a
    digest: then their rows wait although they need not."""

    def __init__(self, column: int) -> None:
        self._column = column
        self._digests = array("Q")
        self._is_unsure = False

    def add(self, rows: Sequence[Sequence[str]]) -> None:
        column, digests = self._column, self._digests
        for row in rows:
            cell = row[column] if column < len(row) else ""
            if not cell.isascii() or len(cell) > _MAX_CELL_LENGTH:
                self._is_unsure = self._is_unsure or _may_change(cell)
            told = letters_and_digits(cell)
            # Zero: the cell has no letters or digits.
            digests.append(crc32(told) << 16 | min(len(told), 0xFFFF) if told else 0)

    def as_json(self) -> dict[str, Any]:
        """The column, and the rows that are similar to others; None: too many, or not known."""
        return {"column": self._column, "rows": None if self._is_unsure else self._similar()}

    def _similar(self) -> list[int] | None:
        most = min(_MAX_SIMILAR_ROWS, int(len(self._digests) * _MAX_SIMILAR_SHARE))
        ordered = sorted(self._digests)
        shared = {one for one, other in pairwise(ordered) if one == other} | {0}
        rows = [n for n, one in enumerate(self._digests, 1) if one in shared]
        return rows if len(rows) <= most else None


def _may_change(cell: str) -> bool:
    return (
        len(cell) > _MAX_CELL_LENGTH
        or not _UNSURE.isdisjoint(cell)
        or not unicodedata.is_normalized("NFC", cell)
    )


def similar_rows(job: Job, found: Mapping[str, Any] | None) -> Sequence[int] | None:
    """The rows that must wait for the barrier, by what `KeyCells` found; None: all."""
    column = key_column(plan_of(job)[0])
    if found is None or column is None or found["column"] != column:
        return None
    rows: Sequence[int] | None = found["rows"]
    return rows
