"""Read events: of one job by number, of all jobs in the order of commits."""

from __future__ import annotations

import time
from collections.abc import Sequence
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


def place_of(row: Any) -> EventCursor:
    return EventCursor(int(row["xid"]), row["id"])


async def events_of(conn: Connection, job_id: UUID, after: int, limit: int) -> list[Any]:
    return await conn.fetch(_sql.job_events, job_id, after, limit)


async def all_events(
    conn: Connection, after: EventCursor, limit: int
) -> tuple[list[Any], EventCursor]:
    """Events visible in this scope, and the position to continue from. It also moves past invisible
    events, so an empty page is the end only if the position did not move."""
    shown: list[Any] = []
    until = time.monotonic() + _PATIENCE_S
    while len(shown) < limit:
        asked = min(_LOOKED_AT_ONCE, limit - len(shown))
        rows = await conn.fetch(_sql.all_events, str(after.xid), after.id, asked)
        shown += [row for row in rows if row["shown"]]
        if rows:
            after = place_of(rows[-1])
        if len(rows) < asked or time.monotonic() > until:
            break
    return shown, after


async def tail(conn: Connection, after: EventCursor, limit: int) -> Sequence[Any]:
    return await conn.fetch(_sql.tail_events, str(after.xid), after.id, limit)


async def present(conn: Connection) -> EventCursor:
    return EventCursor(int(await conn.fetchval(_sql.present)), 0)
