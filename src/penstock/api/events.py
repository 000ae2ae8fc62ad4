"""What happened, to one job or to all one may see, by polling."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from penstock.api.access import ApiParts, JobId, Reader
from penstock.api.answers import answer
from penstock.api.schemas import AllEvents, AllEventsQuery, EventPage, EventsQuery
from penstock.api.shapes import event_shape, load_job
from penstock.store import jobs

router = APIRouter(tags=["events"])


@router.get("/jobs/{job_id}/events", summary="List events", responses={200: {"model": EventPage}})
async def list_events(
    api: ApiParts, who: Reader, job_id: JobId, query: Annotated[EventsQuery, Query()]
) -> Response:
    """Events after `since`, in order and without gaps; ask again with `next`."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        # Events know their org but not their owner: the job says who may read them.
        await load_job(conn, job_id)
        rows = await jobs.events_of(conn, job_id, query.since, query.limit)
    following = rows[-1]["seq"] if rows else query.since
    return answer({"items": [event_shape(row, job_id) for row in rows], "next": following})


@router.get("/events", summary="List events of all jobs", responses={200: {"model": AllEvents}})
async def list_all_events(
    api: ApiParts, who: Reader, query: Annotated[AllEventsQuery, Query()]
) -> Response:
    """Events of every job you may see, in the order they were committed; nothing that comes later
    sorts before what was read. An admin also hears of workers. Ask again with `next`."""
    xid, event_id = map(int, query.since.split("-"))
    async with api.db.scoped(who.scope, readonly=True) as conn:
        rows = await jobs.all_events(conn, (str(xid), event_id), query.limit)
    following = f"{rows[-1]['xid']}-{rows[-1]['id']}" if rows else query.since
    shown = [event_shape(row, row["job_id"]) for row in rows]
    return answer({"items": shown, "next": following})
