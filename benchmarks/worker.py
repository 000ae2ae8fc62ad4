"""A worker process of the benchmarks: serves everything until its standard input ends."""

from __future__ import annotations

import asyncio
import json
import sys

import uvloop

from benchmarks.payload import BENCH_PIPELINES
from penstock.engine.worker.loop import Worker
from penstock.logs import configure_logging
from penstock.settings import Settings
from penstock.wiring import open_runtime


async def work(dsn: str, settings: Settings) -> None:
    async with (
        open_runtime(settings, dsn, name="bench worker", pipelines=BENCH_PIPELINES) as runtime,
        Worker(runtime) as worker,
    ):
        stop_with_stdin(worker)
        # As a worker of an installation does when it has started.
        runtime.prepare_children()
        await runtime.children.call(int)
        print("ready", flush=True)
        await worker.run()


def stop_with_stdin(worker: Worker) -> None:
    asyncio.get_running_loop().add_reader(sys.stdin.fileno(), worker.stop)


def main() -> None:
    spec = json.loads(sys.argv[1])
    configure_logging("warning")
    uvloop.run(work(spec["dsn"], Settings(**spec["settings"])))


if __name__ == "__main__":
    main()
