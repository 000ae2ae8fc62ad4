"""From events to deliveries, exactly once: the leader follows the events in the order of their
commits, and its place in them moves in the transaction that makes the deliveries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from penstock.engine.runtime import Runtime
from penstock.engine.services.follow import follow
from penstock.engine.standing import StreamKind, open_streams
from penstock.model.ids import new_id
from penstock.model.network.webhooks import PIPELINE
from penstock.model.ticket import Ticket
from penstock.store import outbox
from penstock.store.database import Connection, from_json
from penstock.store.jobs.followers import EventRange
from penstock.store.jobs.transitions import JobMove, NewChild, write_moves
from penstock.store.outbox import EventToDeliver, Maker, NewDelivery, TestToDeliver

FOLLOWER = "webhooks"
_STREAM = StreamKind(PIPELINE, "Webhook deliveries")


@dataclass(frozen=True, slots=True)
class OutboxConfig:
    every_ms: int = 500
    events_at_once: int = 500
    # A job that has so many deliveries takes no more, so that none grows without end.
    stream_size: int = 10_000


class Outbox:
    name = "outbox"

    def __init__(self, runtime: Runtime, config: OutboxConfig | None = None) -> None:
        self._runtime = runtime
        self._config = config or OutboxConfig()
        self.every_ms = self._config.every_ms
        self._made = 0

    async def run_once(self) -> int:
        """Answers how many deliveries were made."""
        self._made = 0
        async for lanes in follow(
            self._runtime, FOLLOWER, self._config.events_at_once, self._deliver
        ):
            await self._wake(lanes)
        return self._made + await self._send_tests()

    async def _deliver(self, conn: Connection, events: EventRange) -> frozenset[str]:
        rows = await outbox.events_to_deliver(conn, events, self._config.events_at_once)
        # Sorted, so that the log shows them in the order in which they happened.
        ids = sorted(new_id() for _ in rows)
        new = [_of_event(row, one) for row, one in zip(rows, ids, strict=True)]
        self._made += len(rows)
        return await self._make(conn, new)

    async def _send_tests(self) -> int:
        async with self._runtime.db.transaction() as conn:
            asked = await outbox.waiting_tests(conn, self._config.events_at_once)
            lanes = await self._make(conn, [_of_test(row) for row in asked])
        await self._wake(lanes)
        return len(asked)

    async def _wake(self, lanes: frozenset[str]) -> None:
        for lane in lanes:
            await self._runtime.broker.send(Ticket(lane))

    async def _make(self, conn: Connection, new: Sequence[NewDelivery]) -> frozenset[str]:
        """Items and their rows in the log; answers the lanes to wake."""
        if not new:
            return frozenset()
        of_maker: dict[Maker, list[NewDelivery]] = defaultdict(list)
        for one in new:
            of_maker[one.maker].append(one)
        streams = await open_streams(
            self._runtime, conn, _STREAM, list(of_maker), self._config.stream_size
        )
        children = {
            streams[maker]: [NewChild(None, str(one.id), 0, None, _input(one)) for one in group]
            for maker, group in of_maker.items()
        }
        moves = {job_id: JobMove() for job_id in children}
        written = await write_moves(conn, moves, None, children)
        for maker, group in of_maker.items():
            await outbox.add_deliveries(conn, streams[maker], maker, group)
        return written.lanes


def _of_event(row: EventToDeliver, delivery_id: UUID) -> NewDelivery:
    payload = {
        "type": row.event,
        "event": row.event,
        "timestamp": _moment(row.created_at),
        "jobId": str(row.job_id),
        "workerId": row.worker,
        "seq": row.seq,
        "data": from_json(row.data),
    }
    if row.request_id is not None:
        payload["requestId"] = row.request_id
    return NewDelivery(
        delivery_id, row.org_id, row.user_id, row.endpoint_id, row.event, payload,
        row.event_id, row.job_id,
    )  # fmt: skip


def _of_test(row: TestToDeliver) -> NewDelivery:
    payload = {
        "type": row.event,
        "event": row.event,
        "timestamp": _moment(row.created_at),
        "data": {"message": "A user asked for this test."},
    }
    return NewDelivery(row.id, row.org_id, row.user_id, row.endpoint_id, row.event, payload)


def _input(one: NewDelivery) -> dict[str, Any]:
    return {
        "deliveryId": str(one.id),
        "endpointId": str(one.endpoint_id),
        "event": one.event,
        "payload": one.payload,
    }


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
