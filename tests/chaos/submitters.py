"""Clients that submit all the time and repeat a request, with the same key, without an answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from tests.chaos.chaos_bench import ChaosBench
from tests.checker.case import Submitted
from tests.checker.polling import until

from penstock.engine.settle import TRANSIENT_DB_ERRORS


@dataclass
class Submitters:
    chaos_bench: ChaosBench
    items: int
    # How often a client did not know whether its job was accepted.
    unsure: int = 0
    stopped: bool = False

    async def submit(self, client: int) -> None:
        number = 0
        while not self.stopped:
            key = f"{client}.{number}"
            try:
                job_id = await self.chaos_bench.submit(
                    "noop", {"items": self.items}, idempotency_key=key
                )
            except TRANSIENT_DB_ERRORS:
                self.unsure += 1
                await asyncio.sleep(0.05)
            else:
                self.chaos_bench.sent[job_id] = Submitted(
                    self.items, [{"row": row} for row in range(self.items)], key=key
                )
                number += 1

    async def accepts(self, jobs: int) -> None:
        """Wait until that many more jobs were accepted."""
        least = len(self.chaos_bench.sent) + jobs

        async def enough() -> bool:
            return len(self.chaos_bench.sent) >= least

        await until(enough, "jobs to be accepted")

    async def is_unsure(self) -> None:
        async def one_is() -> bool:
            return self.unsure > 0

        await until(one_is, "a client to hear nothing")


@asynccontextmanager
async def submitting(
    chaos_bench: ChaosBench, clients: int, items: int
) -> AsyncIterator[Submitters]:
    submitters = Submitters(chaos_bench, items)
    tasks = [asyncio.create_task(submitters.submit(number)) for number in range(clients)]
    try:
        yield submitters
    finally:
        submitters.stopped = True
        await asyncio.gather(*tasks)
