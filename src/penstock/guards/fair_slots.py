"""A bounded number of slots, shared fairly by their owners."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager


class FairSlots:
    """Like a semaphore, but a free slot goes to the waiting owner that holds the fewest, and one
    owner never holds all of several slots. Work without an owner is bounded by ``slots`` alone.

    For work that was accepted and may wait; `concurrency.ConcurrencyGate` refuses requests."""

    def __init__(self, slots: int, per_owner: int | None = None) -> None:
        self._free = slots
        self._per_owner = max(1, slots - 1) if per_owner is None else per_owner
        self._held: Counter[Hashable] = Counter()
        self._waiting: list[tuple[Hashable, asyncio.Future[None]]] = []

    @asynccontextmanager
    async def slot(self, owner: Hashable = None) -> AsyncIterator[None]:
        await self._acquire(owner)
        try:
            yield
        finally:
            self._release(owner)

    async def _acquire(self, owner: Hashable) -> None:
        granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        entry = (owner, granted)
        self._waiting.append(entry)
        self._grant()
        try:
            await granted
        except asyncio.CancelledError:
            if entry in self._waiting:
                self._waiting.remove(entry)
            else:
                # The slot was granted at the moment of the cancellation.
                self._release(owner)
            raise

    def _release(self, owner: Hashable) -> None:
        self._free += 1
        self._held[owner] -= 1
        if not self._held[owner]:
            del self._held[owner]
        self._grant()

    def _grant(self) -> None:
        while self._free:
            # A wait that was just cancelled stays in the list until its task runs again.
            allowed = [
                entry for entry in self._waiting if not entry[1].done() and self._allows(entry[0])
            ]
            if not allowed:
                return
            chosen = min(allowed, key=lambda entry: self._held[entry[0]])
            self._waiting.remove(chosen)
            self._free -= 1
            self._held[chosen[0]] += 1
            chosen[1].set_result(None)

    def _allows(self, owner: Hashable) -> bool:
        return owner is None or self._held[owner] < self._per_owner
