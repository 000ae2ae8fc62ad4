"""A worker process for tests: settings and failpoints from the environment, ended by SIGTERM."""

from __future__ import annotations

import os
import sys

import uvloop
from tests.chaos.journal import noop_of_this_process

from penstock.cli.operate.process import SECONDS_TO_CLOSE, on_stop, watch_loop
from penstock.engine.worker.loop import Worker
from penstock.logs import configure_logging
from penstock.pipelines.registry import known_pipelines
from penstock.settings import Settings
from penstock.store.jobs.claims import Served
from penstock.wiring import open_runtime


async def work() -> None:
    settings = Settings()
    told = "log_level" in settings.model_fields_set
    configure_logging(settings.log_level if told else "warning")
    dsn = os.environ["PENSTOCK_TEST_OWNER_DSN"]
    name = f"worker {settings.database_schema} {os.getpid()}"
    lanes = os.environ.get("PENSTOCK_TEST_LANES")
    pipelines = {**known_pipelines(with_test_pipelines=True), **noop_of_this_process()}
    async with (
        open_runtime(settings, dsn, name=name, pipelines=pipelines) as runtime,
        Worker(runtime, Served(lanes.split(",") if lanes else None)) as worker,
    ):
        watchdog = watch_loop(settings)
        on_stop(worker.stop, settings.shutdown_ms / 1000 + SECONDS_TO_CLOSE, watchdog)
        print(worker.id, flush=True)
        await worker.run()


def main() -> None:
    sys.exit(uvloop.run(work()))


if __name__ == "__main__":
    main()
