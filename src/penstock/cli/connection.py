"""Penstock as commands use it: through the API, wherever that is. `PENSTOCK_URL` names a server.
Without it the one that serves this data folder is asked; where none runs, the command serves the
API to itself, over a private socket, in the name of the local admin."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from penstock.client import ApiError, AsyncClient, Patience, Unreachable
from penstock.settings import Settings
from penstock.supervisor.published import read_address

if TYPE_CHECKING:
    from penstock.engine.runtime import Runtime
    from penstock.store.database import Database

_PAGE = 200
_LOOK_S = 0.25


@dataclass(frozen=True)
class Penstock:
    """``here`` is the engine if the command itself serves: no other process may run. ``url`` is
    the address of a running server."""

    client: AsyncClient
    place: str
    here: Runtime | None
    url: str | None = None

    async def get(self, path: str, **params: Any) -> Any:
        return await self.client.call("GET", path, params=params)

    async def post(self, path: str, body: Any = None, **params: Any) -> Any:
        return await self.client.call("POST", path, params=params, body=body)

    async def first(self, path: str, limit: int, **filters: Any) -> list[dict[str, Any]]:
        """The first items of a list."""
        numbered = count(1)
        found: list[dict[str, Any]] = []
        async for one in self.client.listed(path, page_size=min(limit, _PAGE), **filters):
            found.append(one)
            if next(numbered) == limit:
                break
        return found

    async def to_the_end(self, operation_id: str) -> Any:
        """Wait for the end of a background operation. If this is interrupted, the workers continue
        the operation."""
        leading = None
        if self.here is not None:
            from penstock.engine.services.leader import Leader

            leading = asyncio.create_task(Leader(self.here, "penstock cli").run())
        try:
            while True:
                operation = await self.get(f"/api/bulk/{operation_id}")
                if operation["state"] in ("done", "aborted", "failed"):
                    return operation
                await asyncio.sleep(_LOOK_S)
        finally:
            if leading is not None:
                leading.cancel()
                await asyncio.gather(leading, return_exceptions=True)


@asynccontextmanager
async def connected() -> AsyncIterator[Penstock]:
    settings = Settings()
    if settings.url is not None:
        key = None if settings.key is None else settings.key.get_secret_value()
        async with AsyncClient(settings.url, key) as client:
            yield Penstock(client, settings.url, None, settings.url)
        return
    running = await _running_server(settings)
    if running is not None:
        async with running as client:
            url = read_address(settings.data_dir)
            yield Penstock(client, str(settings.data_dir), None, url)
        return
    async with _served_here(settings) as penstock:
        yield penstock


async def _running_server(settings: Settings) -> AsyncClient | None:
    """The API of this data folder, if one runs and takes the key that lies there. It is much
    quicker to ask than to load everything that it consists of."""
    url = None if settings.database_url else read_address(settings.data_dir)
    if url is None or not settings.admin_key_file.exists():
        return None
    key = settings.admin_key_file.read_text().strip()
    client = AsyncClient(url, key, patience=Patience(tries=1))
    try:
        await client.call("GET", "/api/jobs", params={"page_size": 1})
    except (ApiError, Unreachable):
        await client.close()
        return None
    return client


@asynccontextmanager
async def _served_here(settings: Settings) -> AsyncIterator[Penstock]:
    import httpx2

    from penstock import wiring
    from penstock.cli.local_session import opened, quiet_logs

    quiet_logs()
    place = "the database" if settings.database_url else str(settings.data_dir)
    async with (
        opened(settings) as session,
        wiring.open_runtime(
            settings, session.addresses.owner_dsn, name="cli", listens=False
        ) as runtime,
        _open(wiring.api_database(settings, session.addresses.api_dsn)) as api_db,
    ):
        with TemporaryDirectory(prefix="penstock-") as folder:
            path = Path(folder, "api")
            async with _server(await _local_app(runtime, api_db), path):
                transport = httpx2.AsyncHTTPTransport(uds=str(path))
                async with AsyncClient("http://penstock", transport=transport) as client:
                    yield Penstock(client, place, runtime)


@asynccontextmanager
async def _open(database: Database) -> AsyncIterator[Database]:
    await database.open()
    try:
        yield database
    finally:
        await database.close()


async def _local_app(runtime: Runtime, api_db: Database) -> Any:
    """Who can read the data folder is an admin: no key is asked for on a socket of theirs alone."""
    from penstock.api.app import create_app
    from penstock.api.http.access import principal
    from penstock.cli.local_session import local_admin

    async with runtime.db.transaction() as conn:
        who = await local_admin(conn)
    app = create_app(runtime, api_db)
    app.dependency_overrides[principal] = lambda: who
    return app


@asynccontextmanager
async def _server(app: Any, path: Path) -> AsyncIterator[None]:
    import uvicorn

    config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off")
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        await server.startup(sockets=[listener])
        try:
            yield
        finally:
            await server.shutdown(sockets=[listener])
