"""A worker as a process: it ends when told to, or with who started it."""

from __future__ import annotations

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
from penstock.pipelines.registry import PIPELINES
from penstock.settings import Settings
from penstock.store.jobs.claims import Served

_LANES = ("enterprise", *SHARED_LANES)


def served_by(
    lanes: list[str] | None, pipelines: list[str] | None, stages: list[str] | None
) -> Served:
    """What a worker was told to serve; a misspelt name would leave it idle for ever."""
    known = {one.name: one for one in PIPELINES}
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
        await worker.run()
        runtime.log.info("worker is stopping", worker=worker.id)
