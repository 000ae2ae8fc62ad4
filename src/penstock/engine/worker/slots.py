"""The running slices of a worker, and how they are stopped."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass
from typing import Any

from penstock.engine.context import StopSign
from penstock.model.ports import Log

# Time for work whose lease was lost to stop by itself.
_GRACE_SECONDS = 5.0
_LOOK_SECONDS = 0.5
# Part of the shutdown time for finishing slices; the rest is for releasing them.
_FINISHING_SHARE = 0.8
_GIVING_BACK_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class DrainResult:
    """How running slices ended at a shutdown: finished, released, or left to expire."""

    finished: int = 0
    released: int = 0
    left: int = 0


class Slots:
    """Tasks, each with its stop sign and the share of a slot that it takes."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._stops: dict[asyncio.Task[None], StopSign] = {}
        self._shares: dict[asyncio.Task[None], float] = {}
        self.ended = 0
        self.abandoned = False

    def __len__(self) -> int:
        return len(self._stops)

    def __iter__(self) -> Iterator[asyncio.Task[None]]:
        return iter(self._stops)

    @property
    def used(self) -> float:
        """Slots that the running tasks take."""
        return sum(self._shares.values())

    def start(
        self, work: Coroutine[Any, Any, None], stop: StopSign, share: float = 1.0
    ) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._stops[task] = stop
        self._shares[task] = share
        task.add_done_callback(self._end)
        return task

    def _end(self, task: asyncio.Task[None]) -> None:
        del self._stops[task]
        del self._shares[task]
        self.ended += 1

    async def mind(self) -> None:
        """Cancel work that ignores its stop sign, to free its slot."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            now = time.monotonic()
            for task, stop in self._stops.items():
                if stop.lost and now - stop.raised_at > _GRACE_SECONDS:
                    self._log.warning("work did not stop and is cancelled", reason=stop.reason)
                    stop.raised_at = now
                    task.cancel()

    async def drain(self, seconds: float, release_now: asyncio.Event) -> DrainResult:
        """Finish or release running slices within ``seconds``; once ``release_now`` is set, release
        them at once."""
        running = set(self._stops)
        for stop in self._stops.values():
            stop.set("shutdown")
        finished = await _wait(running, _FINISHING_SHARE * seconds, release_now)
        late = running - finished
        for task in late:
            task.cancel()
        given_back = await _wait(late, (1 - _FINISHING_SHARE) * seconds + _GIVING_BACK_SECONDS)
        left = late - given_back
        if left:
            self._log.error(
                "slices could not be released; their leases will expire", slices=len(left)
            )
            # Releasing failed too; trying longer would delay the end of the process.
            self.abandoned = True
            for task in left:
                task.cancel()
        return DrainResult(len(finished), len(given_back), len(left))


async def _wait(
    tasks: set[asyncio.Task[None]], seconds: float, stop_waiting: asyncio.Event | None = None
) -> set[asyncio.Task[None]]:
    """The tasks that ended in time."""
    deadline = time.monotonic() + seconds
    stopped = asyncio.create_task(stop_waiting.wait()) if stop_waiting is not None else None
    ended: set[asyncio.Task[None]] = set()
    while ended != tasks and (left := deadline - time.monotonic()) > 0:
        waiting: set[asyncio.Task[Any]] = {*(tasks - ended)}
        if stopped is not None:
            if stopped.done():
                break
            waiting.add(stopped)
        done, _ = await asyncio.wait(waiting, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        ended |= done & tasks
    if stopped is not None:
        stopped.cancel()
    return ended
