"""Dramatiq on Redis.

Its defaults: eight threads per process, two messages per thread ahead. Dramatiq has no bulk
enqueue.
"""

from __future__ import annotations

from collections.abc import Sequence

import dramatiq
from dramatiq.brokers.redis import RedisBroker
from redis import Redis

from benchmarks.peers.marks import mark
from benchmarks.peers.shape import Peer, by_threads, program, redis_url

dramatiq.set_broker(RedisBroker(url=redis_url()))


@dramatiq.actor
def work(number: int) -> None:
    mark(number)


class _Dramatiq:
    def __init__(self) -> None:
        self._redis = Redis.from_url(redis_url())

    def prepare(self) -> None:
        self._redis.flushall()

    def enqueue(self, numbers: Sequence[int]) -> None:
        self.send(numbers, 1)

    def send(self, numbers: Sequence[int], clients: int) -> None:
        by_threads(work.send, numbers, clients)

    def workers(self, processes: int) -> list[list[str]]:
        return [[program("dramatiq"), "benchmarks.peers.dramatiq", "-p", str(processes)]]

    def is_drained(self) -> bool:
        # A message is deleted from the hash when it is acknowledged.
        return not self._redis.hlen("dramatiq:default.msgs")


def peer(variant: str) -> Peer:
    return _Dramatiq()
