"""A process that checks and hands out notices without being elected, so that leaders race."""

from __future__ import annotations

import asyncio
import os

from penstock.engine.services.service import run_service
from penstock.monitor.outbox import NotificationOutbox
from penstock.monitor.service import Monitor
from penstock.settings import Settings
from penstock.wiring import open_runtime


async def lead() -> None:
    dsn = os.environ["PENSTOCK_TEST_OWNER_DSN"]
    async with open_runtime(Settings(), dsn, name="racing leader") as runtime:
        print("leads", flush=True)
        services = (Monitor(runtime), NotificationOutbox(runtime))
        await asyncio.gather(*(run_service(runtime, one) for one in services))


if __name__ == "__main__":
    asyncio.run(lead())
