"""Pause, resume, cancel, priority, reprocess and kickoff."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from penstock.api.http.access import Api, ApiParts, JobId, Writer, address_of
from penstock.api.http.answers import answer
from penstock.api.http.bodies import body_of, order_of
from penstock.api.jobs.control_schemas import PriorityOrder, Reprocessed, ReprocessOrder
from penstock.api.jobs.schemas import FullJob, Kickoff, KickoffQuery
from penstock.api.jobs.shapes import load_job, load_job_shape, state_of
from penstock.app import bulk
from penstock.app.bulk_operations import go_on
from penstock.app.kickoff import kickoff
from penstock.engine.ending import cancel
from penstock.model.errors import PermanentError
from penstock.model.states import TERMINAL_JOB_STATES
from penstock.model.ticket import Ticket
from penstock.store.accounts import accounts
from penstock.store.accounts.accounts import Principal
from penstock.store.database import Connection
from penstock.store.jobs import bulk as store
from penstock.store.jobs import claims, jobs

router = APIRouter(tags=["control"])
_LIVE = frozenset({"queued", "delayed", "running", "paused"})
_ONE_JOB: dict[int | str, dict[str, Any]] = {200: {"model": FullJob}}
# Of a large job, as much as a caller may be kept waiting for.
_REPROCESS_SECONDS = 1.0
Change = Callable[[Connection, UUID], Awaitable[str | None]]


@router.post("/jobs/{job_id}/pause", summary="Pause a job", responses=_ONE_JOB)
async def pause_job(request: Request, api: ApiParts, who: Writer, job_id: JobId) -> Response:
    """What runs is finished, nothing more starts. Pausing twice is the same as once."""
    return await _change(request, api, who, job_id, "pause", jobs.pause, _LIVE)


@router.post("/jobs/{job_id}/resume", summary="Resume a job", responses=_ONE_JOB)
async def resume_job(request: Request, api: ApiParts, who: Writer, job_id: JobId) -> Response:
    """A job that is not paused just goes on."""
    return await _change(request, api, who, job_id, "resume", jobs.resume, _LIVE)


@router.post("/jobs/{job_id}/cancel", summary="Cancel a job", responses=_ONE_JOB)
async def cancel_job(request: Request, api: ApiParts, who: Writer, job_id: JobId) -> Response:
    """From this answer on no item starts. Open items become SKIPPED, results stay."""
    possible = _LIVE | {"cancelling", "cancelled"}
    return await _change(request, api, who, job_id, "cancel", cancel, possible)


@router.post(
    "/jobs/{job_id}/priority",
    summary="Change a job's priority",
    responses=_ONE_JOB,
    openapi_extra=body_of(PriorityOrder),
)
async def set_priority(request: Request, api: ApiParts, who: Writer, job_id: JobId) -> Response:
    """Among the jobs of its org, from the next claim on; what runs is finished."""
    wanted = await order_of(request, PriorityOrder)

    async def change(conn: Connection, job_id: UUID) -> str | None:
        return await jobs.set_priority(conn, job_id, wanted.priority)

    return await _change(request, api, who, job_id, "priority", change, _LIVE)


@router.post(
    "/jobs/{job_id}/reprocess",
    summary="Run ended items again",
    responses={200: {"model": Reprocessed}, 202: {"model": Reprocessed}},
    openapi_extra=body_of(ReprocessOrder),
)
async def reprocess(request: Request, api: ApiParts, who: Writer, job_id: JobId) -> Response:
    """As a new generation, each in the stage in which it ended. A job that ended is queued again;
    one that failed or was cancelled goes on with all that was left undone. With `accept`, rows
    that were held back as a question are written. Of a large job the answer is 202, and
    `operationId` goes on."""
    selection = (await order_of(request, ReprocessOrder)).selection()
    async with api.db.scoped(who.scope) as conn:
        await load_job(conn, job_id)
        made = await bulk.reprocess_job(
            api.runtime, conn, who, job_id, selection, address_of(request)
        )
    items, left_out, ended = made.items, made.left_out, True
    if made.operation_id is not None:
        ended = await go_on(api.runtime, made.operation_id, _REPROCESS_SECONDS)
    elif made.lane is not None:
        await api.runtime.broker.send(Ticket(made.lane))
    async with api.db.scoped(who.scope, readonly=True) as conn:
        shown = await load_job_shape(conn, job_id)
        if made.operation_id is not None:
            operation = await store.get(conn, made.operation_id)
            items, left_out = operation["items"], operation["items_left_out"]
    body = {"reprocessed": items, "leftOut": left_out, "job": shown}
    if made.operation_id is not None:
        body["operationId"] = str(made.operation_id)
    return answer(body, 200 if ended else 202)


async def _change(
    request: Request, api: Api, who: Principal, job_id: UUID, verb: str, change: Change,
    possible: frozenset[str],
) -> Response:  # fmt: skip
    """One audited change. A job that already is as asked for is left alone."""
    lane = None
    async with api.db.scoped(who.scope) as conn:
        await load_job(conn, job_id)
        # All who change a job's state but its settles hold this lock, so what we see stays true.
        await claims.lock_claims(conn)
        job = await load_job(conn, job_id)
        before = state_of(job)
        if before not in possible:
            raise _wrong_state(verb, before)
        if before in _LIVE:
            lane = await change(conn, job_id)
        shown = await load_job_shape(conn, job_id)
        if lane is not None:
            await accounts.audit(
                conn, job["org_id"], who.user_id, f"job.{verb}", f"job:{job_id}",
                ip=address_of(request), **_told(verb, job, before, shown),
            )  # fmt: skip
        elif shown["state"] not in possible:
            # Its last settle came between.
            raise _wrong_state(verb, shown["state"])
    if lane is not None:
        await api.runtime.broker.send(Ticket(lane))
    return answer(shown)


def _told(verb: str, job: Any, before: str, shown: dict[str, Any]) -> dict[str, Any]:
    """What the audit says of a change."""
    if verb == "priority":
        return {
            "before": {"priority": job["priority"]},
            "after": {"priority": shown["priority"]},
        }
    return {"before": {"state": before}, "after": {"state": shown["state"]}}


def _wrong_state(verb: str, state: str) -> PermanentError:
    why = f"The job is {state}, which leaves nothing to {verb}."
    if verb == "priority":
        why = f"The job is {state}: its priority decides nothing any more."
    return PermanentError("INVALID_STATE", why, state=state)


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
    async with api.db.scoped(who.scope, readonly=True) as conn:
        job = await load_job(conn, job_id)
    state = state_of(job)
    if state == "paused":
        raise PermanentError("INVALID_STATE", "The job is paused. Resume it first.", state=state)
    slices = 0
    if job["state"] not in TERMINAL_JOB_STATES:
        slices = await kickoff(api.runtime, job_id, query.duration_ms)
    async with api.db.scoped(who.scope) as conn:
        shown = await load_job_shape(conn, job_id)
        await accounts.audit(
            conn, job["org_id"], who.user_id, "job.kickoff", f"job:{job_id}",
            ip=address_of(request), after={"slices": slices},
        )  # fmt: skip
    return answer({"slices": slices, "job": shown})
