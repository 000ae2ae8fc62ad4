"""Real processes of Penstock over HTTP: the API beside a lab, or a whole `penstock up`."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from asyncio.subprocess import DEVNULL, Process, create_subprocess_exec
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import httpx2
import orjson

from benchmarks.lab import Bench
from penstock.settings import Settings
from penstock.store.accounts import accounts
from penstock.store.database import Database
from penstock.supervisor.postgres import EmbeddedPostgres

_PATIENCE_S = 60.0


@dataclass(frozen=True)
class Installation:
    url: str
    owner_dsn: str
    schema: str

    @asynccontextmanager
    async def database(self) -> AsyncIterator[Database]:
        db = await Database(self.owner_dsn, self.schema, name="bench", size=2).open()
        try:
            yield db
        finally:
            await db.close()


@asynccontextmanager
async def serving(bench: Bench) -> AsyncIterator[Installation]:
    """`penstock api` over the lab's schema."""
    schema = bench.db.schema
    async with _penstock("api", bench.lab.folder, {"PENSTOCK_DATABASE_SCHEMA": schema}) as url:
        yield Installation(url, bench.lab.dsn, schema)


@asynccontextmanager
async def up(data_dir: Path, workers: int) -> AsyncIterator[Installation]:
    """`penstock up` with a database of its own."""
    async with _penstock("up", data_dir, {"PENSTOCK_WORKERS": str(workers)}) as url:
        server = EmbeddedPostgres(data_dir)
        yield Installation(url, server.owner_dsn, Settings().database_schema)


@asynccontextmanager
async def _penstock(command: str, data_dir: Path, more: dict[str, str]) -> AsyncIterator[str]:
    port = _free_port()
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "PENSTOCK_DATA_DIR": str(data_dir),
        "PENSTOCK_PORT": str(port),
        "PENSTOCK_LOG_LEVEL": "warning",
        "PENSTOCK_TEST_PIPELINES": "1",
        # What is measured is how fast it can be, not how fast one caller may be.
        "PENSTOCK_REQUESTS_PER_SECOND": "0",
        **more,
    }
    async with _process(["penstock", command], env, f"http://127.0.0.1:{port}", "/health") as url:
        yield url


@asynccontextmanager
async def bare_api(bench: Bench) -> AsyncIterator[str]:
    """The least that a route can do, over the same rows."""
    port = _free_port()
    spec = orjson.dumps({"dsn": bench.lab.dsn, "schema": bench.db.schema, "port": port}).decode()
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    address = f"http://127.0.0.1:{port}"
    async with _process(["benchmarks.bare_api", spec], env, address, "/openapi.json") as url:
        yield url


@asynccontextmanager
async def _process(
    arguments: Sequence[str], env: dict[str, str], url: str, health: str
) -> AsyncIterator[str]:
    process = await create_subprocess_exec(
        sys.executable, "-m", *arguments, env=env, stdin=DEVNULL, stdout=DEVNULL
    )
    try:
        await _until_healthy(url + health, process)
        yield url
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _until_healthy(url: str, process: Process) -> None:
    async with httpx2.AsyncClient() as client, asyncio.timeout(_PATIENCE_S):
        while process.returncode is None:
            try:
                if (await client.get(url)).status_code == 200:
                    return
            except httpx2.TransportError:
                pass
            await asyncio.sleep(0.05)
    raise RuntimeError(f"{url} does not answer: its process ended with {process.returncode}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def new_org(db: Database, name: str) -> tuple[int, str]:
    """An org of the standard plan with a member; its id, and the member's key."""
    async with db.transaction() as conn:
        org = await accounts.ensure_org(conn, name)
        user = await accounts.ensure_user(conn, org.id, f"{name}@localhost", "member")
        return org.id, await accounts.create_key(conn, org.id, user.id)


class Http:
    """One keep-alive connection, spoken to by hand: a client library would cost this machine more
    than what is measured."""

    def __init__(self, url: str) -> None:
        host, _, port = url.removeprefix("http://").partition(":")
        self._host, self._port = host, int(port)
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def get(
        self, path: str, key: str, query: Sequence[tuple[str, str]] = ()
    ) -> tuple[int, bytes]:
        asked = f"?{urlencode(query)}" if query else ""
        return await self._ask("GET", path + asked, key, b"")

    async def post(self, path: str, key: str, body: object) -> tuple[int, bytes]:
        return await self._ask("POST", path, key, orjson.dumps(body))

    async def _ask(self, method: str, path: str, key: str, body: bytes) -> tuple[int, bytes]:
        if self._reader is None or self._writer is None:
            self._reader, self._writer = await asyncio.open_connection(self._host, self._port)
        head = f"{method} {path} HTTP/1.1\r\nHost: {self._host}\r\nAuthorization: Bearer {key}\r\n"
        if body:
            head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        self._writer.write(head.encode() + b"\r\n" + body)
        lines = (await self._reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
        length = next(
            int(line.split(b":")[1])
            for line in lines
            if line.lower().startswith(b"content-length:")
        )
        return int(lines[0].split()[1]), await self._reader.readexactly(length)

    async def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            await self._writer.wait_closed()
