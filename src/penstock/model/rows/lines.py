"""Which line of the file a row is. The reader stores it as runs, see `formats.tables.LineRuns`."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

# Each is a row and its line; from there on the line grows with the row. Line 0: unknown.
Runs = Sequence[Sequence[int]]


def runs_of(context: Mapping[str, Any]) -> Runs:
    """Of a job's context; empty for formats without lines, and while the file is read."""
    runs: Runs = context.get("reading", {}).get("lines") or ()
    return runs


def line_of(runs: Runs, row: int) -> int | None:
    """The line of the file, or the row of the sheet, that the row was read from."""
    at = bisect_right(runs, row, key=lambda run: run[0])
    if at == 0:
        return None
    first, line = runs[at - 1]
    return line + row - first if line else None
