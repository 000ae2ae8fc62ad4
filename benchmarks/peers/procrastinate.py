"""Procrastinate on PostgreSQL.

Asynchronous tasks, thirty at a time per worker, as in its guide on concurrency; done jobs stay in
their table, its default. A backlog goes in by `batch_defer`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import psycopg
from procrastinate import App, PsycopgConnector

from benchmarks.peers.marks import mark
from benchmarks.peers.shape import Peer, by_tasks, postgres_dsn, program

_BULK = 1000
_AT_ONCE = 30
_OPEN = "SELECT 1 FROM procrastinate_jobs WHERE status IN ('todo', 'doing') LIMIT 1"

app = App(
    connector=PsycopgConnector(conninfo=postgres_dsn(), min_size=1, max_size=_AT_ONCE + 2),
    import_paths=["benchmarks.peers.procrastinate"],
)


@app.task(name="work")
async def work(number: int) -> None:
    mark(number)


class _Procrastinate:
    def __init__(self) -> None:
        self._loop = asyncio.Runner()
        self._conn = psycopg.connect(postgres_dsn(), autocommit=True)

    def prepare(self) -> None:
        self._conn.execute("DROP SCHEMA public CASCADE")
        self._conn.execute("CREATE SCHEMA public")
        self._loop.run(self._open())

    async def _open(self) -> None:
        await app.open_async()
        await app.schema_manager.apply_schema_async()

    def enqueue(self, numbers: Sequence[int]) -> None:
        for start in range(0, len(numbers), _BULK):
            part = numbers[start : start + _BULK]
            self._loop.run(work.batch_defer_async(*({"number": number} for number in part)))

    def send(self, numbers: Sequence[int], clients: int) -> None:
        self._loop.run(by_tasks(lambda number: work.defer_async(number=number), numbers, clients))

    def workers(self, processes: int) -> list[list[str]]:
        return [[
            program("procrastinate"), "--app", "benchmarks.peers.procrastinate.app",
            "--log-level", "error", "worker", "--concurrency", str(_AT_ONCE),
        ]] * processes  # fmt: skip

    def is_drained(self) -> bool:
        return self._conn.execute(_OPEN).fetchone() is None


def peer(variant: str) -> Peer:
    return _Procrastinate()
