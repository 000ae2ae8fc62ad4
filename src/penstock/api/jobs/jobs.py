"""Create, preview, list and show jobs."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from structlog.contextvars import bound_contextvars

from penstock.api.files.job_requests import accept, look_into, receipt_answer
from penstock.api.http.access import ApiParts, JobId, Reader, Writer
from penstock.api.http.answers import answer
from penstock.api.http.bodies import job_bodies
from penstock.api.http.cursors import from_cursor, to_cursor
from penstock.api.http.idempotency import IdempotencyKey
from penstock.api.jobs.schemas import FullJob, JobOrder, JobPage, JobsQuery, Preview, Receipt
from penstock.api.jobs.shapes import job_shape, load_job_shape
from penstock.store.jobs import jobs
from penstock.store.jobs.jobs import Listed

router = APIRouter(tags=["jobs"])


@router.post(
    "/jobs",
    status_code=202,
    summary="Create a job",
    responses={202: {"model": Receipt, "headers": {"Location": {"schema": {"type": "string"}}}}},
    openapi_extra=job_bodies(JobOrder, "fileId", "fileIds", "path", "url"),
)
async def create_job(
    request: Request,
    api: ApiParts,
    who: Writer,
    _: IdempotencyKey = None,
) -> Response:
    """As a form with the file, or as JSON with the id of an uploaded file, a URL to fetch, or a
    path on the server, if you may use it. An accepted job is never lost, and a refused one leaves
    nothing behind."""
    return receipt_answer(await accept(request, api, who))


@router.post(
    "/jobs/preview",
    summary="Preview a job",
    responses={200: {"model": Preview}},
    openapi_extra=job_bodies(JobOrder, "fileId", "fileIds", "path", "url"),
)
async def preview_job(request: Request, api: ApiParts, who: Writer) -> Response:
    """The detected format, the meaning of each column, the first 200 rows as they would come out,
    and their problems. Nothing is written; `fileId` can be used to create the job."""
    return answer(await look_into(request, api, who))


@router.get("/jobs", summary="List jobs", responses={200: {"model": JobPage}})
async def list_jobs(api: ApiParts, who: Reader, query: Annotated[JobsQuery, Query()]) -> Response:
    """Newest first: your own jobs, those of your org if it shares them, those of all orgs for an
    admin. Standing jobs are left out unless they are asked for. A slow page may end early, even
    without jobs: continue while there is a `next`."""
    wanted = Listed(
        states=sorted(query.state) or None,
        not_states=sorted(query.not_state) or None,
        pipeline=query.pipeline or None,
        text=query.q.lower() or None,
        user_id=who.user_id if query.user_id == "me" else query.user_id,
        since=query.since,
        until=query.until,
        standing=query.standing or bool(query.pipeline),
    )
    this_list = f"jobs {wanted}"
    after = None
    if query.after:
        [after] = from_cursor(query.after, this_list, UUID)
    with bound_contextvars(after=str(after)):
        async with api.db.scoped(who.scope, readonly=True) as conn:
            rows, more = await jobs.list_jobs(conn, wanted, after, query.page_size)
    following = None if more is None else to_cursor(this_list, str(more))
    return answer({"items": [job_shape(row) for row in rows], "next": following})


@router.get("/jobs/{job_id}", summary="Show a job", responses={200: {"model": FullJob}})
async def show_job(api: ApiParts, who: Reader, job_id: JobId) -> Response:
    """One job, with its counters, progress and errors by code."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        shown = await load_job_shape(api.runtime, conn, job_id)
    return answer(shown)
