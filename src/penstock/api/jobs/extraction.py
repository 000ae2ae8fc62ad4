"""Extraction jobs under the older address, with the older field names."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from penstock.api.files.job_requests import accept, receipt_answer
from penstock.api.http.access import ApiParts, JobId, Reader, Writer
from penstock.api.http.answers import answer
from penstock.api.http.bodies import job_bodies
from penstock.api.http.idempotency import IdempotencyKey
from penstock.api.jobs.extraction_schemas import ExtractionJob, ExtractionOrder
from penstock.api.jobs.schemas import Receipt
from penstock.api.jobs.shapes import job_shape
from penstock.app.job_control import get_job, no_such_job
from penstock.store.database import from_json
from penstock.store.jobs.job_rows import JobRow

router = APIRouter(prefix="/extraction", tags=["extraction"])
_STATUSES = {
    "queued": "queued", "delayed": "queued", "paused": "queued", "running": "processing",
    "cancelling": "processing", "done": "completed", "failed": "failed", "cancelled": "cancelled",
}  # fmt: skip


@router.post(
    "/jobs",
    status_code=202,
    summary="Create an extraction job",
    responses={202: {"model": Receipt, "headers": {"Location": {"schema": {"type": "string"}}}}},
    openapi_extra=job_bodies(ExtractionOrder, "uploadId"),
)
async def create_extraction_job(
    request: Request, api: ApiParts, who: Writer, _: IdempotencyKey = None
) -> Response:
    """The same as `POST /api/jobs` with the pipeline `extraction`."""
    return receipt_answer(await accept(request, api, who, ExtractionOrder))


@router.get(
    "/jobs/{job_id}",
    summary="Show an extraction job",
    responses={200: {"model": ExtractionJob}},
)
async def show_extraction_job(api: ApiParts, who: Reader, job_id: JobId) -> Response:
    """The job with its progress. `GET /api/jobs/{id}` shows more."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        row = await get_job(conn, job_id)
    if row.pipeline != "extraction":
        raise no_such_job()
    return answer(_shape(row))


def _shape(row: JobRow) -> dict[str, Any]:
    job = job_shape(row)
    progress, failed = job["progress"], from_json(row.last_error)
    status = _STATUSES[job["state"]]
    return {
        "jobId": job["id"],
        "uploadId": None if job["file"] is None else job["file"]["id"],
        "status": status,
        "priority": job["priority"],
        "progress": {
            "percentComplete": progress["percent"],
            "currentStep": progress["stage"],
            "rowsProcessed": progress["rowsDone"],
            "rowsTotal": progress["rowsTotal"],
            "elapsedMs": progress["elapsedMs"],
            "estimatedRemainingMs": progress["estimatedRemainingMs"],
        },
        "retryCount": job["attempts"],
        "resultRef": f"/api/jobs/{job['id']}/items" if status == "completed" else None,
        "summary": job["summary"],
        "error": None
        if failed is None
        else {
            "code": failed["code"],
            "message": failed["message"],
            "details": failed.get("details") or {},
        },
        "createdAt": job["createdAt"],
        "startedAt": job["startedAt"],
        "completedAt": job["finishedAt"],
    }
