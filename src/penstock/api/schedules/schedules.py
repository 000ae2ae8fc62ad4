"""Schedules: list, create, show, change, pause, resume, run and delete."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response

from penstock.api.http.access import ApiParts, Reader, Writer, caller_of, id_in_path, org_of
from penstock.api.http.answers import answer
from penstock.api.http.bodies import body_of, order_of
from penstock.api.http.cursors import from_cursor, to_cursor
from penstock.api.http.idempotency import IdempotencyKey, once
from penstock.api.http.schemas import OrgQuery
from penstock.api.schedules.schemas import (
    DeletedSchedule,
    FullSchedule,
    NewSchedule,
    NextRuns,
    RunsQuery,
    ScheduleList,
    ScheduleRunPage,
    SchedulesQuery,
    ScheduleTime,
    StartedRun,
    full_shape,
    run_shape,
    schedule_shape,
)
from penstock.app.schedules import schedules
from penstock.app.schedules.orders import check_action
from penstock.app.schedules.schedules import MOST_SCHEDULES, checked_timing, no_such_schedule
from penstock.store.accounts.audit_log import Caller
from penstock.store.database import Connection
from penstock.store.schedules import schedules as store

router = APIRouter(tags=["schedules"])
_ONE: dict[int | str, dict[str, Any]] = {200: {"model": FullSchedule}}
_NEWEST = datetime(9999, 1, 1, tzinfo=UTC)
_RUNS_SHOWN = 20


ScheduleId = Annotated[
    UUID, Depends(id_in_path("schedule_id", "The schedule's id.", no_such_schedule))
]


async def _shown(conn: Connection, caller: Caller, schedule_id: UUID) -> dict[str, Any]:
    found = await schedules.get_schedule(conn, schedule_id)
    runs = await store.list_runs(conn, schedule_id, _NEWEST, _RUNS_SHOWN)
    return full_shape(found, caller, runs)


@router.get("/schedules", summary="List schedules", responses={200: {"model": ScheduleList}})
async def list_schedules(
    request: Request, api: ApiParts, who: Reader, query: Annotated[SchedulesQuery, Query()]
) -> Response:
    """Schedules of your org by name, or for an admin those of `org`."""
    caller = caller_of(request, who)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        org_id = await org_of(conn, who, query.org)
        found = await store.list_schedules(conn, org_id, MOST_SCHEDULES)
        last = await store.last_runs(conn, [one.id for one in found])
    return answer({"items": [schedule_shape(one, caller, last.get(one.id)) for one in found]})


@router.post(
    "/schedules",
    status_code=201,
    summary="Create a schedule",
    responses={201: {"model": FullSchedule}},
    openapi_extra=body_of(NewSchedule),
)
async def create_schedule(
    request: Request,
    api: ApiParts,
    who: Writer,
    query: Annotated[OrgQuery, Query()],
    _: IdempotencyKey = None,
) -> Response:
    """Runs begin within seconds of their time, under your rights at that time. Each due time begins
    one run, whatever crashes meanwhile."""
    asked = await order_of(request, NewSchedule)
    order, caller = asked.order(), caller_of(request, who)
    await check_action(api.runtime, lambda: api.db.scoped(who.scope), caller, order.action)

    async def make(conn: Connection) -> Response:
        org_id = await org_of(conn, who, query.org)
        made = await schedules.create(conn, caller, order, org_id)
        place = {"Location": f"/api/schedules/{made.id}"}
        return answer(await _shown(conn, caller, made.id), 201, place)

    return await once(request, api, who, ["schedule", asked.model_dump_json(), query.org], make)


@router.post(
    "/schedules/next-runs",
    summary="Show when a schedule would run",
    responses={200: {"model": NextRuns}},
    openapi_extra=body_of(ScheduleTime),
)
async def show_next_runs(request: Request, api: ApiParts, who: Reader) -> Response:
    """The next five times of a cron expression in a time zone."""
    asked = await order_of(request, ScheduleTime)
    timing = checked_timing(asked.cron, asked.at, asked.time_zone)
    return answer({"nextRuns": timing.next_runs(datetime.now(UTC))})


@router.get("/schedules/{schedule_id}", summary="Show a schedule", responses=_ONE)
async def show_schedule(
    request: Request, api: ApiParts, who: Reader, schedule_id: ScheduleId
) -> Response:
    """With its next five and its newest runs."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        return answer(await _shown(conn, caller_of(request, who), schedule_id))


@router.get(
    "/schedules/{schedule_id}/runs",
    summary="List runs of a schedule",
    responses={200: {"model": ScheduleRunPage}},
)
async def list_schedule_runs(
    api: ApiParts, who: Reader, schedule_id: ScheduleId, query: Annotated[RunsQuery, Query()]
) -> Response:
    """Newest first."""
    this_list = f"schedule runs {schedule_id}"
    before = _NEWEST
    if query.after:
        [text] = from_cursor(query.after, this_list, str)
        before = datetime.fromisoformat(text)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        await schedules.get_schedule(conn, schedule_id)
        found = await store.list_runs(conn, schedule_id, before, query.page_size + 1)
    shown = found[: query.page_size]
    more = len(found) > len(shown)
    following = to_cursor(this_list, shown[-1].due_at.isoformat()) if more else None
    return answer({"items": [run_shape(one) for one in shown], "next": following})


@router.put(
    "/schedules/{schedule_id}",
    summary="Replace a schedule",
    responses=_ONE,
    openapi_extra=body_of(NewSchedule),
)
async def change_schedule(
    request: Request, api: ApiParts, who: Writer, schedule_id: ScheduleId
) -> Response:
    """All of it. A paused schedule stays paused; failures are counted from 0."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        await schedules.get_schedule(conn, schedule_id)
    order, caller = (await order_of(request, NewSchedule)).order(), caller_of(request, who)
    await check_action(api.runtime, lambda: api.db.scoped(who.scope), caller, order.action)
    async with api.db.scoped(who.scope) as conn:
        await schedules.change(conn, caller, schedule_id, order)
        return answer(await _shown(conn, caller, schedule_id))


@router.delete(
    "/schedules/{schedule_id}",
    summary="Delete a schedule",
    responses={200: {"model": DeletedSchedule}},
)
async def delete_schedule(
    request: Request, api: ApiParts, who: Writer, schedule_id: ScheduleId
) -> Response:
    """Jobs of its runs stay."""
    async with api.db.scoped(who.scope) as conn:
        await schedules.delete(conn, caller_of(request, who), schedule_id)
    return answer({"id": str(schedule_id)})


@router.post("/schedules/{schedule_id}/pause", summary="Pause a schedule", responses=_ONE)
async def pause_schedule(
    request: Request, api: ApiParts, who: Writer, schedule_id: ScheduleId
) -> Response:
    """No run becomes due until it is resumed."""
    caller = caller_of(request, who)
    async with api.db.scoped(who.scope) as conn:
        await schedules.pause(conn, caller, schedule_id)
        return answer(await _shown(conn, caller, schedule_id))


@router.post("/schedules/{schedule_id}/resume", summary="Resume a schedule", responses=_ONE)
async def resume_schedule(
    request: Request, api: ApiParts, who: Writer, schedule_id: ScheduleId
) -> Response:
    """Due again from its next time on. Times that passed meanwhile are not caught up on."""
    caller = caller_of(request, who)
    async with api.db.scoped(who.scope) as conn:
        await schedules.resume(conn, caller, schedule_id)
        return answer(await _shown(conn, caller, schedule_id))


@router.post(
    "/schedules/{schedule_id}/run",
    status_code=202,
    summary="Run a schedule now",
    responses={202: {"model": StartedRun}},
)
async def run_schedule(
    request: Request,
    api: ApiParts,
    who: Writer,
    schedule_id: ScheduleId,
    _: IdempotencyKey = None,
) -> Response:
    """One more run, which begins within seconds, also while the schedule is paused."""
    caller = caller_of(request, who)

    async def make(conn: Connection) -> Response:
        due_at = await schedules.run_now(conn, caller, schedule_id)
        return answer({"scheduleId": str(schedule_id), "dueAt": due_at}, 202)

    return await once(request, api, who, ["schedule run", str(schedule_id)], make)
