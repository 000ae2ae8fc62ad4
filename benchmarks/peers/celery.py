"""Celery on Redis.

As its optimizing guide says for many short tasks: a large prefetch multiplier, and no results
where nobody reads them. The default pool (prefork) has the asked number of processes. Celery has
no bulk enqueue; a producer pool keeps the connection.
"""

from __future__ import annotations

from collections.abc import Sequence

from celery import Celery
from redis import Redis

from benchmarks.peers.marks import mark
from benchmarks.peers.shape import Peer, by_threads, program, redis_url

app = Celery("bench", broker=redis_url())
app.conf.update(task_ignore_result=True, worker_prefetch_multiplier=128)


@app.task(name="work")
def work(number: int) -> None:
    mark(number)


class _Celery:
    def __init__(self) -> None:
        self._redis = Redis.from_url(redis_url())

    def prepare(self) -> None:
        self._redis.flushall()

    def enqueue(self, numbers: Sequence[int]) -> None:
        self.send(numbers, 1)

    def send(self, numbers: Sequence[int], clients: int) -> None:
        by_threads(work.delay, numbers, clients)

    def workers(self, processes: int) -> list[list[str]]:
        app_name = "benchmarks.peers.celery"
        return [[
            program("celery"), "-A", app_name, "worker", "-c", str(processes), "-l", "error"
        ]]  # fmt: skip

    def is_drained(self) -> bool:
        return not self._redis.llen("celery") and not self._redis.hlen("unacked")


def peer(variant: str) -> Peer:
    return _Celery()
