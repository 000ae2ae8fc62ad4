"""The interface of pipelines whose first stage is a pure function of the row.

Their rows are stored in ranges while the input is read. Then the first stage runs over a whole
range in a child process, and its rows become items in the state in which it leaves them: each row
is written once. A range that cannot be stored this way becomes ordinary items of the first stage.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from penstock.model.effects import Effect
from penstock.model.errors import ItemError
from penstock.model.ports import Context
from penstock.model.states import ItemStatus


class RowRange(NamedTuple):
    """Consecutive rows of a job as they were read."""

    first_row: int
    # The inputs as JSON, one a line.
    lines: bytes
    # What the reader noticed, by row number.
    noticed: Mapping[str, Sequence[Mapping[str, Any]]]
    # Rows that must wait for all others before the second stage; None: all.
    waiting: frozenset[int] | None


class StoredRow(NamedTuple):
    """A row as it will be stored; documents are JSON."""

    status: ItemStatus
    stage: int
    attempts: int
    normalized: bytes | None
    result: bytes | None
    problems: bytes | None
    error: ItemError | None = None


@dataclass(frozen=True, slots=True)
class RangeResult:
    """The rows of a range in order, and what is written with them: effects by row number."""

    rows: Sequence[StoredRow]
    effects: Sequence[tuple[int, Effect]] = ()


@dataclass(frozen=True, slots=True)
class RangeWork:
    """How a pipeline works on a range. ``prepare`` runs in a child process and sees the rows alone.
    ``complete`` runs in the worker and may read what is stored; it runs again if that has changed
    before its result is written."""

    # Both take the job first.
    prepare: Callable[[Any, RowRange], Any]
    complete: Callable[[Any, RowRange, Any, Context], Awaitable[RangeResult]]
