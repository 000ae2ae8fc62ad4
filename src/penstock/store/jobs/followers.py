"""Followers of the event stream: each reads events in the order of commits, from a cursor of its
own that is moved in the transaction that handles them."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.store.database import Connection
from penstock.store.queries import load

_sql = load("followers")
Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class EventRange:
    """Events after ``start`` up to ``end``; ``full``: there may be more already."""

    start: Place
    end: Place
    full: bool


async def add_cursor(conn: Connection, name: str) -> None:
    await conn.execute(_sql.add_cursor, name)


async def any_news(conn: Connection, name: str) -> bool:
    return bool(await conn.fetchval(_sql.news, name))


async def hold_cursor(conn: Connection, name: str) -> Place:
    """Where the follower is; its cursor is locked until this transaction ends."""
    row = await conn.fetchrow(_sql.hold_cursor, name)
    assert row is not None, f"there is no cursor {name}"
    return row["xid"], row["event_id"]


async def next_range(conn: Connection, start: Place, most: int) -> EventRange | None:
    """The next events that no open transaction can precede; None if there are none."""
    end = await conn.fetchrow(_sql.page_end, *start, most)
    assert end is not None
    if not end["events"]:
        return None
    return EventRange(start, (end["xid"], end["id"]), end["events"] == most)


async def move_cursor(conn: Connection, name: str, place: Place) -> None:
    await conn.execute(_sql.move_cursor, name, *place)
