"""Connections: the engine's pool (owner) and the API's pool (row-level security)."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import asyncpg

from penstock.model.cancellation import is_cancelled
from penstock.model.errors import Unavailable
from penstock.model.text.json_text import clean as clean
from penstock.model.text.json_text import from_json as from_json
from penstock.model.text.json_text import to_json as to_json
from penstock.store.pooler import PerStatement, local_settings

# A value that was or will be JSON; for the type checker it may be anything.
Json: TypeAlias = Any

if TYPE_CHECKING:
    # asyncpg's classes are generic for the type checker only.
    Connection: TypeAlias = (
        asyncpg.Connection[asyncpg.Record] | asyncpg.pool.PoolConnectionProxy[asyncpg.Record]
    )
else:
    Connection = object


class DatabaseAway(Exception):
    """No connection: the server does not answer, or all connections are in use for too long. Not an
    OSError, so that errors of files or providers are not mistaken for it."""


# Errors of a lost or starting server. Other errors are bugs and must surface.
CONNECTION_ERRORS = (
    DatabaseAway,
    OSError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    # asyncpg's error for a connection that was terminated while idle.
    asyncpg.InternalClientError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.TooManyConnectionsError,
)
# Time to wait for a connection, new or from the pool.
_PATIENCE_S = 10.0
_SILENT_LINE_S = 20
# From so many written rows on plans are forgotten.
_PLANS_FOR_ROWS = 1000
_MAX_SESSIONS_KNOWN = 1000


@dataclass(frozen=True, slots=True)
class Scope:
    """The rows that a transaction of the API may see. Admins see all orgs. ``user_id`` limits keys,
    passwords and sessions to those of the caller."""

    org_id: int
    owner_id: int | None = None
    admin: bool = False
    user_id: int | None = None


def _set_tcp_timeouts(connection: Any) -> None:
    """Set a TCP timeout on the socket, since the driver has none: on a network that drops packets a
    query would wait for a quarter of an hour."""
    line: socket.socket = connection._transport.get_extra_info("socket")
    if line.family == socket.AF_UNIX or not hasattr(socket, "TCP_USER_TIMEOUT"):
        return
    line.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (
        (socket.TCP_KEEPIDLE, 5),
        (socket.TCP_KEEPINTVL, 5),
        (socket.TCP_KEEPCNT, 3),
        (socket.TCP_USER_TIMEOUT, _SILENT_LINE_S * 1000),
    ):
        line.setsockopt(socket.IPPROTO_TCP, option, value)


async def _skip_reset(_: Any) -> None:
    """Skip asyncpg's reset of connections, which costs a round trip: session state never outlives a
    transaction, except where `_Reader` tracks it."""


class _Reader(asyncpg.Connection):
    """A read-only session that keeps the scope it was given last, which saves round trips when the
    next request is by the same caller."""

    current_scope: Scope | None = None

    async def set_scope(self, scope: Scope) -> None:
        if self.current_scope == scope:
            return
        # The scope is unknown until the server has confirmed it.
        self.current_scope = None
        await self.execute(_as_scope(scope, lasting=True))
        self.current_scope = scope


class _Reading:
    """Read-only statements under a scope, each its own transaction."""

    __slots__ = ("_connection", "_pool", "_scope")

    def __init__(self, pool: asyncpg.Pool[asyncpg.Record], scope: Scope) -> None:
        self._pool = pool
        self._scope = scope
        self._connection: Any = None

    async def __aenter__(self) -> Connection:
        connection = await _acquire_from(self._pool)
        self._connection = connection
        reader: Any = connection
        try:
            await reader.set_scope(self._scope)
        except BaseException as error:
            await self.__aexit__(type(error), error, error.__traceback__)
            raise
        return connection

    async def __aexit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        await self._pool.release(self._connection)
        # An error of a lost connection would hide a cancellation.
        if isinstance(error, (*CONNECTION_ERRORS, asyncpg.PostgresError)) and is_cancelled():
            raise asyncio.CancelledError from error


class _PooledReading:
    """The same through a pooler: no state is kept in a session."""

    __slots__ = ("_connection", "_pool", "_prelude")

    def __init__(self, pool: asyncpg.Pool[asyncpg.Record], prelude: str) -> None:
        self._pool = pool
        self._prelude = prelude
        self._connection: Any = None

    async def __aenter__(self) -> Connection:
        self._connection = await _acquire_from(self._pool)
        reading: Any = PerStatement(self._connection, self._prelude)
        return cast(Connection, reading)

    async def __aexit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        await self._pool.release(self._connection)
        if isinstance(error, (*CONNECTION_ERRORS, asyncpg.PostgresError)) and is_cancelled():
            raise asyncio.CancelledError from error


# Opens a transaction in the caller's scope; use cases that need several open one after another.
Transaction = Callable[[], AbstractAsyncContextManager[Connection]]


class Database:
    """A connection pool. Every connection acts as ``role``; ``on_statement`` is called with the
    duration of each statement. Scoped reads use sessions of their own. ``pooled``: a pooler shares
    sessions between clients, so that role, settings and scope are set in every transaction.
    ``plans_once``: a statement has one plan for all its values."""

    def __init__(
        self,
        dsn: str,
        schema: str,
        *,
        role: str | None = None,
        name: str = "penstock",
        size: int = 10,
        on_statement: Callable[[Any], None] | None = None,
        pooled: bool = False,
        plans_once: bool = False,
    ) -> None:
        self._dsn = dsn
        self._plans_once = plans_once
        self._pooled = pooled
        self._schema = schema
        self._role = role
        self._name = name
        self._size = size
        self._on_statement = on_statement
        self._pool: asyncpg.Pool[asyncpg.Record] | None = None
        self._readers: asyncpg.Pool[asyncpg.Record] | None = None
        # Rows that this process has written, and how many there were when each session planned.
        self._written = 0
        self._planned_at: dict[int, int] = {}

    def note_written(self, rows: int) -> None:
        """Tables have grown by so many rows: plans made for half as many are forgotten."""
        self._written += rows

    @property
    def schema(self) -> str:
        return self._schema

    def _settings(self) -> dict[str, str]:
        return {
            "search_path": self._schema,
            "application_name": self._name,
            "jit": "off",
            # The engine's statements find their rows by index, whatever the values are. Otherwise
            # some would be planned for each execution, which takes longer than to execute them. A
            # plan made while a table was small must not read it whole once it has grown.
            "plan_cache_mode": "force_generic_plan" if self._plans_once else "auto",
            "enable_seqscan": "off" if self._plans_once else "on",
            # Pages walk an index in order. Before the first ANALYZE the planner expects few rows
            # per job, and would collect and sort a million of them.
            "enable_bitmapscan": "off",
            # A stopped process must not hold the claim lock for longer than a moment.
            "idle_in_transaction_session_timeout": "5s",
            # Nor may the sweeper wait for it forever, since it terminates the stopped process.
            "statement_timeout": "10s",
            "timezone": "UTC",
            # A machine that disappeared holds its locks no longer than this.
            "tcp_keepalives_idle": "5",
            "tcp_keepalives_interval": "5",
            "tcp_keepalives_count": "3",
            "tcp_user_timeout": f"{_SILENT_LINE_S * 1000}",
        }

    @property
    def _prelude(self) -> str:
        """The settings of a connection, for one transaction through a pooler."""
        settings = self._settings()
        own = {name: settings[name] for name in settings if not name.startswith(("tcp_", "app"))}
        role = "" if self._role is None else f'SET LOCAL ROLE "{self._role}"; '
        return role + local_settings(own)

    async def connect(self, timeout: float = 10) -> asyncpg.Connection[asyncpg.Record]:
        """A connection outside the pool, with a session of its own."""
        if self._pooled:
            raise RuntimeError("a pooler gives no session of one's own")
        connection = await asyncpg.connect(
            self._dsn, server_settings=self._settings(), timeout=timeout
        )
        await self._begin(connection)
        return connection

    async def _begin(self, connection: Any) -> None:
        _set_tcp_timeouts(connection)
        if self._on_statement is not None:
            connection.add_query_logger(self._on_statement)
        if self._role is not None and not self._pooled:
            await connection.execute(f'SET ROLE "{self._role}"')

    async def open(self, patience: float = 60) -> Database:
        """Open the pool, waiting while the server starts or recovers."""
        deadline = time.monotonic() + patience
        self._pool = await self._new_pool(asyncpg.Connection, {})
        # Connects on demand, at the first scoped read.
        self._readers = await self._new_pool(_Reader, {"default_transaction_read_only": "on"})
        while True:
            try:
                # The pool connects on demand: run a query to check that the server answers.
                await self._pool.fetchval("SELECT 1", timeout=10)
                return self
            except CONNECTION_ERRORS as error:
                if time.monotonic() > deadline:
                    await self.close()
                    raise Unavailable(
                        "DB_UNAVAILABLE", f"PostgreSQL did not answer for {patience:.0f} s: {error}"
                    ) from error
                await asyncio.sleep(0.2)

    async def _new_pool(
        self, kind: type[asyncpg.Connection[asyncpg.Record]], more: dict[str, str]
    ) -> asyncpg.Pool[asyncpg.Record]:
        settings, cached = self._settings() | more, 100
        if self._pooled:
            # Other parameters are refused by poolers, and prepared statements stay in a session.
            settings, cached = {"application_name": self._name}, 0
        return await asyncpg.create_pool(
            self._dsn, min_size=0, max_size=self._size, timeout=10, init=self._begin,
            reset=_skip_reset, connection_class=kind, server_settings=settings,
            max_inactive_connection_lifetime=60, statement_cache_size=cached,
        )  # fmt: skip

    async def close(self) -> None:
        pools, self._pool, self._readers = (self._pool, self._readers), None, None
        for pool in pools:
            if pool is not None:
                try:
                    async with asyncio.timeout(5):
                        await pool.close()
                except TimeoutError:
                    pool.terminate()

    @property
    def pool(self) -> asyncpg.Pool[asyncpg.Record]:
        if self._pool is None:
            raise DatabaseAway("the database is closed")
        return self._pool

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[Connection]:
        if self._pooled:
            async with self.transaction() as connection:
                yield connection
            return
        async with self._acquired() as connection:
            yield connection

    @asynccontextmanager
    async def _acquired(self) -> AsyncIterator[Connection]:
        try:
            pool = self.pool
            connection = await _acquire_from(pool)
            try:
                if self._plans_once and self._written >= _PLANS_FOR_ROWS:
                    await self._forget_old_plans(connection)
                yield connection
            finally:
                await pool.release(connection)
        except (*CONNECTION_ERRORS, asyncpg.PostgresError) as error:
            # A rollback on a lost connection fails, and would hide a cancellation.
            if is_cancelled():
                raise asyncio.CancelledError from error
            raise

    async def _forget_old_plans(self, connection: Connection) -> None:
        """In an empty table all indexes are equally good, and the plan for it is kept until the
        next ANALYZE: it may walk all products of an org for each of a file's rows."""
        session = connection.get_server_pid()
        if self._written >= 2 * self._planned_at.get(session, 0):
            await connection.execute("DISCARD PLANS")
            if len(self._planned_at) >= _MAX_SESSIONS_KNOWN:
                self._planned_at.clear()
            self._planned_at[session] = self._written

    async def fetch_many(self, query: str, *values: Any) -> Sequence[asyncpg.Record]:
        """The rows of a statement with many values, planned for the tables as they are now: while
        others fill an empty table, a kept plan would cost seconds."""
        async with self.acquire() as connection:
            if self._pooled:
                # Nothing is prepared through a pooler.
                rows: Sequence[asyncpg.Record] = await connection.fetch(query, *values)
                return rows
            statement = await connection.prepare(query)
            return await statement.fetch(*values)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Connection]:
        async with self._acquired() as connection, connection.transaction():
            if self._pooled:
                await connection.execute(self._prelude)
            yield connection

    @asynccontextmanager
    async def transaction_with(self, first: str) -> AsyncIterator[Connection]:
        """A transaction that begins with a statement without parameters, in one round trip."""
        prelude = f"{self._prelude}; " if self._pooled else ""
        async with self._acquired() as connection:
            try:
                await connection.execute(f"BEGIN; {prelude}{first}")
                yield connection
            except BaseException:
                if not connection.is_closed():
                    await connection.execute("ROLLBACK")
                raise
            await connection.execute("COMMIT")

    def scoped(
        self, scope: Scope, *, readonly: bool = False
    ) -> AbstractAsyncContextManager[Connection]:
        """A transaction under ``scope``; ``readonly``: single statements."""
        if not readonly:
            return self._writing(scope)
        if self._readers is None:
            raise DatabaseAway("the database is closed")
        if self._pooled:
            prelude = f"{self._prelude}; {_as_scope(scope, lasting=False)}"
            return _PooledReading(self._readers, prelude)
        return _Reading(self._readers, scope)

    def scoped_flat(self, scope: Scope) -> AbstractAsyncContextManager[Connection]:
        """The same in one round trip less, for writers that need no transactions inside."""
        return self.transaction_with(_as_scope(scope, lasting=False))

    @asynccontextmanager
    async def _writing(self, scope: Scope) -> AsyncIterator[Connection]:
        async with self.transaction() as connection:
            await connection.execute(_as_scope(scope, lasting=False))
            yield connection


async def _acquire_from(
    pool: asyncpg.Pool[asyncpg.Record],
) -> asyncpg.pool.PoolConnectionProxy[asyncpg.Record]:
    try:
        # The pool's own timeout would start a task for each call.
        async with asyncio.timeout(_PATIENCE_S):
            return await pool.acquire()
    except TimeoutError as error:
        raise DatabaseAway(f"no connection within {_PATIENCE_S:g} s") from error
    except OSError as error:
        raise DatabaseAway(str(error)) from error


def _as_scope(scope: Scope, *, lasting: bool) -> str:
    """SQL that sets the scope. It contains only numbers, so nothing needs quoting."""
    local = "" if lasting else "LOCAL "
    role = f"SET {local}ROLE {'penstock_admin' if scope.admin else 'penstock_api'}; "
    ids = {"org": scope.org_id, "owner": scope.owner_id, "user": scope.user_id}
    return f"{role}SELECT " + ", ".join(
        f"set_config('penstock.{name}', '{'' if one is None else int(one)}', {not lasting})"
        for name, one in ids.items()
    )
