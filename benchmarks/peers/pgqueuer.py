"""PgQueuer on PostgreSQL.

As its guide on performance says: one asyncpg connection per worker, a pool for producers, its own
settings for autovacuum, its tables with their usual durability. The variant is the batch size,
which that guide wants larger for short jobs; 10 is the default. The worker is run by `run()` on
uvloop, as `pgq run` does it: that command itself fails with the typer of these days. A backlog
goes in by `enqueue` of lists.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

import asyncpg
import uvloop
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver, AsyncpgPoolDriver
from pgqueuer.models import Job
from pgqueuer.queries import Queries

from benchmarks.peers.marks import mark
from benchmarks.peers.shape import Peer, by_tasks, postgres_dsn

_BULK = 1000
_CLIENTS = 8


async def work_on(batch: int) -> None:
    """A worker process."""
    pgq = PgQueuer(AsyncpgDriver(await asyncpg.connect(postgres_dsn())))

    @pgq.entrypoint("work")
    async def work(job: Job) -> None:
        assert job.payload is not None
        mark(int(job.payload))

    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, pgq.shutdown.set)
    await pgq.run(batch_size=batch)


@dataclass
class _PgQueuer:
    batch: int
    loop: asyncio.Runner = field(default_factory=asyncio.Runner)

    def prepare(self) -> None:
        self.loop.run(self._open())

    async def _open(self) -> None:
        self._pool = await asyncpg.create_pool(postgres_dsn(), min_size=1, max_size=_CLIENTS)
        await self._pool.execute("DROP SCHEMA public CASCADE")
        await self._pool.execute("CREATE SCHEMA public")
        self._queries = Queries(AsyncpgPoolDriver(self._pool))
        await self._queries.install()
        await self._queries.optimize_autovacuum()

    def enqueue(self, numbers: Sequence[int]) -> None:
        for start in range(0, len(numbers), _BULK):
            part = numbers[start : start + _BULK]
            payloads = [str(number).encode() for number in part]
            self.loop.run(self._queries.enqueue(["work"] * len(part), payloads, [0] * len(part)))

    def send(self, numbers: Sequence[int], clients: int) -> None:
        self.loop.run(
            by_tasks(
                lambda number: self._queries.enqueue("work", str(number).encode()),
                numbers,
                clients,
            )
        )

    def workers(self, processes: int) -> list[list[str]]:
        return [[sys.executable, "-m", "benchmarks.peers.pgqueuer", str(self.batch)]] * processes

    def is_drained(self) -> bool:
        # What is done leaves the table for the log.
        found = self.loop.run(self._pool.fetchval("SELECT 1 FROM pgqueuer LIMIT 1"))
        return found is None


def peer(variant: str) -> Peer:
    return _PgQueuer(int(variant))


if __name__ == "__main__":
    uvloop.run(work_on(int(sys.argv[1])))
