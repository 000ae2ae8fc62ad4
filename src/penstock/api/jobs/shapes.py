"""Rows of the store as the API shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from penstock.api.http.answers import stored
from penstock.api.jobs.phases import load_phase
from penstock.app.job_control import get_job, state_of
from penstock.app.rows.saved_values import DEFAULT_SOURCE
from penstock.engine.runtime import Runtime, parse_config
from penstock.model.errors import PenstockError
from penstock.model.pipeline import Pipeline
from penstock.model.policy import category_of
from penstock.model.progress import progress_of
from penstock.model.rows.lines import Runs, line_of, runs_of
from penstock.model.states import ItemStatus
from penstock.store.database import Connection, from_json
from penstock.store.jobs.events import JobEvent
from penstock.store.jobs.items import ItemRow
from penstock.store.jobs.job_rows import JobDetails, JobRow, JobTable


async def load_job_shape(runtime: Runtime, conn: Connection, job_id: UUID) -> dict[str, Any]:
    """One job in full."""
    row = await get_job(conn, job_id)
    learnt = from_json(row.context) or {}
    shape = job_shape(row)
    return shape | {
        "errors": stored(row.errors) or {},
        "header": from_json(row.header),
        "lines": runs_of(learnt),
        "columns": learnt.get("columns"),
        "mapping": learnt.get("mapping"),
        **_origin(learnt),
        "createdBy": shape["owner"],
        "prunedAt": row.pruned_at,
        **await load_phase(runtime, conn, shape["pipeline"], job_id),
    }


def _origin(learnt: Mapping[str, Any]) -> dict[str, Any]:
    """The source of the products of a file, and the saved profile that its columns were read by."""
    profile = learnt.get("profile")
    if profile is None:
        return {"source": None, "profile": None}
    is_saved = learnt.get("profileFrom") != "proposed"
    saved = {"name": profile["name"], "version": profile["version"]} if is_saved else None
    return {"source": profile.get("source") or DEFAULT_SOURCE, "profile": saved}


def job_shape(row: JobRow) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "pipeline": row.pipeline,
        "name": row.name,
        "state": state_of(row),
        "priority": row.priority,
        "lane": row.lane,
        "standing": row.standing,
        "lanePaused": row.lane_paused,
        "org": row.org,
        "userId": row.user_id,
        "owner": row.owner,
        "file": _file_shape(row),
        "config": stored(row.config),
        "counters": {
            "total": row.total,
            "pending": row.pending,
            "processing": row.processing,
            "done": row.done,
            "error": row.error,
            "notFound": row.not_found,
            "skipped": row.skipped,
        },
        "progress": progress_of(row),
        "summary": stored(row.summary),
        "cachedFrom": None if row.cached_from is None else str(row.cached_from),
        "lastError": stored(row.last_error),
        "attempts": row.attempts,
        "createdAt": row.created_at,
        "dueAt": row.due_at,
        "startedAt": row.started_at,
        "finishedAt": row.finished_at,
        "undoneAt": row.undone_at,
        "updatedAt": row.updated_at,
    }


def _file_shape(row: JobRow) -> dict[str, Any] | None:
    if row.file_id is None:
        return None
    return {
        "id": str(row.file_id),
        "name": row.file_name,
        "size": row.file_size,
        "sha256": row.sha256,
        "mediaType": row.media_type,
    }


@dataclass(frozen=True, slots=True)
class ItemContext:
    """What the items of a job need to be shown. Without ``pipeline``, this version no longer knows
    it or the job's config."""

    pipeline: Pipeline | None
    stages: Sequence[str]
    header: Sequence[str] | None
    lines: Runs = ()


def item_context(runtime: Runtime, job: JobTable | JobDetails) -> ItemContext:
    header = from_json(job.header)
    if isinstance(job, JobTable):
        lines = from_json(job.lines) or ()
    else:
        lines = runs_of(from_json(job.context) or {})
    try:
        pipeline = runtime.pipeline(job.pipeline)
        stages = pipeline.stages(parse_config(pipeline, job.config))
    except PenstockError:
        return ItemContext(None, (), header, lines)
    return ItemContext(pipeline, [stage.name for stage in stages], header, lines)


def item_shape(row: ItemRow, context: ItemContext) -> dict[str, Any]:
    place, stages, header = row.stage, context.stages, context.header
    stage = stages[place] if 0 <= place < len(stages) else None
    status, error = row.status, row.error
    return {
        "id": f"{row.job_id}:{row.row_no}",
        "rowNo": row.row_no,
        "line": line_of(context.lines, row.row_no),
        "status": status,
        "shown": _shown(context.pipeline, status, stage, error),
        "stage": stage,
        "attempts": row.attempts,
        "input": stored(row.input) if header is None else named_cells(row.input, header),
        "normalized": stored(row.normalized),
        "result": stored(row.result),
        "error": _error_shape(row, stage, context.pipeline),
        "lockedBy": row.locked_by,
        "lockedAt": row.locked_at,
        "jobType": row.job_type,
        "dueAt": row.due_at,
        "updatedAt": row.updated_at,
    }


def _error_shape(row: ItemRow, stage: str | None, pipeline: Pipeline | None) -> Any:
    """The error of an item: with its category, the part that failed (the provider that was called,
    else the stage), and when the item is tried again."""
    error = from_json(row.error)
    if error is None:
        return None
    waits = row.status == ItemStatus.PENDING and row.due_at is not None
    details = error.get("details") or {}
    part = details.get("provider") or stage or (pipeline.name if pipeline else "engine")
    return {
        **error,
        "category": "transient" if waits else category_of(error["code"]),
        "source": part,
        "nextRetryAt": row.due_at if waits else None,
    }


def _shown(
    pipeline: Pipeline | None, status: str, stage: str | None, error: str | None
) -> str | None:
    if pipeline is None:
        return None
    code = None if error is None else from_json(error).get("code")
    return pipeline.shown(ItemStatus(status), stage, code)


def named_cells(text: str, header: Sequence[str]) -> Any:
    """Cells by the names of their columns; cells beyond the header keep their place as a name."""
    cells = from_json(text)
    if not isinstance(cells, list):
        return cells
    named = dict(zip(header, cells, strict=False))
    for place in range(len(header), len(cells)):
        named[f"Column {place + 1}"] = cells[place]
    return named


def event_shape(row: JobEvent, job_id: UUID | None) -> Mapping[str, Any]:
    return {
        "event": row.event,
        "jobId": None if job_id is None else str(job_id),
        "workerId": row.worker,
        "data": stored(row.data),
        "timestamp": row.created_at,
        "seq": row.seq,
    }
