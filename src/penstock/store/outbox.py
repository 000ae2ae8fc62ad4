"""Webhook deliveries from events, and the standing jobs that carry them out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from penstock.model.network.notifications import PIPELINE as NOTIFICATIONS
from penstock.model.network.webhooks import CHATTY, PIPELINE
from penstock.store.database import Connection
from penstock.store.jobs.followers import EventRange
from penstock.store.queries import load

_sql = load("outbox")
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
        """Org and user of the endpoint."""
        return self.org_id, self.user_id


@dataclass(frozen=True, slots=True)
class EventToDeliver:
    """An event for one endpoint. ``data`` is JSON; ``request_id`` is of the research request whose
    `webhookUrl` the endpoint is."""

    event_id: int
    org_id: int
    job_id: UUID
    seq: int
    event: str
    worker: str | None
    data: str
    created_at: datetime
    endpoint_id: UUID
    user_id: int
    request_id: str | None


@dataclass(frozen=True, slots=True)
class TestToDeliver:
    """A test delivery that a user asked for."""

    id: UUID
    org_id: int
    user_id: int
    endpoint_id: UUID
    event: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class EndedDelivery:
    """A delivery whose item ended without an entry in the log. ``error`` is JSON."""

    id: UUID
    stream_job: UUID
    row_no: int
    endpoint_id: UUID
    event: str
    url: str
    error: str | None
    attempts: int


async def events_to_deliver(
    conn: Connection, events: EventRange, most: int
) -> Sequence[EventToDeliver]:
    """The events of this range that endpoints subscribe to, once for each endpoint."""
    if not await conn.fetchval(_sql.has_endpoints):
        return ()
    rows = await conn.fetch(
        _sql.events_to_deliver, *events.start, *events.end, most, CHATTY, [PIPELINE, NOTIFICATIONS]
    )
    return [EventToDeliver(**row) for row in rows]


async def waiting_tests(conn: Connection, most: int) -> list[TestToDeliver]:
    return [TestToDeliver(**row) for row in await conn.fetch(_sql.waiting_tests, most)]


@dataclass(frozen=True, slots=True)
class OpenStream:
    """A standing job that takes items of a user."""

    org_id: int
    user_id: int
    job_id: UUID
    total: int
    state: str


async def open_streams(
    conn: Connection, pipeline: str, makers: Sequence[Maker]
) -> list[OpenStream]:
    await conn.execute(_sql.lock_streams, pipeline)
    orgs, users = zip(*makers, strict=True)
    rows = await conn.fetch(_sql.open_streams, list(orgs), list(users), pipeline)
    return [OpenStream(**row) for row in rows]


async def close_stream(conn: Connection, job_id: UUID) -> None:
    await conn.execute(_sql.close_stream, job_id)


async def add_stream(conn: Connection, job_id: UUID, pipeline: str, maker: Maker) -> None:
    await conn.execute(_sql.add_stream, job_id, *maker, pipeline)


async def org_of(conn: Connection, org_id: int) -> tuple[str, str]:
    """Name and plan of the org."""
    row = await conn.fetchrow(_sql.org_of_stream, org_id)
    assert row is not None
    return row["name"], row["plan"]


async def add_deliveries(
    conn: Connection, job_id: UUID, maker: Maker, new: Sequence[NewDelivery]
) -> None:
    """Add deliveries to the log, for items that are written."""
    await conn.execute(
        _sql.add_deliveries, job_id, *maker, [one.id for one in new],
        [one.endpoint_id for one in new], [one.event_id for one in new],
        [one.event for one in new], [one.about_job for one in new],
    )  # fmt: skip


async def idle_streams(conn: Connection, most: int) -> list[UUID]:
    return [row["id"] for row in await conn.fetch(_sql.idle_streams, most)]


async def unlogged_ends(conn: Connection, after: UUID | None, most: int) -> list[EndedDelivery]:
    return [EndedDelivery(**row) for row in await conn.fetch(_sql.unlogged_ends, after, most)]
