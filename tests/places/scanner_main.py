"""A process that scans: as a leader does (`leader`), or one watcher after the other (`scanner`)."""

from __future__ import annotations

import asyncio
import os
import sys
from uuid import UUID

from penstock.app.watchers.scan import scan
from penstock.app.watchers.service import WatchConfig, WatchService
from penstock.engine.runtime import Runtime
from penstock.logs import configure_logging
from penstock.settings import Settings
from penstock.wiring import open_runtime


async def lead(runtime: Runtime) -> None:
    service = WatchService(runtime, WatchConfig(wait_seconds=0.2))
    while True:
        await service.run_once()
        await asyncio.sleep(0.05)


async def work(role: str, watchers: list[UUID]) -> None:
    configure_logging("warning")
    dsn = os.environ["PENSTOCK_TEST_OWNER_DSN"]
    async with open_runtime(
        Settings(), dsn, name=f"{role} {os.getpid()}", listens=False
    ) as runtime:
        print("up", flush=True)
        if role == "leader":
            await lead(runtime)
        while True:
            for watcher_id in watchers:
                await scan(runtime, watcher_id)
                await asyncio.sleep(0.05)


def main() -> None:
    asyncio.run(work(sys.argv[1], [UUID(one) for one in sys.argv[2:]]))


if __name__ == "__main__":
    main()
