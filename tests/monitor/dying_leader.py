"""A leader in its own process: checks, hands out notices, and dies at its failpoint."""

from __future__ import annotations

import asyncio
import json
import os
import sys

from tests.monitor.support import outbox_of
from tests.monitor.test_service import monitor_of

from penstock.settings import Settings
from penstock.wiring import open_runtime


async def lead() -> None:
    given = json.loads(sys.argv[1])
    settings = Settings(**given["settings"])
    async with open_runtime(settings, os.environ["PENSTOCK_TEST_OWNER_DSN"], name="dying") as made:
        await monitor_of(made, depth=0).run_once()
        await outbox_of(made).run_once()


if __name__ == "__main__":
    asyncio.run(lead())
