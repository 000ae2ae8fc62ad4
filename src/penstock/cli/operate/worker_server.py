"""A worker as a process: it ends on a signal, or with the process that started it."""

from __future__ import annotations

import asyncio
from fnmatch import fnmatchcase

from penstock import wiring
from penstock.cli.errors import USAGE, CliError
from penstock.cli.local_session import opened
from penstock.cli.operate.process import (
    SECONDS_TO_CLOSE,
    begin_process,
    on_stop,
    run_behind,
    watch_loop,
)
from penstock.engine.worker.loop import Worker
from penstock.model.fairness import SHARED_LANES, lane_pattern
from penstock.pipelines.registry import known_pipelines
from penstock.settings import Settings
from penstock.store.jobs.claims import Served

# Until the other processes of an installation have started, too.
_SECONDS_TO_START = 1.0
_LANES = ("enterprise", *SHARED_LANES)


def served_by(
    settings: Settings, lanes: list[str] | None, pipelines: list[str] | None,
    stages: list[str] | None,
) -> Served:  # fmt: skip
    """What a worker was told to serve. A misspelt name is refused, since the worker would stay
    idle."""
    known = known_pipelines(with_test_pipelines=settings.test_pipelines)
    for name in pipelines or ():
        if name not in known:
            raise CliError(
                USAGE, f"There is no pipeline {name!r}. Known: {', '.join(sorted(known))}."
            )
    for name in lanes or ():
        if not any(fnmatchcase(lane, name) for lane in _LANES) and not name.startswith("priority."):
            raise CliError(
                USAGE,
                f"There is no lane {name!r}. Known: {', '.join(_LANES)}, priority.ORG.",
            )
    patterns = None if lanes is None else [lane_pattern(name) for name in lanes]
    return Served(patterns, pipelines, stages)


async def serve_worker(settings: Settings, served: Served) -> None:
    begin_process(settings)
    run_behind()
    watchdog = watch_loop(settings)
    async with (
        opened(settings) as session,
        wiring.open_runtime(settings, session.addresses.owner_dsn, name="worker") as runtime,
        Worker(runtime, served) as worker,
    ):
        on_stop(worker.stop, settings.shutdown_ms / 1000 + SECONDS_TO_CLOSE, watchdog)
        runtime.log.info("worker serves", worker=worker.id, slots=settings.worker_slots)
        asyncio.get_running_loop().call_later(_SECONDS_TO_START, runtime.prepare_children)
        await worker.run()
        runtime.log.info("worker is stopping", worker=worker.id)
