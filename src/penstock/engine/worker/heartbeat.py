"""Extends leases from a thread with its own connection, so that busy work cannot delay it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from penstock.engine.context import StopSign
from penstock.engine.failpoints import Failpoints
from penstock.model.ports import Log
from penstock.store.database import Connection, Database, to_json
from penstock.store.jobs import claims
from penstock.store.workers import workers

# Several times within any lease, and soon enough to notice a cancelled slice.
_BEAT_SECONDS = 1.0
_BEATS_PER_LEASE = 3
# Stop this long before the lease ends by our own clock, before another worker may claim the items.
_MARGIN = 0.5
_FENCE_SECONDS = 0.1
_CLOSE_SECONDS = 2.0
_REPORT_SECONDS = 1.9
_WARNING_SECONDS = 60.0


@dataclass(slots=True)
class _HeldLease:
    stop: StopSign
    lease_ms: float
    valid_until: float
    hard_deadline: float


@dataclass(frozen=True, slots=True)
class Report:
    """What a worker reports."""

    slots: int
    busy: int
    figures: Mapping[str, Any]

    def as_json(self) -> str:
        return to_json({"slots": self.slots, "busy": self.busy, **self.figures})


class Heartbeat:
    """Extends held leases, and sets the stop sign of lost ones."""

    def __init__(
        self,
        db: Database,
        worker: str,
        log: Log,
        shortest_lease_ms: float,
        failpoints: Failpoints,
        report: Callable[[], Report],
    ) -> None:
        self._report = report
        self._next_report = 0.0
        self._next_complaint = 0.0
        self._failpoints = failpoints
        self._patience = shortest_lease_ms / 1000 / _BEATS_PER_LEASE
        self._pause = min(_BEAT_SECONDS, self._patience)
        self._db = db
        self._worker = worker
        self._log = log
        self._held: dict[UUID, _HeldLease] = {}
        # The queue level as of the last beat.
        self.overloaded = False
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)
        # A thread of its own: a beat or a connect may take longer than the rest of a lease.
        self._fencing = threading.Thread(target=self._fence_on_time, name="fence", daemon=True)

    def start(self) -> None:
        self._thread.start()
        self._fencing.start()

    def stop(self) -> None:
        self._ended.set()
        if self._thread.is_alive():
            # A daemon: it may wait for a server that does not answer, and then ends with the
            # process.
            self._thread.join(timeout=_CLOSE_SECONDS)

    def hold(
        self, ids: Sequence[UUID], lease_ms: float, hard_seconds: float, stop: StopSign
    ) -> None:
        """Extend these leases for at most ``hard_seconds``, so that a hung slice is lost in the
        end."""
        now = time.monotonic()
        held = _HeldLease(stop, lease_ms, now + lease_ms / 1000, now + hard_seconds)
        with self._lock:
            self._held.update(dict.fromkeys(ids, held))

    def settling(self, ids: Sequence[UUID], seconds: float) -> None:
        """Extend the leases while their results are written. A lease that is gone then was
        settled."""
        deadline = time.monotonic() + seconds
        with self._lock:
            for slice_id in ids:
                if slice_id in self._held:
                    held = self._held[slice_id]
                    self._held[slice_id] = replace(held, stop=StopSign(), hard_deadline=deadline)

    def drop(self, ids: Sequence[UUID]) -> None:
        with self._lock:
            for slice_id in ids:
                self._held.pop(slice_id, None)

    def _run(self) -> None:
        asyncio.run(self._beat_until_ended())

    async def _beat_until_ended(self) -> None:
        connection: Connection | None = None
        missed = 0
        while not self._ended.wait(0 if connection is None else self._pause):
            try:
                if connection is None:
                    connection = await self._db.connect(timeout=self._patience)
                    await claims.limit_waits(connection, self._patience / 4)
                async with asyncio.timeout(self._patience):
                    await self._beat(connection)
                if missed:
                    self._log.info("heartbeat works again", missed=missed)
                missed = 0
            except Exception as error:  # a missed beat is survivable, a dead thread is not
                missed += 1
                # Once per outage: other parts report it as well.
                (self._log.debug if missed > 1 else self._log.warning)(
                    "heartbeat missed", error=repr(error)
                )
                await _abandon(connection)
                connection = None
                self._ended.wait(0.5)
        await _abandon(connection)

    async def _beat(self, connection: Connection) -> None:
        now = time.monotonic()
        with self._lock:
            held = {i: h for i, h in self._held.items() if now < h.hard_deadline}
        by_lease: dict[float, list[UUID]] = {}
        for slice_id, one in held.items():
            by_lease.setdefault(one.lease_ms, []).append(slice_id)
        for lease, ids in by_lease.items():
            kept = await claims.extend(connection, ids, lease)
            for slice_id in ids:
                if kept.get(slice_id):
                    held[slice_id].valid_until = now + lease / 1000
                elif slice_id not in kept and slice_id in self._held:
                    held[slice_id].stop.set("lease lost", lost=True)
        if held:
            self._failpoints.reach("in_heartbeat")
        await self._write_beat(connection)

    async def _write_beat(self, connection: Connection) -> None:
        """Write the heartbeat, with figures every other time."""
        now, report = time.monotonic(), self._report()
        shown = None
        if now >= self._next_report:
            self._next_report = now + _REPORT_SECONDS
            shown = report.as_json()
        self.overloaded = await workers.beat(connection, self._worker, shown)
        if report.busy >= report.slots and now >= self._next_complaint:
            self._next_complaint = now + _WARNING_SECONDS
            data = {"slots": report.slots, "busy": report.busy}
            await workers.add_system_event(connection, "queue.backpressure", self._worker, data)

    def _fence_on_time(self) -> None:
        while not self._ended.wait(_FENCE_SECONDS):
            self._fence()

    def _fence(self) -> None:
        """Without the database: stop by our own clock before another worker may claim the items."""
        now = time.monotonic()
        with self._lock:
            for held in self._held.values():
                if now > held.valid_until - _MARGIN:
                    held.stop.set("lease ran out", lost=True)


async def _abandon(connection: Connection | None) -> None:
    if connection is not None:
        connection.terminate()
