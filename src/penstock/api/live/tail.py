"""One reader of events per process, and the streams that listen to it.

One statement reads the events for all open streams, a few times a second and only while a stream is
open. The reader polls instead of using NOTIFY: a notification in every settle would cost the
workers more than polling costs the server, and no stream reports a job more than twice a second.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Sequence
from functools import cached_property
from uuid import UUID

import orjson

from penstock.api.jobs.shapes import event_shape
from penstock.model.errors import Unavailable
from penstock.model.ports import Log
from penstock.store.database import CONNECTION_ERRORS, Database, Scope
from penstock.store.errors import PostgresError
from penstock.store.jobs import events
from penstock.store.jobs.events import START, EventCursor, JobEvent, OwnedEvent

_EVERY_S = 0.2
_PAGE = 1000
# Events that one listener may have waiting. Beyond that it reads the database at its own pace.
_MOST_WAITING = 1000
_MOST_BYTES = 1024 * 1024
_AWAY = (*CONNECTION_ERRORS, PostgresError)
_EVERYTHING = Scope(org_id=0, admin=True)


class Told:
    """An event, serialised once for all streams."""

    def __init__(self, row: JobEvent, job_id: UUID | None, place: EventCursor | None) -> None:
        self._row = row
        self.job_id = job_id
        self.place = place
        self.seq: int | None = row.seq
        self.name: str = row.event

    @cached_property
    def body(self) -> bytes:
        return orjson.dumps(event_shape(self._row, self.job_id), option=orjson.OPT_UTC_Z)

    def is_for(self, scope: Scope) -> bool:
        """The same decision as row-level security."""
        if scope.admin:
            return True
        row = self._row
        if not isinstance(row, OwnedEvent) or row.org_id is None or row.org_id != scope.org_id:
            return False
        return self.job_id is None or scope.owner_id is None or row.user_id == scope.owner_id


class Listener:
    """The events that one stream has yet to send, within limits."""

    def __init__(self, job_id: UUID | None, scope: Scope) -> None:
        self.job_id = job_id
        self.scope = scope
        self.behind = False
        self._waiting: deque[Told] = deque()
        self._bytes = 0
        self._woken = asyncio.Event()

    def hear(self, told: Iterable[Told]) -> None:
        if self.behind:
            return
        for one in told:
            self._waiting.append(one)
            self._bytes += len(one.body)
        if len(self._waiting) > _MOST_WAITING or self._bytes > _MOST_BYTES:
            self.behind = True
            self._waiting.clear()
        self.wake()

    def wake(self) -> None:
        self._woken.set()

    async def wait(self, timeout: float) -> None:
        """Wait for events or the end of the time."""
        try:
            async with asyncio.timeout(timeout):
                await self._woken.wait()
        except TimeoutError:
            return
        self._woken.clear()

    def take(self) -> list[Told]:
        taken = list(self._waiting)
        self._waiting.clear()
        self._bytes = 0
        return taken


class Tail:
    """The reader. It starts with the first listener and stops with the last."""

    def __init__(self, db: Database, log: Log) -> None:
        self._db = db
        self._log = log
        self._listeners: set[Listener] = set()
        self._reading: asyncio.Task[None] | None = None
        self._place: EventCursor | None = None
        self._begun = asyncio.Event()
        self.closed = False

    def require_open(self) -> None:
        """Refuse a new stream in a process that is about to end."""
        if self.closed:
            raise Unavailable("SERVER_BUSY", "This server is stopping. Try again.")

    async def listen(self, job_id: UUID | None, scope: Scope) -> Listener:
        """Receives all that is committed after this returns; earlier events must be read from the
        database."""
        listener = Listener(job_id, scope)
        self._listeners.add(listener)
        if self._reading is None or self._reading.done():
            self._place = None
            self._begun.clear()
            self._reading = asyncio.create_task(self._read())
        await self._begun.wait()
        return listener

    @property
    def place(self) -> EventCursor:
        """All events up to here were received."""
        return self._place or START

    def forget(self, listener: Listener) -> None:
        self._listeners.discard(listener)

    def close(self) -> None:
        """End all streams; their clients connect to another process."""
        self.closed = True
        self._begun.set()
        for listener in self._listeners:
            listener.wake()

    async def _read(self) -> None:
        away = False
        while self._listeners and not self.closed:
            full = False
            try:
                full = await self._read_page()
                away = False
            except _AWAY as error:
                # Reading continues from the same place, so no stream misses an event.
                if not away:
                    self._log.warning("events wait for the database", error=repr(error))
                away = True
            if not full:
                await asyncio.sleep(_EVERY_S)

    async def _read_page(self) -> bool:
        """Whether there may be more events at once."""
        async with self._db.scoped(_EVERYTHING, readonly=True) as conn:
            if self._place is None:
                self._place = await events.present(conn)
                self._begun.set()
            rows = await events.tail(conn, self._place, _PAGE)
        if rows:
            self._place = rows[-1].place
            self._tell([Told(row, row.job_id, row.place) for row in rows])
        return len(rows) == _PAGE

    def _tell(self, told: Sequence[Told]) -> None:
        by_job: dict[UUID | None, list[Told]] = {}
        for one in told:
            by_job.setdefault(one.job_id, []).append(one)
        by_scope: dict[Scope, list[Told]] = {}
        for listener in self._listeners:
            if listener.job_id is not None:
                heard = by_job.get(listener.job_id, [])
            else:
                if listener.scope not in by_scope:
                    by_scope[listener.scope] = [one for one in told if one.is_for(listener.scope)]
                heard = by_scope[listener.scope]
            if heard:
                listener.hear(heard)
