"""How many requests of a kind may run at once: per caller, per org and in this process.

A caller or an org that is at its bound waits in a queue of its own, in memory and for a limited
time. Queues are served in turn, so that a long queue of one org does not delay others.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import Hashable
from dataclasses import dataclass

from penstock.model.errors import RateLimited, Unavailable

_RETRY_MS = 2000


@dataclass(frozen=True, slots=True)
class Work:
    """A kind of work and its bounds. ``per_org`` is below ``total``, so that one org cannot hold
    every place."""

    name: str
    per_caller: int
    per_org: int
    total: int
    # Requests of one org that may wait for a place, and how long each of them does.
    waiting_per_org: int = 0
    wait_s: float = 20.0

    def __post_init__(self) -> None:
        if not 0 < self.per_caller <= self.per_org < self.total:
            raise ValueError(f"{self.name}: needs 0 < per caller <= per org < total")


class Turn:
    """A place that is held until `release`, which may be called twice."""

    __slots__ = ("_caller", "_line", "_org")

    def __init__(self, line: _WorkQueue, caller: Hashable, org: Hashable) -> None:
        self._line: _WorkQueue | None = line
        self._caller = caller
        self._org = org

    def release(self) -> None:
        line, self._line = self._line, None
        if line is not None:
            line.leave(self._caller, self._org)


class ConcurrencyGate:
    """One queue per kind of work."""

    def __init__(self) -> None:
        self._queues: dict[str, _WorkQueue] = {}

    async def enter(self, work: Work, caller: Hashable, org: Hashable) -> Turn:
        """Wait for a place. TOO_MANY_AT_ONCE where the caller's org has too much under way already,
        SERVER_BUSY where the whole process has."""
        line = self._queue_of(work)
        await line.enter(caller, org)
        return Turn(line, caller, org)

    def running(self) -> dict[str, int]:
        """How many hold a place, by the name of the work."""
        return {name: line.total for name, line in self._queues.items()}

    def refused(self) -> dict[str, int]:
        """How many were refused since the start, by the name of the work."""
        return {name: line.refused for name, line in self._queues.items()}

    def _queue_of(self, work: Work) -> _WorkQueue:
        line = self._queues.get(work.name)
        if line is None:
            line = self._queues[work.name] = _WorkQueue(work)
        return line


class _WorkQueue:
    def __init__(self, work: Work) -> None:
        self._work = work
        self._by_caller: Counter[Hashable] = Counter()
        self._by_org: Counter[Hashable] = Counter()
        self._waiting: OrderedDict[Hashable, deque[tuple[Hashable, asyncio.Future[None]]]]
        self._waiting = OrderedDict()
        self.total = 0
        self.refused = 0

    async def enter(self, caller: Hashable, org: Hashable) -> None:
        if self._fits(caller, org):
            self._take(caller, org)
            return
        queue = self._waiting.get(org, ())
        if len(queue) >= self._work.waiting_per_org:
            raise self._refusal(caller, org)
        place = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(org, deque()).append((caller, place))
        try:
            async with asyncio.timeout(self._work.wait_s):
                await place
        except TimeoutError:
            self._forget(caller, org, place)
            raise self._refusal(caller, org) from None
        except asyncio.CancelledError:
            self._forget(caller, org, place)
            raise

    def leave(self, caller: Hashable, org: Hashable) -> None:
        self.total -= 1
        for counts, name in ((self._by_caller, caller), (self._by_org, org)):
            counts[name] -= 1
            if not counts[name]:
                del counts[name]
        self._admit()

    def _fits(self, caller: Hashable, org: Hashable) -> bool:
        work = self._work
        return (
            self.total < work.total
            and self._by_org[org] < work.per_org
            and self._by_caller[caller] < work.per_caller
        )

    def _take(self, caller: Hashable, org: Hashable) -> None:
        self.total += 1
        self._by_caller[caller] += 1
        self._by_org[org] += 1

    def _admit(self) -> None:
        """Give free places to waiting requests, one org after the other."""
        for org in list(self._waiting):
            if self.total >= self._work.total:
                return
            queue = self._waiting[org]
            for caller, place in queue:
                if not place.done() and self._fits(caller, org):
                    queue.remove((caller, place))
                    self._take(caller, org)
                    place.set_result(None)
                    # The other orgs are served before the next request of this one.
                    self._waiting.move_to_end(org)
                    break
            if not queue:
                del self._waiting[org]

    def _forget(self, caller: Hashable, org: Hashable, place: asyncio.Future[None]) -> None:
        """The wait was cancelled or timed out, perhaps at the moment when the place was given."""
        if place.done() and not place.cancelled():
            self.leave(caller, org)
            return
        queue = self._waiting.get(org)
        if queue is not None:
            queue.remove((caller, place))
            if not queue:
                del self._waiting[org]

    def _refusal(self, caller: Hashable, org: Hashable) -> RateLimited | Unavailable:
        self.refused += 1
        work = self._work
        mine, ours = self._by_caller[caller], self._by_org[org]
        if mine >= work.per_caller or ours >= work.per_org:
            whose = f"you have {mine}" if mine >= work.per_caller else f"your org has {ours}"
            return RateLimited(
                "TOO_MANY_AT_ONCE",
                f"Too much at once: {whose} of the kind `{work.name}` under way. Wait until one of"
                " them has ended.",
                retry_after_ms=_RETRY_MS, work=work.name, perUser=work.per_caller,
                perOrg=work.per_org,
            )  # fmt: skip
        return Unavailable(
            "SERVER_BUSY",
            f"This server is busy with requests of the kind `{work.name}`. Try again.",
            retry_after_ms=_RETRY_MS, work=work.name,
        )  # fmt: skip
