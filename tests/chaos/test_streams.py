"""Many clients follow one job while its API is killed: each gets every event once, in bounded
memory."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

import httpx2
import pytest
from tests.api.listening import listening
from tests.chaos.api_process import ApiProcess
from tests.checker.polling import until
from tests.fixtures import Bench

from penstock.settings import Settings
from penstock.store.database import Database
from penstock.store.jobs import jobs

# A megabyte each would do; the test checks that it does not grow with the number of events.
_MOST_GROWTH_MB = 80


@pytest.fixture
def api_process(settings: Settings, owner_dsn: str, tmp_path: Path) -> Iterator[ApiProcess]:
    # All listen with one key.
    many = settings.model_copy(update={"streams_per_key": 500, "streams_per_org": 500})
    with ApiProcess(many, owner_dsn, tmp_path / "api.log") as made:
        yield made


def resident_mb(api_process: ApiProcess) -> float:
    assert api_process.process is not None
    status = Path(f"/proc/{api_process.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


@dataclass
class Listener:
    """A client that follows all events and reconnects whenever the stream breaks off."""

    numbers: list[int] = field(default_factory=list)
    connections: int = 0
    last_id: str = ""
    over: bool = False

    async def listen(self, client: httpx2.AsyncClient, job_id: UUID) -> None:
        while not self.over:
            try:
                async with listening(client, f"/api/jobs/{job_id}/events", self.last_id) as reader:
                    self.connections += 1
                    while not reader.ended and reader.last_event != "job.completed":
                        await asyncio.sleep(0.1)
                    self.numbers += reader.numbers
                    self.over = reader.last_event == "job.completed"
                    self.last_id = reader.last_id or self.last_id
            except (httpx2.HTTPError, AssertionError):
                # Refused while no API runs, or while too many clients connect at once.
                pass
            # As the stream advises, and not all at once.
            await asyncio.sleep(random.uniform(0.5, 2))


async def overheard(
    api_process: ApiProcess, bench: Bench, db: Database, *, clients: int, items: int, more: int
) -> None:
    await api_process.admits(db)
    await api_process.start()
    job_id = await bench.submit(config={"items": items})
    listeners = [Listener() for _ in range(clients)]
    limits = httpx2.Limits(max_connections=None)
    async with api_process.client(limits=limits) as client, asyncio.timeout(300):
        listening_in = [asyncio.create_task(one.listen(client, job_id)) for one in listeners]

        async def all_connected() -> bool:
            return all(one.connections for one in listeners)

        await until(all_connected, "all to listen", timeout=60)
        before = resident_mb(api_process)

        async def tell(count: int) -> None:
            for first in range(0, count, 10):
                async with db.transaction() as conn:
                    for number in range(first, first + 10):
                        await jobs.add_event(conn, job_id, "job.warning", {"n": number}, None)

        await tell(more // 2)
        grown = resident_mb(api_process) - before
        api_process.kill()
        killed = time.monotonic()
        # Events continue while no API runs.
        await tell(more // 2)
        await api_process.start()
        await bench.work(job_id)
        await asyncio.gather(*listening_in)
        took = time.monotonic() - killed
    last = (await bench.job(job_id))["seq"]
    grown = max(grown, resident_mb(api_process) - before)
    print(
        f"{clients} clients, {items} items, {last} events each: {before:.0f} MB, {grown:+.0f} MB; "
        f"{took:.1f} s from the kill to the end"
    )
    assert last >= more
    assert all(one.numbers == list(range(1, last + 1)) for one in listeners)
    assert all(one.connections >= 2 for one in listeners)
    assert grown < _MOST_GROWTH_MB


async def test_a_killed_api_costs_its_listeners_nothing(
    api_process: ApiProcess, bench: Bench, db: Database
) -> None:
    await overheard(api_process, bench, db, clients=25, items=1000, more=100)


@pytest.mark.long
@pytest.mark.timeout(400)
async def test_two_hundred_listeners_of_a_large_job(
    api_process: ApiProcess, bench: Bench, db: Database
) -> None:
    await overheard(api_process, bench, db, clients=200, items=20_000, more=1000)
