"""What a measurement asks of a queue."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from threading import Thread
from typing import Protocol

REDIS_URL = "PENSTOCK_BENCH_REDIS"
POSTGRES_DSN = "PENSTOCK_BENCH_POSTGRES"


class Peer(Protocol):
    """Jobs are numbers: the handler marks its own and does nothing else."""

    def prepare(self) -> None:
        """An empty queue, with the tables it needs."""

    def enqueue(self, numbers: Sequence[int]) -> None:
        """A backlog: in bulk where the queue offers that."""

    def send(self, numbers: Sequence[int], clients: int) -> None:
        """One by one, by so many clients of this process at a time."""

    def workers(self, processes: int) -> list[list[str]]:
        """The commands that start them."""

    def is_drained(self) -> bool:
        """Nothing waits, runs or has still to be acknowledged, as its own store says."""


def redis_url() -> str:
    return os.environ[REDIS_URL]


def postgres_dsn() -> str:
    return os.environ[POSTGRES_DSN]


def program(name: str) -> str:
    """A command of this environment."""
    return str(Path(sys.executable).parent / name)


def by_threads(send: Callable[[int], object], numbers: Sequence[int], clients: int) -> None:
    if clients == 1:
        for number in numbers:
            send(number)
        return
    left = _Shared(numbers)

    def client() -> None:
        for number in left:
            send(number)

    threads = [Thread(target=client) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


async def by_tasks(
    send: Callable[[int], Awaitable[object]], numbers: Sequence[int], clients: int
) -> None:
    left = _Shared(numbers)

    async def client() -> None:
        for number in left:
            await send(number)

    await asyncio.gather(*(client() for _ in range(clients)))


class _Shared:
    """An iterator several clients may take from; one of a list may, a generator may not."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self._left = iter(list(numbers))

    def __iter__(self) -> Iterator[int]:
        return self._left
