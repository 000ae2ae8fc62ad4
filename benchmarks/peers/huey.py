"""Huey on Redis.

Worker processes (`-k process`), as its guide says where they are to use several cores; blocking
reads, its default. A task that returns nothing stores nothing. Huey has no bulk enqueue.
"""

from __future__ import annotations

from collections.abc import Sequence

from huey import RedisHuey

from benchmarks.peers.marks import mark
from benchmarks.peers.shape import Peer, by_threads, program, redis_url

huey = RedisHuey("bench", url=redis_url())


@huey.task()
def work(number: int) -> None:
    mark(number)


class _Huey:
    def prepare(self) -> None:
        huey.storage.conn.flushall()

    def enqueue(self, numbers: Sequence[int]) -> None:
        self.send(numbers, 1)

    def send(self, numbers: Sequence[int], clients: int) -> None:
        by_threads(work, numbers, clients)

    def workers(self, processes: int) -> list[list[str]]:
        return [[
            program("huey_consumer"), "benchmarks.peers.huey.huey",
            "-k", "process", "-w", str(processes), "-q",
        ]]  # fmt: skip

    def is_drained(self) -> bool:
        # Huey takes a task off its list before it runs it, and knows no acknowledgement.
        return not huey.storage.queue_size()


def peer(variant: str) -> Peer:
    return _Huey()
