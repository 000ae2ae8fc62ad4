"""`penstock jobs columns`: figures of each column of a job's file."""

from __future__ import annotations

import asyncio
from typing import Any

from penstock.cli import printing
from penstock.cli.jobs.jobs import JobId

_FIGURES = ("filled", "empty", "warnings", "errors", "changed")


def columns(job_id: JobId, json: printing.Json = False) -> None:
    """Of each column: filled and empty cells, warnings, errors, and rows that change the field."""
    found = asyncio.run(_figures(f"/api/jobs/{job_id}/columns"))
    if json:
        printing.as_json(found["items"])
        return
    rows = [
        (one["column"], one["target"] or "", *(_count(one[name]) for name in _FIGURES))
        for one in found["items"]
    ]
    printing.columns(("COLUMN", "FIELD", *(name.upper() for name in _FIGURES)), rows)
    if found["rows"] < found["total"]:
        printing.note(f"Problems and changes are those of the first {found['rows']:,} rows.")


def _count(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


async def _figures(path: str) -> dict[str, Any]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        answer: dict[str, Any] = await penstock.get(path)
        return answer
