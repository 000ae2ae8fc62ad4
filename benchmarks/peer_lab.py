"""The peers beside us: their servers, and one measurement of one of them."""

from __future__ import annotations

import asyncio
import json
import os
from asyncio.subprocess import PIPE, create_subprocess_exec
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg

from benchmarks.lab import Lab
from benchmarks.peers import System
from benchmarks.peers.install import PYTHON, ensure_environment, ensure_redis
from benchmarks.peers.marks import ENVIRONMENT
from benchmarks.peers.shape import POSTGRES_DSN, REDIS_URL
from benchmarks.redis_server import open_redis

_DATABASE = "peers"
_PATIENCE_S = 300.0
_ROOT = Path(__file__).parent.parent


class NotMeasured(Exception):
    """Why a peer has no figures."""


@dataclass(frozen=True)
class PeerLab:
    lab: Lab
    addresses: dict[str, str]
    missing: dict[str, str]
    no_redis: str

    def reason(self, system: System) -> str:
        """Why it cannot be measured; empty if it can."""
        if system.module in self.missing:
            return f"not installed: {self.missing[system.module]}"
        if self.no_redis and system.store == "Redis":
            return self.no_redis
        return ""

    async def measure(self, system: System, *, jobs: int, live: int, samples: int) -> Any:
        spec = {
            "module": system.module, "variant": system.variant,
            "jobs": jobs, "live": live, "samples": samples,
        }  # fmt: skip
        marks = str(self.lab.folder / "marks")
        env = {**os.environ, **self.addresses, ENVIRONMENT: marks, "PYTHONPATH": str(_ROOT)}
        await self.lab.checkpoint()
        process = await create_subprocess_exec(
            str(PYTHON), "-m", "benchmarks.peers.drive", json.dumps(spec),
            stdout=PIPE, stderr=PIPE, env=env,
        )  # fmt: skip
        try:
            async with asyncio.timeout(_PATIENCE_S):
                said, errors = await process.communicate()
        except TimeoutError:
            process.terminate()
            await process.wait()
            raise NotMeasured(f"gave up after {_PATIENCE_S:.0f} s") from None
        if process.returncode != 0:
            raise NotMeasured(_last_words(errors.decode(errors="replace")))
        return json.loads(said)


def _last_words(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "it ended without a word"


@asynccontextmanager
async def open_peers(lab: Lab) -> AsyncIterator[PeerLab]:
    """A database in our own server, and a Redis if there is one."""
    missing = await asyncio.to_thread(ensure_environment)
    no_redis = await asyncio.to_thread(ensure_redis)
    async with AsyncExitStack() as stack:
        addresses = {POSTGRES_DSN: await peer_database(lab)}
        if not no_redis:
            addresses[REDIS_URL] = await stack.enter_async_context(open_redis(lab.folder / "redis"))
        yield PeerLab(lab, addresses, missing, no_redis)


async def peer_database(lab: Lab) -> str:
    conn = await asyncpg.connect(lab.superuser_dsn)
    try:
        await conn.execute(f"DROP DATABASE IF EXISTS {_DATABASE} WITH (FORCE)")
        await conn.execute(f"CREATE DATABASE {_DATABASE}")
    finally:
        await conn.close()
    return lab.superuser_dsn.replace("/postgres?", f"/{_DATABASE}?")
