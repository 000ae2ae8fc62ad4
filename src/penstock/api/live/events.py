"""Events of one job, or of all jobs that the caller may see: by polling, or as a stream."""

from __future__ import annotations

import re
from typing import Annotated, Any, cast

from fastapi import APIRouter, Depends, Header, Query, Request, Response

from penstock.api.http.access import ApiParts, JobId, Reader
from penstock.api.http.answers import answer
from penstock.api.jobs.shapes import event_shape
from penstock.api.live.schemas import AllEvents, AllEventsQuery, EventPage, EventsQuery
from penstock.api.live.sse import MEDIA_TYPE, EventStream, wants_stream
from penstock.api.live.stream import Live
from penstock.app.job_control import get_job
from penstock.model.errors import BadInput
from penstock.store.jobs import events
from penstock.store.jobs.events import START, EventCursor

router = APIRouter(tags=["events"])
NOW = "now"
_NUMBER = re.compile(r"[0-9]{1,18}")
_PLACE = re.compile(r"([0-9]{1,18})-([0-9]{1,18})")


def _answers(model: type) -> dict[int | str, dict[str, Any]]:
    stream = {"schema": {"type": "string", "description": "Server-sent events."}}
    return {200: {"model": model, "content": {MEDIA_TYPE: stream}}}


async def _live(request: Request) -> Live:
    return cast(Live, request.app.state.live)


LiveParts = Annotated[Live, Depends(_live)]
LastEventId = Annotated[
    str, Header(description="The last `id` of a stream before; goes before `since`.")
]


@router.get("/jobs/{job_id}/events", summary="List events", responses=_answers(EventPage))
async def list_events(
    request: Request,
    api: ApiParts,
    live: LiveParts,
    who: Reader,
    job_id: JobId,
    query: Annotated[EventsQuery, Query()],
    last_event_id: LastEventId = "",
) -> Response:
    """Events after `since`, in order and without gaps; ask again with `next`. With
    `Accept: text/event-stream` they are sent as they happen; `Last-Event-ID` resumes."""
    streams = wants_stream(request.headers.get("accept"))
    async with api.db.scoped(who.scope, readonly=True) as conn:
        # Events have an org but no owner: the job decides who may read them.
        await get_job(conn, job_id)
        rows = [] if streams else await events.events_of(conn, job_id, query.since, query.limit)
    if streams:
        since = parse_number(last_event_id) if last_event_id else query.since
        stream = live.follow_job(live.caller(request, who), job_id, since)
        return EventStream(request, who, stream, live)
    following = rows[-1].seq if rows else query.since
    return answer({"items": [event_shape(row, job_id) for row in rows], "next": following})


@router.get("/events", summary="List events of all jobs", responses=_answers(AllEvents))
async def list_all_events(
    request: Request,
    api: ApiParts,
    live: LiveParts,
    who: Reader,
    query: Annotated[AllEventsQuery, Query()],
    last_event_id: LastEventId = "",
) -> Response:
    """Events of every job you may see, in the order they were committed; nothing that comes later
    sorts before what was read. An admin also hears of workers. Ask again with `next`: as long as it
    moves there may be more. With `Accept: text/event-stream` they are sent as they happen, from now
    on where neither `since` nor `Last-Event-ID` is given."""
    since = parse_place(last_event_id or query.since or "")
    if wants_stream(request.headers.get("accept")):
        stream = live.follow_all(live.caller(request, who), since)
        return EventStream(request, who, stream, live)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        if since is None and query.since == NOW:
            since = await events.present(conn)
        rows, following = await events.all_events(conn, since or START, query.limit)
    shown = [event_shape(row, row.job_id) for row in rows]
    return answer({"items": shown, "next": str(following)})


def parse_number(text: str) -> int:
    """The number of a job's event."""
    if _NUMBER.fullmatch(text) is None:
        raise _invalid()
    return int(text)


def parse_place(text: str) -> EventCursor | None:
    """A place in the stream of all jobs; None: now."""
    if text in ("", NOW):
        return None
    found = _PLACE.fullmatch(text)
    if found is None:
        raise _invalid()
    return EventCursor(int(found[1]), int(found[2]))


def _invalid() -> BadInput:
    return BadInput(
        "INVALID_CURSOR",
        "That is no place in this stream. Take it from `next` or from the last `id`, unchanged.",
    )
