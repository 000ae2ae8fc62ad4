"""From events to deliveries: the place in the stream of events, and the jobs that deliver."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from penstock.model.webhooks import CHATTY, PIPELINE
from penstock.store.database import Connection
from penstock.store.queries import load

_sql = load("outbox")
Place = tuple[str, int]
Maker = tuple[int, int]


@dataclass(frozen=True, slots=True)
class NewDelivery:
    id: UUID
    org_id: int
    user_id: int
    endpoint_id: UUID
    event: str
    payload: dict[str, Any]
    event_id: int | None = None
    about_job: UUID | None = None

    @property
    def maker(self) -> Maker:
        """Whose endpoint it is: the org and the user."""
        return self.org_id, self.user_id


@dataclass(frozen=True, slots=True)
class Page:
    """``end`` is where the next one begins; ``full``: there may be more already."""

    end: Place
    full: bool
    rows: Sequence[Any]


async def any_news(conn: Connection) -> bool:
    return bool(await conn.fetchval(_sql.news))


async def hold_cursor(conn: Connection) -> Place:
    row = await conn.fetchrow(_sql.hold_cursor)
    assert row is not None
    return row["xid"], row["event_id"]


async def next_page(conn: Connection, start: Place, most: int) -> Page | None:
    """Of the next events those that somebody wants, each with who wants it; None: no events."""
    end = await conn.fetchrow(_sql.page_end, *start, most)
    assert end is not None
    if not end["events"]:
        return None
    place = (end["xid"], end["id"])
    rows: Sequence[Any] = ()
    if await conn.fetchval(_sql.anyone_told):
        rows = await conn.fetch(_sql.to_tell, *start, *place, most, CHATTY, PIPELINE)
    return Page(place, end["events"] == most, rows)


async def move_cursor(conn: Connection, place: Place) -> None:
    await conn.execute(_sql.move_cursor, *place)


async def waiting(conn: Connection, most: int) -> list[Any]:
    return await conn.fetch(_sql.waiting, most)


async def open_streams(conn: Connection, makers: Sequence[Maker]) -> list[Any]:
    orgs, users = zip(*makers, strict=True)
    return await conn.fetch(_sql.open_streams, list(orgs), list(users))


async def close_stream(conn: Connection, job_id: UUID) -> None:
    await conn.execute(_sql.close_stream, job_id)


async def add_stream(conn: Connection, job_id: UUID, maker: Maker) -> None:
    await conn.execute(_sql.add_stream, job_id, *maker)


async def org_of(conn: Connection, org_id: int) -> tuple[str, str]:
    """Name and plan."""
    row = await conn.fetchrow(_sql.org_of_stream, org_id)
    assert row is not None
    return row["name"], row["plan"]


async def add_deliveries(
    conn: Connection, job_id: UUID, maker: Maker, new: Sequence[NewDelivery]
) -> None:
    """The log's rows of deliveries whose items are written."""
    await conn.execute(
        _sql.add_deliveries, job_id, *maker, [one.id for one in new],
        [one.endpoint_id for one in new], [one.event_id for one in new],
        [one.event for one in new], [one.about_job for one in new],
    )  # fmt: skip


async def rested_streams(conn: Connection, most: int) -> list[UUID]:
    return [row["id"] for row in await conn.fetch(_sql.rested_streams, most)]


async def unnoted(conn: Connection, after: UUID | None, most: int) -> list[Any]:
    return await conn.fetch(_sql.unnoted, after, most)
