"""Items that are settled as they end: a slow server delays no answer of another."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace

from penstock.engine.claim import Claim
from penstock.engine.context import StopSign
from penstock.engine.run import ClaimOutcomes, run_items
from penstock.engine.runtime import Runtime
from penstock.store.jobs.claims import ClaimedItem

# Items that end within this time are settled together.
_GATHER_SECONDS = 0.03

# Settles a piece of the claim, the last of its leases or not; False if the lease was lost.
SettlePiece = Callable[[Claim, ClaimOutcomes, bool], Awaitable[bool]]


class SettleEach:
    """Runs each item of a claim on its own and settles it when it ends, together with those that
    end at nearly the same time. ``left`` is what has not been settled."""

    def __init__(self, runtime: Runtime, claimed: Claim, stop: StopSign, at_once: int) -> None:
        self._runtime = runtime
        self._claim = claimed
        self._stop = stop
        self._limit = asyncio.Semaphore(at_once)
        self._since = claimed.claimed_at
        self.left = claimed

    async def run(self, deadline: float, settle: SettlePiece) -> None:
        """No item starts after the deadline; those are released."""
        running = {
            asyncio.create_task(self._run_one(item, deadline)): item for item in self._claim.items
        }
        try:
            while running:
                await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                await asyncio.sleep(_GATHER_SECONDS)
                ended = {item: task for task, item in running.items() if task.done()}
                outcomes = {item: task.result() for item, task in ended.items()}
                if not await self._settle(outcomes, settle):
                    return
                running = {task: item for task, item in running.items() if item not in ended}
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def _run_one(self, item: ClaimedItem, deadline: float) -> ClaimOutcomes:
        async with self._limit:
            alone = replace(self._claim, items=[item])
            return await run_items(self._runtime, alone, self._stop, deadline - time.monotonic())

    async def _settle(self, ended: dict[ClaimedItem, ClaimOutcomes], settle: SettlePiece) -> bool:
        """Leases without an open item are settled in one piece, and end with it. Of the others,
        each is a piece of its own, and its lease continues."""
        open_leases = {item.slice_id for item in self.left.items if item not in ended}
        pieces = [[item for item in ended if item.slice_id not in open_leases]]
        pieces += [[item for item in ended if item.slice_id == one] for one in open_leases]
        for place, items in enumerate(pieces):
            if not items:
                continue
            piece = self._part(self._claim, items, self._since)
            work_ms = (time.monotonic() - self._since) * 1000 * len(items) / len(ended)
            outcomes = [outcome for item in items for outcome in ended[item].outcomes]
            settled = set(items)
            held = await settle(piece, ClaimOutcomes(outcomes, work_ms=work_ms), place == 0)
            self.left = self._part(
                self.left, [one for one in self.left.items if one not in settled], self._since
            )
            if not held and len(piece.leases) == len(self._claim.leases):
                return False
        self._since = time.monotonic()
        return True

    @staticmethod
    def _part(claimed: Claim, items: Iterable[ClaimedItem], since: float) -> Claim:
        kept = list(items)
        ids = {item.slice_id for item in kept}
        leases = [lease for lease in claimed.leases if lease.id in ids]
        return replace(claimed, items=kept, leases=leases, claimed_at=since)
