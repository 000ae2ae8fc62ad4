"""A source that answers slowly does not delay what others have answered."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit
from uuid import UUID

import pytest
from tests.fixtures import Bench
from tests.research.support import ENDED, Researcher
from tests.sources.support import configs_of

from penstock.providers.sandbox.server import Sandbox

pytestmark = pytest.mark.slow
_SLOW = 5.0


@asynccontextmanager
async def delayed(port: int, seconds: float) -> AsyncIterator[int]:
    """A port that passes connections on after some seconds."""

    async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
        writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(seconds)
        behind, into = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(pipe(reader, into), pipe(behind, writer))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def _stages(bench: Bench, *jobs: UUID) -> dict[str, list[int]]:
    """The stages of the items that ask sources, by source."""
    found: dict[str, list[int]] = {}
    for job in jobs:
        for item in await bench.items(job, "key LIKE 'source:%'"):
            found.setdefault(item["key"], []).append(item["stage"])
    return found


async def _have_passed_the_call(bench: Bench, jobs: list[UUID]) -> bool:
    """Whether the answers of the fast sources wait for the store, behind the call."""
    stages = await _stages(bench, *jobs)
    fast = [one for name in ("xml", "csv") for one in stages.get(f"source:sandbox-{name}", [])]
    return len(fast) == 2 * len(jobs) and min(fast) >= 4


@pytest.mark.parametrize("requests", [1, 4])
async def test_answers_are_settled_while_another_source_is_slow(
    research: Researcher, sandbox: Sandbox, bench: Bench, requests: int
) -> None:
    await research.add_sources("xml", "csv")
    address = urlsplit(configs_of(sandbox)["json"]["url"])
    assert address.port is not None
    async with delayed(address.port, _SLOW) as port:
        url = address._replace(netloc=f"127.0.0.1:{port}").geturl()
        await research.add_sources("json", url=url)
        jobs = [await research.ask(query) for query in ("Mug", "Lamp", "Chair", "Table")[:requests]]
        began = time.monotonic()
        async with asyncio.timeout(40), bench.worker() as worker:
            running = asyncio.create_task(worker.run())
            try:
                while not await _have_passed_the_call(bench, jobs):
                    await asyncio.sleep(0.05)
                settled_after = time.monotonic() - began
                slow = (await _stages(bench, *jobs))["source:sandbox-json"]
                while not all([(await bench.job(one))["state"] in ENDED for one in jobs]):
                    await asyncio.sleep(0.1)
            finally:
                worker.stop()
                await running
    assert slow == [1] * requests
    # About 0.3 s on a free machine.
    assert settled_after < _SLOW - 1.5
    for job in jobs:
        summary = await research.summary(job)
        assert {name: one["failed"] for name, one in summary["sources"].items()} == dict.fromkeys(
            ("sandbox-json", "sandbox-xml", "sandbox-csv")
        )
        assert all(one["calls"] == 1 for one in summary["sources"].values())
    assert sandbox.stats.total.repeated == 0
