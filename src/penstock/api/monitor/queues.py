"""Lanes: how many jobs wait in each; pause and resume."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response

from penstock.api.http.access import Admin, ApiParts, caller_of
from penstock.api.http.answers import answer
from penstock.api.monitor.schemas import LanePage, LaneShape, PauseLaneQuery
from penstock.app.lanes import pause_lane as pause
from penstock.app.lanes import resume_lane as resume
from penstock.model.ticket import Ticket
from penstock.store.workers import lanes

router = APIRouter(tags=["queues"])
Lane = Annotated[str, Path(description="`standard`, `basic`, `default` or `priority.ORG`.")]
_ONE_LANE: dict[int | str, dict[str, Any]] = {200: {"model": LaneShape}}


@router.get("/queues", summary="List lanes", responses={200: {"model": LanePage}})
async def list_lanes(api: ApiParts, who: Admin) -> Response:
    """Every lane with its live jobs (counted up to 20,000 in all) and whether it is paused."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        return answer({"items": await lanes.list_lanes(conn)})


@router.post("/queues/{lane}/pause", summary="Pause a lane", responses=_ONE_LANE)
async def pause_lane(
    request: Request,
    api: ApiParts,
    who: Admin,
    lane: Lane,
    query: Annotated[PauseLaneQuery, Query()],
) -> Response:
    """After this answer nothing of the lane starts; running items are finished. Jobs are still
    accepted, and jobs that are being cancelled end."""
    async with api.db.scoped(who.scope) as conn:
        await pause(conn, caller_of(request, who), lane, query.reason)
        return answer(await lanes.get_lane(conn, lane))


@router.post("/queues/{lane}/resume", summary="Resume a lane", responses=_ONE_LANE)
async def resume_lane(request: Request, api: ApiParts, who: Admin, lane: Lane) -> Response:
    """Resume the lane. One that is not paused stays as it is."""
    async with api.db.scoped(who.scope) as conn:
        changed = await resume(conn, caller_of(request, who), lane)
        shown = await lanes.get_lane(conn, lane)
    if changed:
        await api.runtime.broker.send(Ticket(lane))
    return answer(shown)
