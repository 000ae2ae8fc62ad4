"""Wake-ups by NOTIFY. A lost one costs at most a poll."""

from __future__ import annotations

import asyncio

import asyncpg

from penstock.model.ports import Log

_LOST = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError)


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
        self._woken = asyncio.Event()

    async def start(self) -> None:
        """Listen if the server is there; if not, waiting workers try again."""
        async with self._busy:
            try:
                await self._connect()
            except _LOST as error:
                self._log.warning("not listening yet, workers poll", error=repr(error))
                self._forget()

    async def wake(self, lane: str) -> None:
        """Tell workers that something is due; called after the commit that made it so."""
        async with self._busy:
            try:
                connection = await self._connect()
                await connection.execute("SELECT pg_notify($1, $2)", self._channel, lane, timeout=5)
            except _LOST as error:
                self._log.warning("wake-up was lost, workers will poll", error=repr(error))
                self._forget()

    async def wait(self, timeout: float) -> None:
        """Until a wake-up or the time is over."""
        if self._connection is None or self._connection.is_closed():
            async with self._busy:
                try:
                    await self._connect()
                except _LOST as error:
                    self._log.warning("not listening, workers poll", error=repr(error))
                    self._forget()
        try:
            await asyncio.wait_for(self._woken.wait(), timeout)
        except TimeoutError:
            return
        self._woken.clear()

    async def close(self) -> None:
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
            if self._listens:
                await self._connection.add_listener(self._channel, self._heard)
                # Whatever was told while nobody listened is found by looking once.
                self._woken.set()
        return self._connection

    def _heard(self, *_: object) -> None:
        self._woken.set()

    def _forget(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None
