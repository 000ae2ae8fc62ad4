"""From notices to items of the standing job that sends them, exactly once.

Notices for one target that come together are one message. A target gets so many messages an hour;
notices beyond them wait and are sent together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import Any
from uuid import UUID

from penstock.engine.runtime import Runtime
from penstock.engine.services.follow import follow
from penstock.engine.standing import StreamKind, open_streams
from penstock.model.ids import new_id
from penstock.model.monitor.checks import RUNBOOK_PATH
from penstock.model.network.notifications import JOB_EVENTS, PIPELINE, SYSTEM_EVENTS, Message
from penstock.model.ticket import Ticket
from penstock.monitor.alerts import Links
from penstock.settings import Settings
from penstock.store.database import Connection
from penstock.store.jobs.followers import EventRange
from penstock.store.jobs.transitions import JobMove, NewChild, write_moves
from penstock.store.monitor import notifications
from penstock.store.monitor.notifications import EventToNotify, NewNotification, Waiting

FOLLOWER = "notifications"
_STREAM = StreamKind(PIPELINE, "Notifications")
# Targets that take one notice per message: PagerDuty joins them by key.
_UNGROUPED = "pagerduty"
_WORDS = {
    "job.completed": "done", "job.failed": "failed", "job.cancelled": "cancelled",
    "job.dead_lettered": "became a dead letter",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class NotificationConfig:
    group_ms: int
    per_hour: int
    links: Links
    every_ms: int = 1000
    at_once: int = 500
    stream_size: int = 10_000

    @classmethod
    def of(cls, settings: Settings) -> NotificationConfig:
        return cls(settings.notify_group_ms, settings.notify_per_hour, links_of(settings))


def links_of(settings: Settings) -> Links:
    public = (settings.public_url or f"http://{settings.host}:{settings.port}").rstrip("/")
    return Links(public, settings.runbook_url or f"{public}{RUNBOOK_PATH}")


class NotificationOutbox:
    """Safe with two leaders: notices are locked, and the cursor of events moves with them."""

    name = "notification outbox"

    def __init__(self, runtime: Runtime, config: NotificationConfig | None = None) -> None:
        self._runtime = runtime
        self._config = config or NotificationConfig.of(runtime.settings)
        self.every_ms = self._config.every_ms

    async def run_once(self) -> int:
        """Answers how many messages were handed to workers."""
        async for _ in follow(self._runtime, FOLLOWER, self._config.at_once, self._note_events):
            pass
        async with self._runtime.db.transaction() as conn:
            await notifications.note_silent_ends(conn)
            waiting = await notifications.waiting(conn, self._config.at_once)
            messages = await self._messages(conn, waiting)
            lanes = await self._make_items(conn, messages)
            self._runtime.failpoints.reach("notify_before_commit")
        for lane in lanes:
            await self._runtime.broker.send(Ticket(lane))
        return len(messages)

    async def _note_events(self, conn: Connection, events: EventRange) -> frozenset[str]:
        """Notices about single events, for targets and users that asked for them."""
        rows = await notifications.events_to_notify(conn, events, self._config.at_once)
        made = [
            NewNotification(
                new_id(), row.org_id, row.user_id, row.target_id, row.event, "event",
                _message_of_event(row, self._config.links).as_json(), event_id=row.event_id,
                silenced=row.silenced,
            )
            for row in rows
        ]  # fmt: skip
        await notifications.add_notifications(conn, made)
        return frozenset()

    async def _messages(
        self, conn: Connection, waiting: Sequence[Waiting]
    ) -> list[tuple[Waiting, ...]]:
        """Notices that are sent now, grouped into messages."""
        groups: dict[Any, list[Waiting]] = defaultdict(list)
        for one in waiting:
            alone = one.target_id is None or one.kind == _UNGROUPED or one.phase == "test"
            groups[one.id if alone else one.target_id].append(one)
        targets = [one.target_id for one in waiting if one.target_id is not None]
        sent = await notifications.recently_picked(conn, targets) if targets else {}
        made = []
        for group in groups.values():
            first = group[0]
            due = first.phase == "test" or first.age_ms >= self._config.group_ms
            target = first.target_id
            used = 0 if target is None else sent.get(target, 0)
            if due and (first.phase == "test" or used < self._config.per_hour):
                made.append(tuple(group))
                if target is not None:
                    sent[target] = used + 1
        return made

    async def _make_items(
        self, conn: Connection, messages: Sequence[tuple[Waiting, ...]]
    ) -> frozenset[str]:
        """Answers the lanes to wake."""
        if not messages:
            return frozenset()
        of_maker: dict[tuple[int, int], list[tuple[Waiting, ...]]] = defaultdict(list)
        for group in messages:
            of_maker[group[0].org_id, group[0].user_id].append(group)
        streams = await open_streams(
            self._runtime, conn, _STREAM, list(of_maker), self._config.stream_size
        )
        children = {
            streams[maker]: [NewChild(None, str(g[0].id), 0, None, self._input(g)) for g in groups]
            for maker, groups in of_maker.items()
        }
        written = await write_moves(conn, {job: JobMove() for job in children}, None, children)
        for maker, groups in of_maker.items():
            picked: list[tuple[UUID, UUID]] = [(n.id, g[0].id) for g in groups for n in g]
            await notifications.pick(conn, streams[maker], picked)
        return written.lanes

    def _input(self, group: tuple[Waiting, ...]) -> dict[str, Any]:
        first = group[0]
        return {
            "notificationIds": [str(one.id) for one in group],
            "targetId": None if first.target_id is None else str(first.target_id),
            "email": first.email,
            "source": self._config.links.public_url,
            "messages": [one.message for one in group],
        }


def _message_of_event(row: EventToNotify, links: Links) -> Message:
    event, data = row.event, row.data
    at = row.created_at.astimezone(UTC).isoformat(timespec="seconds")
    if row.job_id is None or row.job_name is None:
        text = "; ".join(f"{name}: {value}" for name, value in data.items())[:1000] or event
        severity = SYSTEM_EVENTS.get(event, "info")
        title = f"{event} on {row.worker}" if row.worker else event
        return Message(
            event, event, severity, "event", title, text, at, f"{links.public_url}/monitor"
        )
    name = row.job_name or row.pipeline
    error = data.get("lastError") or data.get("error")
    parts = [f"{data[key]} {word}" for key, word in _COUNTS.items() if data.get(key)]
    if isinstance(error, dict):
        parts.append(str(error.get("message", "")))
    return Message(
        f"job:{row.job_id}", event, JOB_EVENTS[event], "event",
        f"Job {name!r} {_WORDS[event]}", ", ".join(parts) or "No rows.", at,
        f"{links.public_url}/jobs/{row.job_id}",
    )  # fmt: skip


_COUNTS = {
    "done": "rows done", "error": "failed", "notFound": "not found", "skipped": "skipped",
}  # fmt: skip
