"""Pause, resume, cancel, priority, reprocess and kickoff."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from penstock.api.http.access import Api, ApiParts, JobId, Writer, address_of, caller_of
from penstock.api.http.answers import answer
from penstock.api.http.bodies import body_of, order_of
from penstock.api.jobs.control_schemas import PriorityOrder, Reprocessed, ReprocessOrder
from penstock.api.jobs.schemas import FullJob, Kickoff, KickoffQuery
from penstock.api.jobs.shapes import load_job_shape
from penstock.app import bulk, job_control
from penstock.app.bulk_operations import go_on
from penstock.app.job_control import change_job, get_job
from penstock.model.bulk import BulkAction
from penstock.model.ticket import Ticket
from penstock.store.accounts.accounts import Principal
from penstock.store.jobs import bulk as store

router = APIRouter(tags=["control"])
_ONE_JOB: dict[int | str, dict[str, Any]] = {200: {"model": FullJob}}
# How long a request works on a large reprocess before it answers 202.
_REPROCESS_SECONDS = 1.0


@router.post("/jobs/{job_id}/pause", summary="Pause a job", responses=_ONE_JOB)
async def pause_job(request: Request, api: ApiParts, who: Writer, job_id: JobId) -> Response:
    """Running items are finished; no more start. A paused job stays paused."""
    return await _change(request, api, who, job_id, BulkAction.PAUSE)


@router.post("/jobs/{job_id}/resume", summary="Resume a job", responses=_ONE_JOB)
async def resume_job(request: Request, api: ApiParts, who: Writer, job_id: JobId) -> Response:
    """A job that is not paused stays as it is."""
    return await _change(request, api, who, job_id, BulkAction.RESUME)


@router.post("/jobs/{job_id}/cancel", summary="Cancel a job", responses=_ONE_JOB)
async def cancel_job(request: Request, api: ApiParts, who: Writer, job_id: JobId) -> Response:
    """After this answer no item starts. Open items become SKIPPED; results stay."""
    return await _change(request, api, who, job_id, BulkAction.CANCEL)


@router.post(
    "/jobs/{job_id}/priority",
    summary="Change a job's priority",
    responses=_ONE_JOB,
    openapi_extra=body_of(PriorityOrder),
)
async def set_priority(request: Request, api: ApiParts, who: Writer, job_id: JobId) -> Response:
    """The priority among the jobs of its org, from the next claim on. Running items are
    finished."""
    order = await order_of(request, PriorityOrder)
    return await _change(request, api, who, job_id, BulkAction.PRIORITY, order.priority)


@router.post(
    "/jobs/{job_id}/reprocess",
    summary="Run ended items again",
    responses={200: {"model": Reprocessed}, 202: {"model": Reprocessed}},
    openapi_extra=body_of(ReprocessOrder),
)
async def reprocess(request: Request, api: ApiParts, who: Writer, job_id: JobId) -> Response:
    """Run ended items again, as a new generation, each in the stage in which it ended. A job that
    ended is queued again; one that failed or was cancelled continues with everything that is not
    done. With `accept`, rows that were held back are written. For a large job the answer is 202,
    and the operation `operationId` continues."""
    selection = (await order_of(request, ReprocessOrder)).selection()
    async with api.db.scoped(who.scope) as conn:
        await get_job(conn, job_id)
        made = await bulk.reprocess_job(
            api.runtime, conn, who, job_id, selection, address_of(request)
        )
    items, left_out, ended = made.items, made.left_out, True
    if made.operation_id is not None:
        ended = await go_on(api.runtime, made.operation_id, _REPROCESS_SECONDS)
    elif made.lane is not None:
        await api.runtime.broker.send(Ticket(made.lane))
    async with api.db.scoped(who.scope, readonly=True) as conn:
        shown = await load_job_shape(api.runtime, conn, job_id)
        if made.operation_id is not None:
            operation = await store.get(conn, made.operation_id)
            assert operation is not None
            items, left_out = operation.items, operation.items_left_out
    body = {"reprocessed": items, "leftOut": left_out, "job": shown}
    if made.operation_id is not None:
        body["operationId"] = str(made.operation_id)
    return answer(body, 200 if ended else 202)


async def _change(
    request: Request, api: Api, who: Principal, job_id: UUID, action: BulkAction,
    priority: int | None = None,
) -> Response:  # fmt: skip
    await change_job(
        api.runtime, lambda: api.db.scoped(who.scope), caller_of(request, who), job_id, action,
        priority,
    )  # fmt: skip
    async with api.db.scoped(who.scope, readonly=True) as conn:
        return answer(await load_job_shape(api.runtime, conn, job_id))


@router.post(
    "/jobs/{job_id}/kickoff",
    summary="Work on a job in this request",
    responses={200: {"model": Kickoff}},
)
async def kickoff_job(
    request: Request,
    api: ApiParts,
    who: Writer,
    job_id: JobId,
    query: Annotated[KickoffQuery, Query()],
) -> Response:
    """For installations without workers: works on this job for `durationMs` at most."""
    slices = await job_control.kickoff_job(
        api.runtime, lambda: api.db.scoped(who.scope), caller_of(request, who), job_id,
        query.duration_ms,
    )  # fmt: skip
    async with api.db.scoped(who.scope, readonly=True) as conn:
        return answer({"slices": slices, "job": await load_job_shape(api.runtime, conn, job_id)})
