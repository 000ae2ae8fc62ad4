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
        elapsed_ms=row["elapsed_ms"] or 0, skipped=row["skipped"],
        state=state_of(row),
    )  # fmt: skip


def as_json(row: Any, errors: Mapping[str, int] | None = None) -> dict[str, Any]:
    """The same names as the API's."""
    shown = {
        "id": str(row["id"]),
        "pipeline": row["pipeline"],
        "name": row["name"],
        "state": state_of(row),
        "priority": row["priority"],
        "lane": row["lane"],
        "lanePaused": row["lane_paused"],
        "org": row["org"],
        "file": _file(row),
        "config": from_json(row["config"]),
        "counters": {shown: row[name] for name, shown in COUNTERS.items()},
        "progress": progress_of(row),
        "summary": from_json(row["summary"]),
        "lastError": from_json(row["last_error"]),
        "attempts": row["attempts"],
        "createdAt": row["created_at"],
        "dueAt": row["due_at"],
        "startedAt": row["started_at"],
        "finishedAt": row["finished_at"],
        "updatedAt": row["updated_at"],
    }
    return shown if errors is None else shown | {"errors": dict(errors)}


def _file(row: Any) -> dict[str, Any] | None:
    if row["file_id"] is None:
        return None
    return {
        "id": str(row["file_id"]),
        "name": row["file_name"],
        "size": row["file_size"],
        "sha256": row["sha256"],
        "mediaType": row["media_type"],
    }
