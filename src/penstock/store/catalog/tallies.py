"""Counts over the rows of a job, window by window."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from penstock.model.ports import Tally
from penstock.store.database import Connection
from penstock.store.queries import load

_sql = load("products")
# Rows that one statement counts.
TALLIED_AT_ONCE = 20_000


class TallyOfWindows:
    """Adds the tallies of windows of rows, which may be read in any order."""

    def __init__(self, *, with_changes: bool = False) -> None:
        self._with_changes = with_changes
        self._states: Counter[str] = Counter()
        self._linked = 0
        self._problems: dict[tuple[str, str], dict[str, Any]] = {}
        self._changes: Counter[tuple[str, ...]] = Counter()

    async def add_rows(self, conn: Connection, job_id: UUID, start: int) -> None:
        """Count the `TALLIED_AT_ONCE` rows after ``start``."""
        end = start + TALLIED_AT_ONCE
        for row in await conn.fetch(_sql.tally_states, job_id, start, end):
            self._states[row["state"]] += row["rows"]
            self._linked += row["linked"]
        for row in await conn.fetch(_sql.tally_problems, job_id, start, end):
            self._add_problem(row["place"] or "", dict(row))
        if self._with_changes:
            for row in await conn.fetch(_sql.tally_changes, job_id, start, end):
                self._changes[tuple(row["fields"])] += row["rows"]

    def _add_problem(self, place: str, row: Mapping[str, Any]) -> None:
        told = {
            "code": row["code"], "severity": row["severity"], "count": 0, "message": row["message"],
            "example": {"rowNo": row["first_row"], "value": row["value"]},
        }  # fmt: skip
        known = self._problems.setdefault((place, row["code"]), told)
        count = known["count"] + row["rows"]
        if row["first_row"] < known["example"]["rowNo"]:
            known |= told
        known["count"] = count

    def result(self) -> Tally:
        by_column: dict[str, list[dict[str, Any]]] = {}
        for (column, _), one in self._problems.items():
            by_column.setdefault(column, []).append(one)
        for found in by_column.values():
            found.sort(key=lambda one: (-one["count"], one["example"]["rowNo"]))
        changes = dict(self._changes) if self._with_changes else None
        return Tally(dict(self._states), by_column, self._linked, changes)
