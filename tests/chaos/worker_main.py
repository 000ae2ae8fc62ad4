"""A worker process for tests: settings and failpoints from the environment, ended by SIGTERM."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

from penstock.engine.worker import Worker
from penstock.logs import configure_logging
from penstock.settings import Settings
from penstock.wiring import engine_parts


async def main() -> None:
    settings = Settings()
    configure_logging("warning")
    dsn = os.environ["PENSTOCK_TEST_OWNER_DSN"]
    name = f"worker {settings.database_schema}"
    async with engine_parts(settings, dsn, name=name) as parts, Worker(parts) as worker:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, worker.stop)
        print(worker.id, flush=True)
        await worker.run()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
