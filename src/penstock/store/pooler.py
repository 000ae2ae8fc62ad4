"""Connection poolers in front of PostgreSQL, such as PgBouncer.

A pooler in transaction mode gives each transaction to any of its server sessions, so that what one
client sets for its session holds for the next client's transactions. A tenant's scope set that way
would show another tenant's rows. `PerStatement` and the preludes set everything for one transaction
only; `require_sessions` finds such a pooler where sessions are relied on, and refuses it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import asyncpg

from penstock.model.errors import PermanentError, Unavailable

if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record]

_ROUNDS = 6
_PATIENCE_S = 5.0
_CONNECT_S = 10
_WHO = "SELECT pg_backend_pid(), current_setting('penstock.probe', true)"
_WHERE = "SELECT current_database(), pg_postmaster_start_time()"
# Errors of a pooler for parameters it cannot pass on and for transactions it does not allow.
_REFUSALS = ("unsupported startup parameter", "transaction blocks not allowed")


def local_settings(settings: Mapping[str, str]) -> str:
    """The statement that makes settings hold until the end of the transaction."""
    parts = (f"set_config('{name}', '{value}', true)" for name, value in settings.items())
    return "SELECT " + ", ".join(parts)


class PerStatement:
    """A connection for reading through a pooler: each statement is a transaction of its own, which
    first says whose rows it may see. Nothing is held between statements."""

    def __init__(self, connection: Any, prelude: str) -> None:
        self._connection = connection
        self._begin = f"BEGIN READ ONLY; {prelude}"

    async def fetch(self, query: str, *args: Any, **options: Any) -> Any:
        return await self._run("fetch", query, args, options)

    async def fetchrow(self, query: str, *args: Any, **options: Any) -> Any:
        return await self._run("fetchrow", query, args, options)

    async def fetchval(self, query: str, *args: Any, **options: Any) -> Any:
        return await self._run("fetchval", query, args, options)

    async def execute(self, query: str, *args: Any, **options: Any) -> Any:
        return await self._run("execute", query, args, options)

    async def _run(
        self, method: str, query: str, args: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        try:
            await self._connection.execute(self._begin)
            found = await getattr(self._connection, method)(query, *args, **options)
            await self._connection.execute("COMMIT")
            return found
        except asyncpg.PostgresError:
            if not self._connection.is_closed():
                await self._connection.execute("ROLLBACK")
            raise
        except BaseException:
            # In the middle of something: the pooler ends the transaction with the connection.
            self._connection.terminate()
            raise


async def require_sessions(dsn: str, setting: str) -> None:
    """Refuse an address behind which sessions are shared. ``setting`` is its name."""
    async with AsyncExitStack() as stack:
        try:
            first, second = [await _connect(dsn, mark, stack) for mark in ("a", "b")]
            shared = await _share_sessions(first, second)
            kept = (await _backend(first))[1] == "a"
        except asyncpg.PostgresError as error:
            if any(text in str(error) for text in _REFUSALS):
                raise _shared(setting) from error
            raise
    if shared or not kept:
        raise _shared(setting)


async def _connect(dsn: str, mark: str, stack: AsyncExitStack) -> Connection:
    """Connect, waiting while the server starts."""
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            connection = await asyncpg.connect(
                dsn, timeout=_CONNECT_S, statement_cache_size=0,
                server_settings={"penstock.probe": mark},
            )  # fmt: skip
        except (OSError, asyncpg.CannotConnectNowError, asyncpg.TooManyConnectionsError) as error:
            if time.monotonic() > deadline:
                raise Unavailable(
                    "DB_UNAVAILABLE", f"PostgreSQL did not answer for {_PATIENCE_S:.0f} s: {error}"
                ) from error
            await asyncio.sleep(0.2)
            continue
        stack.callback(connection.terminate)
        return connection


async def _share_sessions(first: Connection, second: Connection) -> bool:
    """Whether a pooler shares sessions: then two open connections may have the same session, or one
    may change it. Tested one after the other and concurrently."""
    seen: dict[int, set[int]] = {0: set(), 1: set()}
    for turn in range(_ROUNDS):
        if turn % 2:
            found = list(await asyncio.gather(_backend(first), _backend(second)))
        else:
            found = [await _backend(first), await _backend(second)]
        for number, (pid, _) in enumerate(found):
            seen[number].add(pid)
    return bool(seen[0] & seen[1]) or len(seen[0]) > 1 or len(seen[1]) > 1


async def _backend(connection: Connection) -> tuple[int, str | None]:
    """The session's id, and whether it has the setting of its connection. In a transaction, since
    outside of one two statements may reach two sessions."""
    async with connection.transaction():
        row = await connection.fetchrow(_WHO)
        assert row is not None
        return row[0], row[1]


async def require_same_server(pooled_dsn: str, direct_dsn: str) -> None:
    """Both addresses must lead to the same database."""
    seen = []
    for dsn in (pooled_dsn, direct_dsn):
        connection = await asyncpg.connect(dsn, timeout=_CONNECT_S, statement_cache_size=0)
        try:
            async with connection.transaction():
                seen.append(tuple(await connection.fetchrow(_WHERE) or ()))
        finally:
            connection.terminate()
    if seen[0] != seen[1]:
        raise PermanentError(
            "DATABASE_POOLER",
            "PENSTOCK_DATABASE_URL and PENSTOCK_DATABASE_DIRECT_URL lead to different databases.",
        )


def _shared(setting: str) -> PermanentError:
    hint = (
        "Set PENSTOCK_DATABASE_POOLER=transaction and PENSTOCK_DATABASE_DIRECT_URL to an address"
        " without a pooler, or connect directly."
        if setting == "PENSTOCK_DATABASE_URL"
        else "It must lead to PostgreSQL itself."
    )
    return PermanentError(
        "DATABASE_POOLER",
        f"Behind {setting} is a pooler that shares sessions between connections, or drops their"
        f" settings (PgBouncer or alike). Rows of one org could be shown to another. {hint}",
    )
