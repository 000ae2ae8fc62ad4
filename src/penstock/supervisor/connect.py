"""Connect to a running database server, started by any process: for all commands but `up`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Self

import asyncpg

from penstock.supervisor.errors import AlreadyRunning, StartFailed
from penstock.supervisor.lock import UseLock
from penstock.supervisor.postgres import EmbeddedPostgres

_WAIT_S = 60.0
_PAUSE_S = 0.05


class RunningPostgres:
    """Close it at the end; only the process that started the server stops it."""

    def __init__(self, server: EmbeddedPostgres, use: UseLock, *, owned: bool) -> None:
        self.server = server
        self.owned = owned
        self.owner_dsn = server.owner_dsn
        self.api_dsn = server.api_dsn
        self._use = use

    async def close(self, linger_s: float = 60.0) -> None:
        """The owner of the server first waits, for a limited time, for commands that use it."""
        try:
            if self.owned:
                deadline = monotonic() + linger_s
                while not self._use.exclude_others() and monotonic() < deadline:
                    await asyncio.sleep(_PAUSE_S)
        finally:
            if self.owned:
                await self.server.stop()
            self._use.release()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


async def connect_or_start(data_dir: Path, wait_s: float = _WAIT_S) -> RunningPostgres:
    """Try the lock first: a server that answers while its lock is free is about to stop."""
    server = EmbeddedPostgres(data_dir)
    use = UseLock(server.data_dir / "pg.users")
    deadline = monotonic() + wait_s
    while True:
        try:
            await server.start()
            return RunningPostgres(server, use, owned=True)
        except AlreadyRunning as held:
            if use.share() and await _answers(server):
                return RunningPostgres(server, use, owned=False)
            use.release()
            if monotonic() > deadline:
                raise StartFailed(
                    f"{held} Its PostgreSQL has not answered for {wait_s:.0f} s; see {server.log}."
                ) from held
        await asyncio.sleep(_PAUSE_S)


async def _answers(server: EmbeddedPostgres) -> bool:
    try:
        connection = await asyncpg.connect(server.owner_dsn, timeout=5)
    except (StartFailed, OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
        return False
    try:
        return bool(await connection.fetchval("SELECT 1") == 1)
    finally:
        await connection.close()
