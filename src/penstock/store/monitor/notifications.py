"""Targets of notifications, and the log of messages to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from penstock.model.errors import ItemError, PenstockError
from penstock.model.network.notifications import (
    ALERT_EVENTS,
    JOB_EVENTS,
    PAGERDUTY_URL,
    PIPELINE,
    Target,
)
from penstock.model.network.webhooks import PIPELINE as WEBHOOKS
from penstock.model.ports import Sealer
from penstock.store.database import Connection, Database, from_json, to_json
from penstock.store.jobs import dead_letters
from penstock.store.jobs.followers import EventRange
from penstock.store.queries import load

_sql = load("notifications")
# Events of which users may get an e-mail.
_ENDS = ("job.completed", "job.failed", "job.cancelled")
_SILENCED = to_json({"code": "SILENCED", "message": "Silenced at that time."})


def owner_of_address(target_id: UUID) -> str:
    """What a sealed address is bound to."""
    return f"notification:{target_id}"


@dataclass(frozen=True, slots=True)
class NewTarget:
    id: UUID
    org_id: int
    user_id: int
    installation: bool
    name: str
    kind: str
    address: bytes
    shown_address: str
    severities: Sequence[str]
    events: Sequence[str]


@dataclass(frozen=True, slots=True)
class StoredTarget:
    id: UUID
    org_id: int
    org: str
    user_id: int
    installation: bool
    name: str
    kind: str
    shown_address: str
    severities: list[str]
    events: list[str]
    enabled: bool
    silenced_until: datetime | None
    created_at: datetime


async def add_target(conn: Connection, new: NewTarget) -> None:
    await conn.execute(
        _sql.add_target, new.id, new.org_id, new.user_id, new.installation, new.name, new.kind,
        new.address, new.shown_address, list(new.severities), list(new.events),
    )  # fmt: skip


async def list_targets(conn: Connection, most: int) -> list[StoredTarget]:
    return [StoredTarget(**dict(row)) for row in await conn.fetch(_sql.list_targets, None, most)]


async def has_targets(conn: Connection, org_id: int, count: int) -> bool:
    """Whether the org has so many targets or more."""
    found: int = await conn.fetchval(_sql.count_targets, org_id, count)
    return found >= count


async def get_target(conn: Connection, target_id: UUID) -> StoredTarget | None:
    row = await conn.fetchrow(_sql.list_targets, target_id, 1)
    return None if row is None else StoredTarget(**dict(row))


@dataclass(frozen=True, slots=True)
class TargetChange:
    """None keeps a setting."""

    name: str | None = None
    enabled: bool | None = None
    severities: Sequence[str] | None = None
    events: Sequence[str] | None = None
    silence_minutes: float | None = None


async def change_target(conn: Connection, target_id: UUID, change: TargetChange) -> bool:
    changed = await conn.fetchval(
        _sql.change_target, target_id, change.name, change.enabled,
        None if change.severities is None else list(change.severities),
        None if change.events is None else list(change.events), change.silence_minutes,
    )  # fmt: skip
    return changed is not None


async def delete_target(conn: Connection, target_id: UUID) -> bool:
    return await conn.fetchval(_sql.delete_target, target_id) is not None


class StoredTargets:
    """Implements `model.ports.NotificationTargets`."""

    def __init__(self, db: Database, sealer: Sealer, pagerduty_url: str = PAGERDUTY_URL) -> None:
        self._db = db
        self._sealer = sealer
        self._pagerduty_url = pagerduty_url

    async def find(self, target_ids: Sequence[UUID]) -> Mapping[UUID, Target]:
        async with self._db.acquire() as conn:
            rows = await conn.fetch(_sql.addresses, list(target_ids))
        return {row["id"]: self._opened(row) for row in rows if not row["deleted"]}

    def _opened(self, row: Any) -> Target:
        if not row["enabled"] or row["silenced"]:
            why = "The target is silenced" if row["silenced"] else "The target is disabled"
            return Target(row["kind"], "", objection=why)
        try:
            address = self._sealer.open(row["address"], owner_of_address(row["id"])).decode()
        except PenstockError as error:
            return Target(row["kind"], "", locked=error)
        return Target(row["kind"], address, self._pagerduty_url)


@dataclass(frozen=True, slots=True)
class AlertTarget:
    id: UUID
    org_id: int
    user_id: int
    severities: Sequence[str] = ()
    events: Sequence[str] = ()
    silenced: bool = False


async def alert_targets(conn: Connection) -> list[AlertTarget]:
    return [AlertTarget(**dict(row)) for row in await conn.fetch(_sql.alert_targets)]


async def targets_of_alert(conn: Connection, alert_id: UUID) -> list[AlertTarget]:
    return [AlertTarget(**dict(row)) for row in await conn.fetch(_sql.targets_of_alert, alert_id)]


@dataclass(frozen=True, slots=True)
class NewNotification:
    id: UUID
    org_id: int
    user_id: int
    # None: an e-mail to the user.
    target_id: UUID | None
    event: str
    phase: str
    message: Mapping[str, Any]
    alert_id: UUID | None = None
    event_id: int | None = None
    silenced: bool = False


async def add_notifications(conn: Connection, new: Sequence[NewNotification]) -> None:
    """Silenced ones are only logged."""
    if not new:
        return
    rows = [
        (n.id, n.org_id, n.user_id, n.target_id, n.alert_id, n.event_id, n.event, n.phase,
         to_json(dict(n.message)), n.silenced)
        for n in new
    ]  # fmt: skip
    columns = [list(column) for column in zip(*rows, strict=True)]
    await conn.execute(_sql.add_notifications, *columns, _SILENCED)


@dataclass(frozen=True, slots=True)
class Waiting:
    id: UUID
    org_id: int
    user_id: int
    target_id: UUID | None
    phase: str
    message: dict[str, Any]
    kind: str | None
    email: str | None
    age_ms: float


async def waiting(conn: Connection, most: int) -> list[Waiting]:
    found = []
    for row in await conn.fetch(_sql.waiting, most):
        values = dict(row) | {"message": from_json(row["message"]), "age_ms": float(row["age_ms"])}
        found.append(Waiting(**values))
    return found


async def recently_picked(conn: Connection, target_ids: Sequence[UUID]) -> dict[UUID, int]:
    rows = await conn.fetch(_sql.recently_picked, list(target_ids))
    return {row["target_id"]: row["messages"] for row in rows}


async def pick(conn: Connection, job_id: UUID, picked: Sequence[tuple[UUID, UUID]]) -> None:
    """Notices become items: each with the first notice of its item, whose id is its key."""
    ids, firsts = zip(*picked, strict=True)
    await conn.execute(_sql.pick, job_id, list(ids), list(firsts))


@dataclass(frozen=True, slots=True)
class NotificationAttempt:
    row_no: int
    ids: Sequence[UUID]
    title: str
    state: str
    error: ItemError | None
    runs: int


async def note_try(
    conn: Connection, job_id: UUID, tried: NotificationAttempt, worker: str | None
) -> None:
    """Write to the log. A final failure becomes a dead letter; a success closes an earlier one."""
    error = None if tried.error is None else to_json(tried.error.as_json())
    await conn.execute(_sql.note_try, list(tried.ids), tried.state, error)
    if tried.state == "sent":
        await dead_letters.close_of_items(conn, job_id, [tried.row_no], None)
    if tried.state == "failed" and tried.error is not None:
        item = dead_letters.LetterItem(tried.row_no, f"Notification: {tried.title}"[:200])
        await dead_letters.add_letter(
            conn, job_id, PIPELINE, tried.error, runs=tried.runs, trace=None, worker=worker,
            item=item,
        )  # fmt: skip


async def note_silent_ends(conn: Connection) -> None:
    await conn.execute(_sql.note_silent_ends, 1000)


@dataclass(frozen=True, slots=True)
class LoggedNotification:
    id: UUID
    org_id: int
    target_id: UUID | None
    target: str | None
    kind: str | None
    event: str
    phase: str
    message: dict[str, Any]
    state: str
    tries: int
    error: dict[str, Any] | None
    created_at: datetime
    settled_at: datetime | None


async def list_notifications(
    conn: Connection, after: UUID | None, size: int, target_id: UUID | None = None
) -> list[LoggedNotification]:
    rows = await conn.fetch(_sql.list_notifications, after, size, target_id)
    return [
        LoggedNotification(
            **dict(row) | {"message": from_json(row["message"]), "error": from_json(row["error"])}
        )
        for row in rows
    ]


@dataclass(frozen=True, slots=True)
class EventToNotify:
    """An event, and the target or the user to notify."""

    event_id: int
    event: str
    data: dict[str, Any]
    created_at: datetime
    job_id: UUID | None
    job_name: str | None
    pipeline: str | None
    worker: str | None
    target_id: UUID | None
    org_id: int
    user_id: int
    silenced: bool


async def events_to_notify(
    conn: Connection, events: EventRange, most: int
) -> Sequence[EventToNotify]:
    """Events of the range with the targets and users to notify."""
    if not await conn.fetchval(_sql.has_event_targets):
        return ()
    left_out = [*ALERT_EVENTS, "alert.backpressure", "job.progress"]
    rows = await conn.fetch(
        _sql.events_to_notify, *events.start, *events.end, left_out, most, [PIPELINE, WEBHOOKS],
        list(JOB_EVENTS), list(_ENDS),
    )  # fmt: skip
    return [EventToNotify(**dict(row) | {"data": from_json(row["data"]) or {}}) for row in rows]


async def watch_job(conn: Connection, job_id: UUID, user_id: int, org_id: int) -> None:
    await conn.execute(_sql.watch_job, job_id, user_id, org_id)


async def unwatch_job(conn: Connection, job_id: UUID, user_id: int) -> None:
    await conn.execute(_sql.unwatch_job, job_id, user_id)


async def is_watched(conn: Connection, job_id: UUID, user_id: int) -> bool:
    return bool(await conn.fetchval(_sql.is_watched, job_id, user_id))


async def set_job_mails(conn: Connection, user_id: int, org_id: int, jobs: str) -> None:
    await conn.execute(_sql.set_job_mails, user_id, org_id, jobs)


async def job_mails(conn: Connection, user_id: int) -> str:
    return str(await conn.fetchval(_sql.job_mails, user_id) or "none")


async def drop_old(conn: Connection, days: float) -> None:
    await conn.execute(_sql.drop_old, days)
