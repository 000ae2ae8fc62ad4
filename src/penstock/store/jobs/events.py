"""Read events: of one job by number, of all jobs in the order of commits."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from penstock.store.database import Connection
from penstock.store.queries import load

_sql = load("events")
_LOOKED_AT_ONCE = 1000
# A page ends after this time, even if most events were filtered out.
_PATIENCE_S = 0.25


class EventCursor(NamedTuple):
    """A position in the stream over all jobs: transaction, then event."""

    xid: int
    id: int

    def __str__(self) -> str:
        return f"{self.xid}-{self.id}"


START = EventCursor(0, 0)


@dataclass(frozen=True, slots=True)
class JobEvent:
    """An event of one job. ``data`` is JSON; an event of a worker has no number."""

    seq: int | None
    event: str
    worker: str | None
    data: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class StreamEvent(JobEvent):
    """An event in the stream over all jobs."""

    job_id: UUID | None
    place: EventCursor


@dataclass(frozen=True, slots=True)
class OwnedEvent(StreamEvent):
    """An event, with the org and the user that may read it; events of workers have neither."""

    org_id: int | None
    user_id: int | None


async def events_of(conn: Connection, job_id: UUID, after: int, limit: int) -> list[JobEvent]:
    return [JobEvent(*row) for row in await conn.fetch(_sql.job_events, job_id, after, limit)]


async def all_events(
    conn: Connection, after: EventCursor, limit: int
) -> tuple[list[StreamEvent], EventCursor]:
    """Events visible in this scope, and the position to continue from. It also moves past invisible
    events, so an empty page is the end only if the position did not move."""
    shown: list[StreamEvent] = []
    until = time.monotonic() + _PATIENCE_S
    while len(shown) < limit:
        asked = min(_LOOKED_AT_ONCE, limit - len(shown))
        rows = await conn.fetch(_sql.all_events, str(after.xid), after.id, asked)
        shown += [_stream_event(row) for row in rows if row["shown"]]
        if rows:
            after = _place_of(rows[-1])
        if len(rows) < asked or time.monotonic() > until:
            break
    return shown, after


async def tail(conn: Connection, after: EventCursor, limit: int) -> Sequence[OwnedEvent]:
    rows = await conn.fetch(_sql.tail_events, str(after.xid), after.id, limit)
    return [
        OwnedEvent(
            row["seq"], row["event"], row["worker"], row["data"], row["created_at"],
            row["job_id"], _place_of(row), row["org_id"], row["user_id"],
        )
        for row in rows
    ]  # fmt: skip


def _stream_event(row: Any) -> StreamEvent:
    return StreamEvent(
        row["seq"], row["event"], row["worker"], row["data"], row["created_at"], row["job_id"],
        _place_of(row),
    )  # fmt: skip


def _place_of(row: Any) -> EventCursor:
    return EventCursor(int(row["xid"]), row["id"])


async def present(conn: Connection) -> EventCursor:
    return EventCursor(int(await conn.fetchval(_sql.present)), 0)
