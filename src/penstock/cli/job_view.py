"""A job as commands show it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.model.progress import describe
from penstock.model.states import TERMINAL_JOB_STATES, shown_state
from penstock.store.database import from_json

COUNTERS = {
    "total": "total", "pending": "pending", "processing": "processing", "done": "done",
    "error": "error", "not_found": "notFound", "skipped": "skipped",
}  # fmt: skip


def state_of(row: Any) -> str:
    return shown_state(row["state"], paused=row["paused"], delayed=bool(row["delayed"]))


def has_ended(row: Any) -> bool:
    return row["state"] in TERMINAL_JOB_STATES


def progress_of(row: Any) -> dict[str, Any]:
    finished = row["done"] + row["error"] + row["not_found"] + row["skipped"]
    return describe(
        percent=row["percent"], stage=row["stage"], rows_done=finished, rows_total=row["total"],
        elapsed_ms=row["elapsed_ms"] or 0, state=state_of(row),
    )  # fmt: skip


def as_json(row: Any, errors: Mapping[str, int] | None = None) -> dict[str, Any]:
    """camelCase, with the names the API uses."""
    shown = {
        "jobId": str(row["id"]),
        "name": row["name"],
        "pipeline": row["pipeline"],
        "org": row["org"],
        "state": state_of(row),
        "priority": row["priority"],
        "lane": row["lane"],
        "fileName": row["file_name"],
        "counters": {shown: row[name] for name, shown in COUNTERS.items()},
        "progress": progress_of(row),
        "summary": from_json(row["summary"]),
        "lastError": from_json(row["last_error"]),
        "createdAt": row["created_at"],
        "startedAt": row["started_at"],
        "finishedAt": row["finished_at"],
    }
    if errors is not None:
        shown["errors"] = dict(errors)
    return shown
