"""Wake-ups by NOTIFY. A lost one costs at most a poll."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

import asyncpg

from penstock.model.ports import Log
from penstock.model.ticket import Ticket

# The last is what asyncpg says of a connection that was cut in the middle of a statement.
_LOST = (
    *(OSError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError),
    asyncpg.InternalClientError,
)
# Under load one wake-up stands for all of this time: each costs a NOTIFY here, and in every idle
# worker a look at the queue. The first is told at once.
_TOGETHER_S = 0.01
_NOTIFY = "SELECT pg_notify($1, lane) FROM unnest($2::text[]) AS lane"


class PostgresBroker:
    """One connection that listens and tells. Workers listen, the API only tells."""

    name = "postgres"

    def __init__(self, dsn: str, schema: str, log: Log, *, listens: bool = True) -> None:
        self._dsn = dsn
        self._channel = f"penstock_work_{schema}"
        self._log = log
        self._listens = listens
        self._connection: asyncpg.Connection[asyncpg.Record] | None = None
        self._busy = asyncio.Lock()
        self._is_away = False
        self._woken = asyncio.Event()
        self._quiet_until = 0.0
        self._unsent_lanes: set[str] = set()
        self._received_lanes: set[str] = set()
        self._notifying: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Listen if the server is there; if not, waiting workers try again."""
        async with self._busy:
            try:
                await self._connect()
            except _LOST as error:
                self._log.warning("cannot listen yet; workers poll", error=repr(error))
                self._drop_connection()

    async def send(self, ticket: Ticket) -> None:
        """Workers only need to know the lane: the claim itself finds what to do."""
        if ticket.delay_ms:
            # Workers know from the database when their next work is due.
            return
        self._unsent_lanes.add(ticket.lane)
        now = time.monotonic()
        if now >= self._quiet_until:
            self._quiet_until = now + _TOGETHER_S
            await self._notify()
        elif self._notifying is None:
            self._notifying = asyncio.create_task(self._notify_later(self._quiet_until - now))

    def notify_channel(self) -> str | None:
        now = time.monotonic()
        if now < self._quiet_until:
            return None
        self._quiet_until = now + _TOGETHER_S
        return self._channel

    async def _notify_later(self, delay: float) -> None:
        await asyncio.sleep(delay)
        self._notifying = None
        self._quiet_until = time.monotonic() + _TOGETHER_S
        await self._notify()

    async def _notify(self) -> None:
        lanes, self._unsent_lanes = sorted(self._unsent_lanes), set()
        if not lanes:
            return
        async with self._busy:
            try:
                connection = await self._connect()
                await connection.execute(_NOTIFY, self._channel, lanes, timeout=5)
            except _LOST as error:
                self._log.warning("wake-up was not sent; workers will poll", error=repr(error))
                self._drop_connection()

    async def receive(self, timeout: float) -> Sequence[Ticket]:
        """Until a wake-up or the time is over."""
        if self._connection is None or self._connection.is_closed():
            async with self._busy:
                try:
                    await self._connect()
                except _LOST as error:
                    # Once per outage: this is tried with every wait.
                    if not self._is_away:
                        self._log.warning("cannot listen; workers poll", error=repr(error))
                    self._is_away = True
                    self._drop_connection()
        try:
            async with asyncio.timeout(timeout):
                await self._woken.wait()
        except TimeoutError:
            return ()
        self._woken.clear()
        lanes, self._received_lanes = self._received_lanes, set()
        return [Ticket(lane) for lane in sorted(lanes)]

    async def close(self) -> None:
        if self._notifying is not None:
            self._notifying.cancel()
            await asyncio.gather(self._notifying, return_exceptions=True)
        await self._notify()
        async with self._busy:
            if self._connection is not None:
                connection, self._connection = self._connection, None
                try:
                    await connection.close(timeout=2)
                except _LOST:
                    connection.terminate()

    async def _connect(self) -> asyncpg.Connection[asyncpg.Record]:
        if self._connection is None or self._connection.is_closed():
            self._connection = await asyncpg.connect(
                self._dsn, timeout=5, server_settings={"application_name": "penstock broker"}
            )
            self._is_away = False
            if self._listens:
                await self._connection.add_listener(self._channel, self._on_notify)
                # Messages sent before it listened are found by looking for work once.
                self._woken.set()
        return self._connection

    def _on_notify(self, *told: object) -> None:
        self._received_lanes.add(str(told[-1]))
        self._woken.set()

    def _drop_connection(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None
