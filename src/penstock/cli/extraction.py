"""One extraction from file to clean CSV, worked on in this process."""

from __future__ import annotations

import asyncio
import mimetypes
import signal
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any
from uuid import UUID

from penstock.cli import job_view
from penstock.cli.errors import USAGE, CliError
from penstock.cli.progress import ProgressBar
from penstock.cli.results import Written, write_results
from penstock.cli.session import local_admin, opened_engine, quiet_logs
from penstock.engine import ending
from penstock.engine.parts import Parts
from penstock.engine.submit import Order, submit
from penstock.engine.worker import Worker
from penstock.model.errors import BadInput, PermanentError
from penstock.model.ids import new_id
from penstock.settings import Settings
from penstock.store import jobs
from penstock.store.claims import Served
from penstock.store.database import from_json

PIPELINE = "extraction"
_LOOK_S = 0.1
_READ_BYTES = 1024 * 1024
_HEAD_BYTES = 64 * 1024
_COUNTS = ("total", "valid", "invalid", "duplicates", "new", "existing")
_ADVICE = {
    "UNSUPPORTED_TYPE": "Save it as CSV and try again.",
    "FILE_TOO_LARGE": "Split it, or raise PENSTOCK_MAX_FILE_BYTES.",
    "STORAGE_FULL": "Free some space, or choose another folder with PENSTOCK_DATA_DIR.",
    "WORKER_CRASHED": "Raise PENSTOCK_CHILD_MEMORY_BYTES, or look for what is odd in the file.",
}


@dataclass(frozen=True)
class Wish:
    """What was asked for; ``output`` None is stdout."""

    file: Path
    output: Path | None
    config: dict[str, Any]
    quiet: bool


@dataclass
class Extracted:
    """What became of it."""

    state: str
    job_id: UUID | None = None
    counts: dict[str, int | None] = field(default_factory=lambda: dict.fromkeys(_COUNTS))
    mapping: dict[str, str] | None = None
    written: Written | None = None
    seconds: float = 0.0
    error: dict[str, Any] | None = None
    interrupted: bool = False

    def as_json(self) -> dict[str, Any]:
        return {
            "jobId": self.job_id,
            "state": self.state,
            **self.counts,
            "mapping": self.mapping,
            "output": self.written.place if self.written else None,
            "seconds": round(self.seconds, 2),
            **({"error": self.error} if self.error else {}),
        }

    def lines(self) -> list[str]:
        """The summary for people; a job that did not come through has its problem alone."""
        if self.written is None:
            return []
        counts = self.counts
        rate = (counts["total"] or 0) / max(self.seconds, 0.001)
        mapped = ", ".join(f"{column} → {name}" for column, name in (self.mapping or {}).items())
        return [
            f"{counts['total']:,} rows, {counts['valid']:,} valid, {counts['invalid']:,} invalid, "
            f"{self.seconds:.1f} s, {rate:,.0f} rows/s",
            *([f"Fields: {mapped}"] if mapped else []),
            *self.written.problems,
            f"Clean rows: {self.written.place}   Job: {self.job_id}",
        ]

    def problem(self) -> str:
        error = self.error or {}
        advice = _ADVICE.get(error.get("code", ""), "")
        return f"{error.get('message', '').rstrip('.')}. {advice}".strip() + f" [{error['code']}]"


async def run_extraction(wish: Wish) -> Extracted:
    quiet_logs()
    settings = Settings()
    began = time.monotonic()
    with _opened(wish.file) as source:
        async with opened_engine(settings, "extract") as parts:
            try:
                job_id = await _submit(parts, wish, source)
            except _Refused as refused:
                return Extracted("failed", error=refused.error, seconds=time.monotonic() - began)
            row, interrupted = await _work(parts, job_id, wish)
            done = _outcome(row)
            done.interrupted = interrupted
            if done.state == "done":
                done.written = await write_results(parts, job_id, wish.output)
    done.seconds = time.monotonic() - began
    return done


class _Refused(Exception):
    """The file shows at first sight that nothing can come of it."""

    def __init__(self, error: BadInput) -> None:
        super().__init__(error.message)
        self.error = {"code": error.code, "message": error.message}


def _opened(file: Path) -> IO[bytes]:
    try:
        return file.open("rb")
    except IsADirectoryError as error:
        raise CliError(USAGE, f"{file} is a folder, not a file.") from error
    except OSError as error:
        raise CliError(USAGE, f"Cannot read {file}: {error.strerror}.") from error


async def _submit(parts: Parts, wish: Wish, source: IO[bytes]) -> UUID:
    name = wish.file.name.encode("utf-8", "replace").decode()
    pipeline = parts.pipeline(PIPELINE)
    size = wish.file.stat().st_size
    try:
        pipeline.check(source.read(_HEAD_BYTES), size, name)
        source.seek(0)
        blob = await parts.blobs.put(_chunks(source), parts.settings.max_file_bytes)
    except BadInput as error:
        raise _Refused(error) from error
    file_id = new_id()
    media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
    async with parts.db.transaction() as conn:
        who = await local_admin(conn)
        await jobs.add_file(
            conn, file_id=file_id, org_id=who.org_id, user_id=who.user_id, name=name[:255],
            media_type=media_type, sha256=blob.sha256, size=blob.size, blob_key=blob.key,
        )  # fmt: skip
        receipt = await submit(parts, conn, who, Order(PIPELINE, wish.config, file_id))
    return receipt.job_id


async def _chunks(source: IO[bytes]) -> AsyncIterator[bytes]:
    while chunk := await asyncio.to_thread(source.read, _READ_BYTES):
        yield chunk


async def _work(parts: Parts, job_id: UUID, wish: Wish) -> tuple[Any, bool]:
    """Work on this job alone until it has ended; answers its row and whether it was interrupted."""
    interrupted = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupted.set)
    worker = Worker(parts, Served(job_id=job_id))
    async with worker:
        working = asyncio.create_task(worker.run())
        try:
            with ProgressBar(wish.file.name, quiet=wish.quiet) as bar:
                row = await _until_ended(parts, job_id, interrupted, working, bar)
        finally:
            worker.stop()
            await working
    return row, interrupted.is_set() and row["state"] != "done"


async def _until_ended(
    parts: Parts,
    job_id: UUID,
    interrupted: asyncio.Event,
    working: asyncio.Task[None],
    bar: ProgressBar,
) -> Any:
    """The worker also ends a job that is cancelled here: it skips the rows that are left."""
    cancelled = False
    while True:
        if interrupted.is_set() and not cancelled:
            cancelled = True
            async with parts.db.transaction() as conn:
                await ending.cancel(conn, job_id)
        async with parts.db.acquire() as conn:
            row = await jobs.get_job(conn, job_id)
        if row is None:
            raise PermanentError("RESOURCE_NOT_FOUND", f"Job {job_id} was removed by someone else.")
        if job_view.has_ended(row):
            return row
        bar.tell(job_view.progress_of(row))
        if working.done():
            working.result()
        await asyncio.wait({working}, timeout=_LOOK_S)


def _outcome(row: Any) -> Extracted:
    """The job's own summary; before there is one, what its counters tell."""
    summary = from_json(row["summary"]) or {
        "total": row["total"], "valid": row["done"], "invalid": row["error"],
    }  # fmt: skip
    error = from_json(row["last_error"]) if row["state"] == "failed" else None
    return Extracted(
        row["state"], row["id"], {name: summary.get(name) for name in _COUNTS},
        summary.get("mapping"), error=error,
    )  # fmt: skip
