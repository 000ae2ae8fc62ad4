"""One extraction from a file to clean CSV, in this process."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from penstock.app.preview import check_first_rows, job_of_upload, prepare_preview, preview
from penstock.app.uploads import forget_upload, keep_upload
from penstock.cli.files.extraction_report import Extracted, outcome_of
from penstock.cli.files.results import write_problems, write_results
from penstock.cli.files.sources import Source, opened
from penstock.cli.local_session import local_admin, opened_engine, quiet_logs
from penstock.cli.progress import ProgressBar
from penstock.cli.settings import chosen
from penstock.engine import ending
from penstock.engine.runtime import Runtime
from penstock.engine.submit import Order, submit
from penstock.engine.worker.loop import Worker
from penstock.model.errors import BadInput, PermanentError
from penstock.model.pipeline import Job
from penstock.model.progress import progress_of
from penstock.model.states import TERMINAL_JOB_STATES
from penstock.settings import Settings
from penstock.store.jobs import jobs
from penstock.store.jobs.claims import Served
from penstock.store.jobs.job_rows import JobDetails

PIPELINE = "extraction"
_LOOK_S = 0.1
# Errors of the command line, not of the file.
_WRONG_USE = frozenset({"UNKNOWN_FIELD", "INVALID_CONFIG", "INVALID_PARAMETERS"})
_ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True)
class Wish:
    """What the user asked for; ``output`` None is stdout."""

    # A path or a URL.
    given: str
    output: Path | None
    config: dict[str, Any]
    quiet: bool
    # Where the list of problems goes, if it is asked for.
    errors: Path | None = None


def _settings() -> Settings:
    """One job has the machine to itself: limits that keep many jobs fair would only slow it
    down."""
    given = Settings()
    better = {
        "worker_slots": max(2, os.cpu_count() or 1),
        "ingest_min_rows": min(1000, given.ingest_max_rows),
    }
    return chosen(**{k: v for k, v in better.items() if k not in given.model_fields_set})


async def run_extraction(wish: Wish) -> Extracted:
    quiet_logs()
    settings = _settings()
    began = time.monotonic()
    with opened(wish.given) as source:
        async with opened_engine(settings, "extract") as runtime:
            try:
                job_id = await _submit(runtime, wish, source)
            except _Refused as refused:
                return Extracted("failed", error=refused.error, seconds=time.monotonic() - began)
            row, interrupted = await _work(runtime, job_id, source.name, quiet=wish.quiet)
            done = outcome_of(row)
            done.interrupted = interrupted
            if done.state == "done":
                done.written = await write_results(runtime, job_id, wish.output)
                if wish.errors is not None:
                    await write_problems(runtime, job_id, wish.errors)
    done.seconds = time.monotonic() - began
    return done


class _Refused(Exception):
    """The first rows show that the file cannot be used."""

    def __init__(self, error: BadInput) -> None:
        super().__init__(error.message)
        self.error = {"code": error.code, "message": error.message, "details": error.details}


async def look_at(given: str, config: dict[str, Any]) -> dict[str, Any]:
    """What a job of this file would do; nothing is stored."""
    quiet_logs()
    with opened(given) as source:
        async with opened_engine(_settings(), "preview", listens=False) as runtime:
            upload = await source.stored(runtime)
            try:
                async with runtime.db.transaction() as conn:
                    who = await local_admin(conn)
                    await keep_upload(runtime, conn, who, upload)
                    order = Order(PIPELINE, config, upload.id)
                    job = await prepare_preview(runtime, conn, who, order)
                    # Rolled back, so that only this transaction saw it.
                    raise _Seen(job)
            except _Seen as seen:
                return dict(await preview(runtime, seen.job))
            finally:
                await forget_upload(runtime, upload)


class _Seen(Exception):
    def __init__(self, job: Job) -> None:
        super().__init__()
        self.job = job


async def _submit(runtime: Runtime, wish: Wish, source: Source) -> UUID:
    try:
        upload = await source.stored(runtime)
        order = Order(PIPELINE, wish.config, upload.id, at_once=True)
        try:
            async with runtime.db.transaction() as conn:
                who = await local_admin(conn)
            await check_first_rows(runtime, job_of_upload(runtime, who, order, upload))
            async with runtime.db.transaction() as conn:
                await keep_upload(runtime, conn, who, upload)
                receipt = await submit(runtime, conn, who, order)
        except BadInput:
            await forget_upload(runtime, upload)
            raise
    except BadInput as error:
        if error.code in _WRONG_USE:
            raise
        raise _Refused(error) from error
    return receipt.job_id


async def _work(
    runtime: Runtime, job_id: UUID, name: str, *, quiet: bool
) -> tuple[JobDetails, bool]:
    """Work on this job alone until it has ended; return its row and whether it was interrupted."""
    interrupted = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in _ENDING_SIGNALS:
        loop.add_signal_handler(number, interrupted.set)
    worker = Worker(runtime, Served(job_id=job_id))
    async with worker:
        working = asyncio.create_task(worker.run())
        try:
            with ProgressBar(name, quiet=quiet) as bar:
                row = await _until_ended(runtime, job_id, interrupted, working, bar)
        finally:
            worker.stop()
            await working
            for number in _ENDING_SIGNALS:
                loop.remove_signal_handler(number)
    return row, interrupted.is_set() and row.state != "done"


async def _until_ended(
    runtime: Runtime,
    job_id: UUID,
    interrupted: asyncio.Event,
    working: asyncio.Task[None],
    bar: ProgressBar,
) -> JobDetails:
    """The worker also ends a job that is cancelled here: it skips the rows that are left."""
    cancelled = False
    while True:
        if interrupted.is_set() and not cancelled:
            cancelled = True
            async with runtime.db.transaction() as conn:
                await ending.cancel(conn, job_id)
        async with runtime.db.acquire() as conn:
            row = await jobs.get_job(conn, job_id)
        if row is None:
            raise PermanentError("RESOURCE_NOT_FOUND", f"Job {job_id} was removed by someone else.")
        if row.state in TERMINAL_JOB_STATES:
            return row
        bar.tell(progress_of(row))
        if working.done():
            working.result()
        await asyncio.wait({working}, timeout=_LOOK_S)
