"""RQ on Redis.

The default worker, which forks for every job, as its notes on performance advise; and, as the
variant ``simple``, SimpleWorker, which they allow for very short jobs one trusts. A pool has the
asked number of workers; a backlog goes in by `enqueue_many`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from redis import Redis
from rq import Queue

from benchmarks.peers.marks import mark
from benchmarks.peers.shape import Peer, by_threads, program, redis_url

_BULK = 500


def work(number: int) -> None:
    mark(number)


def _queue() -> Queue:
    return Queue(connection=Redis.from_url(redis_url()))


@dataclass
class _Rq:
    worker_class: str
    queue: Queue = field(default_factory=_queue)

    def prepare(self) -> None:
        self.queue.connection.flushall()

    def enqueue(self, numbers: Sequence[int]) -> None:
        for start in range(0, len(numbers), _BULK):
            part = numbers[start : start + _BULK]
            self.queue.enqueue_many([Queue.prepare_data(work, (number,)) for number in part])

    def send(self, numbers: Sequence[int], clients: int) -> None:
        by_threads(lambda number: self.queue.enqueue(work, number), numbers, clients)

    def workers(self, processes: int) -> list[list[str]]:
        return [[
            program("rq"), "worker-pool", "-n", str(processes), "-w", self.worker_class,
            "-u", redis_url(), "-q",
        ]]  # fmt: skip

    def is_drained(self) -> bool:
        return not self.queue.count and not self.queue.started_job_registry.get_job_count(False)


def peer(variant: str) -> Peer:
    return _Rq("rq.SimpleWorker" if variant == "simple" else "rq.Worker")
