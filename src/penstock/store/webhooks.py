"""Webhook endpoints, and the log of their deliveries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from penstock.model.effects import NoteDelivery
from penstock.model.errors import ItemError, PenstockError
from penstock.model.network.webhooks import PIPELINE, Receiver
from penstock.model.ports import Sealer
from penstock.store.database import Connection, Database, to_json
from penstock.store.jobs import dead_letters
from penstock.store.queries import load
from penstock.store.research.secrets import secret_of

_sql = load("webhooks")
_MOST_TRIES_KEPT = 50
_RESEALED_AT_ONCE = 100
GONE = "The receiver answered 410 Gone"


@dataclass(frozen=True, slots=True)
class NewEndpoint:
    id: UUID
    org_id: int
    user_id: int
    url: str
    description: str
    events: Sequence[str]
    enabled: bool
    sealed_secret: bytes


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An endpoint without its secrets. ``old_until``: until then the old secret signs, too."""

    id: UUID
    org_id: int
    user_id: int
    url: str
    description: str
    events: list[str]
    enabled: bool
    disabled_reason: str | None
    old_until: datetime | None
    created_at: datetime
    updated_at: datetime
    org: str


@dataclass(frozen=True, slots=True)
class Delivery:
    """An entry of the log. ``stream_job`` and ``row_no`` name the item that carries it out."""

    id: UUID
    endpoint_id: UUID
    event: str
    about_job: UUID | None
    stream_job: UUID | None
    row_no: int | None
    state: str
    tries: int
    status: int | None
    created_at: datetime
    settled_at: datetime | None


@dataclass(frozen=True, slots=True)
class DeliveryDetails(Delivery):
    """With its tries and the message; ``url`` and ``enabled`` are those of the endpoint now."""

    org_id: int
    user_id: int
    attempts: str
    url: str
    enabled: bool
    input: str | None
    due_at: datetime | None


async def add_endpoint(conn: Connection, new: NewEndpoint) -> None:
    await conn.execute(
        _sql.add_endpoint, new.id, new.org_id, new.user_id, new.url, new.description,
        list(new.events), new.enabled, new.sealed_secret,
    )  # fmt: skip


async def count_endpoints(conn: Connection, org_id: int, most: int) -> int:
    return int(await conn.fetchval(_sql.count_endpoints, org_id, most))


async def list_endpoints(
    conn: Connection, after: UUID | None, limit: int, org_id: int | None = None
) -> list[Endpoint]:
    """Oldest first."""
    return [Endpoint(**row) for row in await conn.fetch(_sql.list_endpoints, after, org_id, limit)]


async def get_endpoint(conn: Connection, endpoint_id: UUID) -> Endpoint | None:
    row = await conn.fetchrow(_sql.get_endpoint, endpoint_id)
    return None if row is None else Endpoint(**row)


async def change_endpoint(
    conn: Connection, endpoint_id: UUID, *, url: str | None, description: str | None,
    events: Sequence[str] | None, enabled: bool | None,
) -> bool:  # fmt: skip
    """Return False where there is no such endpoint in the scope of the connection."""
    chosen = None if events is None else list(events)
    return bool(
        await conn.fetch(_sql.change_endpoint, endpoint_id, url, description, chosen, enabled)
    )


async def rotate_secret(
    conn: Connection, endpoint_id: UUID, sealed: bytes, overlap_seconds: float
) -> bool:
    return bool(await conn.fetch(_sql.rotate_secret, endpoint_id, sealed, overlap_seconds))


async def delete_endpoint(conn: Connection, endpoint_id: UUID) -> bool:
    return bool(await conn.fetch(_sql.delete_endpoint, endpoint_id))


async def reseal(conn: Connection, sealer: Sealer, after: UUID | None) -> tuple[int, UUID | None]:
    """Seal the next secrets with the newest key. Return how many changed, and the last id."""
    rows = await conn.fetch(_sql.sealed_secrets, after, _RESEALED_AT_ONCE)
    changed = 0
    for row in rows:
        owner = owner_of_secret(row["id"])
        sealed = (row["secret"], row["old_secret"])
        if all(one is None or sealer.is_current(one) for one in sealed):
            continue
        fresh = [
            None if one is None else sealer.seal(sealer.open(one, owner), owner) for one in sealed
        ]
        await conn.execute(_sql.reseal, row["id"], *fresh)
        changed += 1
    return changed, rows[-1]["id"] if rows else None


async def newest_opens(conn: Connection, sealer: Sealer) -> bool:
    """Try to open the newest stored secret; False if there is none."""
    row = await conn.fetchrow(_sql.newest_secret)
    if row is None:
        return False
    sealer.open(row["secret"], owner_of_secret(row["id"]))
    return True


def owner_of_secret(endpoint_id: UUID) -> str:
    """The owner that a secret is sealed with."""
    return f"webhook:{endpoint_id}"


class StoredReceivers:
    """Implements `model.ports.Receivers`."""

    def __init__(self, db: Database, sealer: Sealer) -> None:
        self._db = db
        self._sealer = sealer

    async def find(self, endpoint_ids: Sequence[UUID]) -> Mapping[UUID, Receiver]:
        async with self._db.acquire() as conn:
            rows = await conn.fetch(_sql.receivers, list(endpoint_ids))
        found = {}
        for row in rows:
            found[row["id"]] = await self._receiver(row)
        return found

    async def of_org(self, org_id: int, url: str) -> Receiver:
        try:
            async with self._db.acquire() as conn:
                return Receiver(url, [await secret_of(conn, self._sealer, org_id)])
        except PenstockError as error:
            return Receiver(url, locked=error)

    async def _receiver(self, row: Any) -> Receiver:
        if row["deleted"]:
            return Receiver(row["url"], objection="The endpoint was deleted", deleted=True)
        if not row["enabled"]:
            reason = row["disabled_reason"]
            why = "The endpoint is disabled" + (f": {reason}" if reason else "")
            return Receiver(row["url"], objection=why)
        if not row["secret"]:
            # Of a research request: the org's secret signs.
            return await self.of_org(row["org_id"], row["url"])
        owner = owner_of_secret(row["id"])
        sealed = [one for one in (row["secret"], row["old_secret"]) if one is not None]
        try:
            return Receiver(row["url"], [self._sealer.open(one, owner) for one in sealed])
        except PenstockError as error:
            # This delivery waits; those with readable secrets do not.
            return Receiver(row["url"], locked=error)


async def add_test(conn: Connection, delivery_id: UUID, endpoint: Endpoint, event: str) -> None:
    await conn.execute(
        _sql.add_test, delivery_id, endpoint.org_id, endpoint.user_id, endpoint.id, event
    )


async def list_deliveries(
    conn: Connection, endpoint_id: UUID, after: UUID | None, states: Sequence[str] | None,
    limit: int,
) -> list[Delivery]:  # fmt: skip
    """Newest first."""
    rows = await conn.fetch(_sql.list_deliveries, endpoint_id, after, states, limit)
    return [Delivery(**row) for row in rows]


async def get_delivery(conn: Connection, delivery_id: UUID) -> DeliveryDetails | None:
    row = await conn.fetchrow(_sql.get_delivery, delivery_id)
    return None if row is None else DeliveryDetails(**row)


async def delivery_of_item(conn: Connection, job_id: UUID, row_no: int) -> UUID | None:
    found: UUID | None = await conn.fetchval(_sql.delivery_of_item, job_id, row_no)
    return found


async def reopen_delivery(conn: Connection, delivery_id: UUID) -> None:
    await conn.execute(_sql.reopen_delivery, delivery_id)


@dataclass(frozen=True, slots=True)
class DeliveryAttempt:
    """The result of a delivery attempt. ``error`` is the failure, ``runs`` the number of attempts
    in this generation."""

    row_no: int
    note: NoteDelivery
    error: ItemError | None
    runs: int


async def note_tries(
    conn: Connection, job_id: UUID, tried: Sequence[DeliveryAttempt], worker: str | None
) -> None:
    """Write attempts to the log, under the lock of the job. A final failure becomes a dead letter;
    a success closes an earlier one."""
    notes = [one.note for one in tried]
    rows = await conn.fetch(
        _sql.note_tries, [note.delivery_id for note in notes], [note.state for note in notes],
        [note.status for note in notes], [_attempt(one) for one in tried], _MOST_TRIES_KEPT,
    )  # fmt: skip
    began = {row["id"]: row["created_at"] for row in rows}
    gone = [note for note in notes if note.gone]
    if gone:
        ids, urls = [note.endpoint_id for note in gone], [note.url for note in gone]
        await conn.execute(_sql.disable_endpoints, ids, urls, GONE)
    well = [one.row_no for one in tried if one.note.state == "delivered"]
    if well:
        await dead_letters.close_of_items(conn, job_id, well, None)
    for one in tried:
        if one.note.state == "failed":
            await _add_letter(conn, job_id, one, began.get(one.note.delivery_id), worker)


def _attempt(one: DeliveryAttempt) -> str | None:
    """None if nothing was sent."""
    note = one.note
    if note.ms is None:
        return None
    shown: dict[str, Any] = {"status": note.status, "ms": note.ms}
    if one.error is not None:
        shown["error"] = {"code": one.error.code, "message": one.error.message}
    if note.response:
        shown["response"] = note.response
    return to_json(shown)


async def _add_letter(
    conn: Connection, job_id: UUID, one: DeliveryAttempt, began: datetime | None, worker: str | None
) -> None:
    assert one.error is not None
    note = one.note
    item = dead_letters.LetterItem(one.row_no, f"{note.event} to {note.host}", began)
    error = ItemError(
        one.error.code, one.error.message,
        details={"deliveryId": str(note.delivery_id), "endpointId": str(note.endpoint_id),
                 "event": note.event, "host": note.host},
    )  # fmt: skip
    await dead_letters.add_letter(
        conn, job_id, PIPELINE, error, runs=one.runs, trace=None, worker=worker, item=item
    )


async def drop_old(conn: Connection, days: float, most: int) -> int:
    return len(await conn.fetch(_sql.drop_old_deliveries, days, most))
