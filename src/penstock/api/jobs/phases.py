"""The phase of a job, for pipelines whose stages have names that people know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from penstock.engine.runtime import Runtime
from penstock.model.errors import PenstockError
from penstock.store.database import Connection, from_json
from penstock.store.jobs import jobs

QUEUED, FINALISING = "queued", "finalising"


async def load_phase(runtime: Runtime, conn: Connection, row: Any) -> dict[str, Any]:
    """The phase, the open items of each phase, and the fields of an import."""
    nothing = {"phase": None, "phases": None, "provider": None, "totalProducts": None}
    try:
        phases = runtime.pipeline(row["pipeline"]).phases
    except PenstockError:
        return nothing
    if not phases:
        return nothing
    open_items = await jobs.open_by_stage(conn, row["id"])
    config = from_json(row["config"])
    return {
        "phase": phase_of(row["state"], row["total"], phases, open_items),
        "phases": [
            {"phase": phase, "open": open_items.get(stage, 0)} for stage, phase in phases.items()
        ],
        "provider": config.get("provider") or None,
        "totalProducts": await _total_products(conn, row["id"], config),
    }


def phase_of(
    state: str, total: int, phases: Mapping[str, str], open_items: Mapping[str, int]
) -> str:
    """The earliest phase that has open items; items of several phases are worked on at once."""
    if state in ("done", "failed", "cancelled"):
        return state
    if state == "queued":
        return QUEUED
    return next((phase for stage, phase in phases.items() if open_items.get(stage)), FINALISING)


async def _total_products(conn: Connection, job_id: UUID, config: Mapping[str, Any]) -> int | None:
    ids: Sequence[str] | None = config.get("productIds")
    if ids is not None:
        return len(set(ids))
    counted = await jobs.group_totals(conn, job_id, "products")
    if not counted:
        return None
    return max(counted.get("total", 0), counted.get("listed", 0))
