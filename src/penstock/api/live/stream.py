"""A subscriber first reads the events that it missed from the database, page by page, then those
that the process receives. If it cannot keep up, it reads from the database again."""

from __future__ import annotations

import asyncio
import hashlib
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from uuid import UUID

from starlette.requests import HTTPConnection

from penstock.api.http.access import Api
from penstock.api.live.tail import Listener, Tail, Told
from penstock.model.errors import NotAllowed, TransientError
from penstock.store.accounts.accounts import Principal
from penstock.store.database import CONNECTION_ERRORS, Connection, Scope
from penstock.store.jobs import events
from penstock.store.jobs.events import START, EventCursor

BEAT_S = 15.0
_CHECK_AGAIN_S = 2.0
# Streams that read from the database at once; each holds a page.
_PAGE = 50
_REPLAYS_AT_ONCE = 4
_MAX_ENTRIES = 1000


@dataclass(frozen=True)
class Caller:
    """A subscriber, its key, and how to check the key again."""

    scope: Scope
    key: bytes
    identify: Callable[[], Awaitable[Principal]]


class StreamAuthorizer:
    """Checks whether streams may continue. Each key is checked every few seconds, however many
    streams use it."""

    def __init__(self, every_s: float = _CHECK_AGAIN_S) -> None:
        self.every_s = every_s
        self._asked: dict[bytes, tuple[float, asyncio.Task[Scope | None]]] = {}

    async def lets(self, caller: Caller) -> bool:
        """False once the key is revoked, the session has ended, or the rights have changed."""
        now = time.monotonic()
        asked = self._asked.get(caller.key)
        if asked is None or now - asked[0] > self.every_s:
            if len(self._asked) > _MAX_ENTRIES:
                self._asked.clear()
            asked = now, asyncio.ensure_future(_scope_now(caller))
            self._asked[caller.key] = asked
        try:
            return await asyncio.shield(asked[1]) == caller.scope
        except CONNECTION_ERRORS:
            # Without the database nothing is told either; asked again when it is back.
            return True


async def _scope_now(caller: Caller) -> Scope | None:
    try:
        return (await caller.identify()).scope
    except NotAllowed:
        return None
    except TransientError:
        # Asked too often, or it could not be answered: nothing was said against it.
        return caller.scope


@dataclass
class Live:
    """What the streams of a process share."""

    api: Api
    tail: Tail
    authorizer: StreamAuthorizer = field(default_factory=StreamAuthorizer)
    replays: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_REPLAYS_AT_ONCE))
    beat_s: float = BEAT_S

    def caller(self, asked: HTTPConnection, who: Principal) -> Caller:
        secret = asked.headers.get("authorization", "") + "\n" + asked.headers.get("cookie", "")

        async def again() -> Principal:
            # Who is let in without either has the server to themselves, and stays who they are.
            return await self.api.authenticator.recognise(asked) if secret.strip() else who

        return Caller(who.scope, hashlib.sha256(secret.encode()).digest(), again)

    def follow_job(self, caller: Caller, job_id: UUID, since: int) -> Following:
        return JobFollowing(self, caller, job_id, since)

    def follow_all(self, caller: Caller, since: EventCursor | None) -> Following:
        return AllFollowing(self, caller, since)


class Following(ABC):
    """Pages of events, each one once and in order; an empty page is a sign of life."""

    def __init__(self, live: Live, caller: Caller, job_id: UUID | None) -> None:
        self._live = live
        self._caller = caller
        self._job_id = job_id

    async def pages(self) -> AsyncGenerator[Sequence[Told], None]:
        """Ends when the caller may hear no more, or the process is to end."""
        tail = self._live.tail
        while await self._goes_on():
            listener = await tail.listen(self._job_id, self._caller.scope)
            try:
                self._begin(tail.place)
                yield ()
                for part in (self._missed(), self._heard(listener)):
                    async with aclosing(part):
                        async for page in part:
                            yield page
            finally:
                tail.forget(listener)
            if not listener.behind:
                return

    async def _goes_on(self) -> bool:
        return not self._live.tail.closed and await self._live.authorizer.lets(self._caller)

    async def _missed(self) -> AsyncGenerator[Sequence[Told], None]:
        while await self._goes_on():
            async with (
                self._live.replays,
                self._live.api.db.scoped(self._caller.scope, readonly=True) as conn,
            ):
                page, more = await self._page(conn)
            if page:
                yield page
            if not more:
                return

    async def _heard(self, listener: Listener) -> AsyncGenerator[Sequence[Told], None]:
        live = self._live
        quiet_since = time.monotonic()
        while not listener.behind:
            await listener.wait(min(live.beat_s, live.authorizer.every_s))
            if not await self._goes_on():
                return
            place, taken = live.tail.place, listener.take()
            if taken:
                fresh, whole = self._sift(taken)
                if fresh:
                    yield fresh
                    quiet_since = time.monotonic()
                listener.behind |= not whole
            elif time.monotonic() - quiet_since >= live.beat_s and not listener.behind:
                self._caught_up(place)
                yield ()
                quiet_since = time.monotonic()

    @property
    @abstractmethod
    def cursor(self) -> str:
        """What to resume from after all that was given."""

    @abstractmethod
    def id_of(self, told: Told) -> str:
        """What to resume from after this one."""

    @abstractmethod
    async def _page(self, conn: Connection) -> tuple[Sequence[Told], bool]:
        """The next page of what was missed, and whether there is more."""

    @abstractmethod
    def _sift(self, taken: Sequence[Told]) -> tuple[Sequence[Told], bool]:
        """The new events among those received, and whether they follow the last one without a
        gap."""

    @abstractmethod
    def _begin(self, place: EventCursor) -> None:
        """It listens from there on; what was before is missed."""

    @abstractmethod
    def _caught_up(self, place: EventCursor) -> None:
        """Nothing is waiting, and the process has heard all up to there."""


class JobFollowing(Following):
    """The events of one job, by their numbers."""

    def __init__(self, live: Live, caller: Caller, job_id: UUID, since: int) -> None:
        super().__init__(live, caller, job_id)
        self._job = job_id
        self._seq = since

    @property
    def cursor(self) -> str:
        return str(self._seq)

    def id_of(self, told: Told) -> str:
        return str(told.seq)

    async def _page(self, conn: Connection) -> tuple[Sequence[Told], bool]:
        rows = await events.events_of(conn, self._job, self._seq, _PAGE)
        if rows:
            self._seq = rows[-1].seq or self._seq
        return [Told(row, self._job, None) for row in rows], len(rows) == _PAGE

    def _begin(self, place: EventCursor) -> None:
        """Its numbers say all."""

    _caught_up = _begin

    def _sift(self, taken: Sequence[Told]) -> tuple[Sequence[Told], bool]:
        fresh = []
        for one in taken:
            assert one.seq is not None
            if one.seq == self._seq + 1:
                self._seq = one.seq
                fresh.append(one)
            elif one.seq > self._seq:
                return fresh, False
        return fresh, True


class AllFollowing(Following):
    """The events of all jobs, in the order of commits; without a place, from now on."""

    def __init__(self, live: Live, caller: Caller, since: EventCursor | None) -> None:
        super().__init__(live, caller, None)
        self._place = since

    @property
    def cursor(self) -> str:
        return str(self._place or START)

    def id_of(self, told: Told) -> str:
        return str(told.place)

    def _begin(self, place: EventCursor) -> None:
        self._place = self._place or place

    async def _page(self, conn: Connection) -> tuple[Sequence[Told], bool]:
        before = self._place or START
        rows, self._place = await events.all_events(conn, before, _PAGE)
        told = [Told(row, row.job_id, row.place) for row in rows]
        return told, self._place != before

    def _sift(self, taken: Sequence[Told]) -> tuple[Sequence[Told], bool]:
        before = self._place or START
        fresh = [one for one in taken if one.place is not None and one.place > before]
        if fresh:
            self._place = fresh[-1].place
        return fresh, True

    def _caught_up(self, place: EventCursor) -> None:
        self._place = max(self._place or START, place)
