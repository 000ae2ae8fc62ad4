"""The phase of a job, for pipelines whose stages have names that people know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from penstock.engine.runtime import Runtime
from penstock.model.errors import PenstockError
from penstock.store.database import Connection, from_json
from penstock.store.jobs import phases as store
from penstock.store.jobs.phases import JobPhases

QUEUED, FINALISING = "queued", "finalising"
_NOTHING = {"phase": None, "phases": None, "provider": None, "totalProducts": None}


async def load_phase(
    runtime: Runtime, conn: Connection, pipeline: str, job_id: UUID
) -> dict[str, Any]:
    """The phase, the open items of each phase, the columns and the fields of an import."""
    try:
        names, columns = runtime.pipeline(pipeline).phases, runtime.pipeline(pipeline).columns
    except PenstockError:
        return _NOTHING
    found = await store.load(conn, job_id) if names else None
    if found is None:
        return _NOTHING
    config = from_json(found.config)
    return {
        "phase": phase_of(found.state, names, found.open),
        "phases": [
            {"phase": phase, "open": found.open.get(stage, 0)} for stage, phase in names.items()
        ],
        "columns": list(columns) if columns is not None else None,
        "provider": config.get("provider") or None,
        "totalProducts": _total_products(found, config),
    }


def phase_of(state: str, names: Mapping[str, str], open_items: Mapping[str, int]) -> str:
    """The earliest phase that has open items; items of several phases are worked on at once."""
    if state in ("done", "failed", "cancelled"):
        return state
    if state == "queued":
        return QUEUED
    return next((phase for stage, phase in names.items() if open_items.get(stage)), FINALISING)


def _total_products(found: JobPhases, config: Mapping[str, Any]) -> int | None:
    ids = config.get("productIds")
    if ids is not None:
        return len(set(ids))
    if not found.counted:
        return None
    return max(found.counted.get("total", 0), found.counted.get("listed", 0))
