"""One lookup from its files to the results, wherever the API is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from penstock.cli import printing
from penstock.cli.connection import Penstock, connected
from penstock.cli.errors import FAILURE, USAGE, CliError, code_of_job_error
from penstock.cli.files.results import output_file, output_place
from penstock.cli.jobs.control import stands_still
from penstock.cli.printing import note
from penstock.cli.progress import ProgressBar
from penstock.client.shapes import ENDED
from penstock.formats.writing.registry import FORMATS

_LOOK_S = 0.25
_PARTIAL = 3
# Do not wait for rows whose next try is later than this.
_LONG_WAIT = timedelta(seconds=30)
_LOOKED_AT = 100


@dataclass
class LookedUp:
    """The result of a lookup. ``waiting`` rows are tried again later."""

    job_id: str
    state: str = "queued"
    counters: dict[str, int] = field(default_factory=dict)
    summary: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    error_code: str | None = None
    waiting: int = 0
    output: str | None = None

    @property
    def code(self) -> int:
        if self.error is not None:
            return FAILURE if self.error_code is None else code_of_job_error(self.error_code)
        done = self.counters.get("done", 0)
        return 0 if not self.counters or done == self.counters["total"] else _PARTIAL

    def as_json(self) -> dict[str, Any]:
        return {
            "jobId": self.job_id, "state": self.state, "counters": self.counters,
            "summary": self.summary, "waiting": self.waiting, "output": self.output,
            "error": self.error,
        }  # fmt: skip

    def lines(self) -> list[str]:
        if self.error is not None:
            return [
                f"penstock: {self.error}" + (f" [{self.error_code}]" if self.error_code else "")
            ]
        if not self.counters:
            return []
        counts = self.counters
        found = [f"{counts['done']:,} of {counts['total']:,} found"]
        named = (("skipped", "ambiguous"), ("notFound", "not found"), ("error", "failed"))
        found += [f"{counts[name]:,} {words}" for name, words in named if counts[name]]
        lines = [f"{', '.join(found)}. Job {self.job_id}"]
        if self.output is not None:
            lines.append(f"Results: {self.output}")
        if counts["skipped"]:
            lines.append(
                f"Choose: penstock items list {self.job_id} --code AMBIGUOUS_MATCH, then"
                " penstock items choose"
            )
        if self.waiting:
            lines.append(
                printing.count(self.waiting, "row is", "rows are")
                + f" tried again later: penstock jobs watch {self.job_id}"
            )
        return lines


async def run_lookup(
    files: Sequence[Path], config: dict[str, Any], output: Path | None, *, wait: bool
) -> LookedUp:
    place = None if output is None else output_place(output, json=False)
    if place is not None and place.suffix.removeprefix(".") not in FORMATS:
        raise CliError(USAGE, f"{place}: the name must end in .{', .'.join(FORMATS)}.")
    async with connected() as penstock:
        ids = [str((await penstock.client.upload(file)).id) for file in files]
        order = {"pipeline": "lookup", "config": config, "name": files[0].name, "fileIds": ids}
        receipt = await penstock.post("/api/jobs", order)
        done = LookedUp(receipt["jobId"])
        if not wait:
            return done
        async with _at_work(penstock, UUID(done.job_id)):
            await _until_settled(penstock, done)
        if output is not None and done.error is None:
            kind = "csv" if place is None else place.suffix.removeprefix(".")
            await _write(penstock, done.job_id, place, kind)
            done.output = str(output)
    return done


@asynccontextmanager
async def _at_work(penstock: Penstock, job_id: UUID) -> AsyncIterator[None]:
    """Without a server, this process works on the job itself."""
    if penstock.here is None:
        if await stands_still(penstock):
            note("No worker runs: `penstock up` or `penstock worker` starts some.")
        yield
        return
    from penstock.engine.worker.loop import Worker
    from penstock.store.jobs.claims import Served

    worker = Worker(penstock.here, Served(job_id=job_id))
    async with worker:
        working = asyncio.create_task(worker.run())
        try:
            yield
        finally:
            worker.stop()
            await working


async def _until_settled(penstock: Penstock, done: LookedUp) -> None:
    """Wait until the job has ended, or all open rows wait for their next try."""
    with ProgressBar(f"lookup {done.job_id[:8]}") as bar:
        while True:
            job = await penstock.get(f"/api/jobs/{done.job_id}")
            done.state, done.counters = job["state"], job["counters"]
            if job["state"] in ENDED:
                done.summary = job["summary"] or {}
                if job["state"] != "done":
                    told = job["lastError"] or {"message": f"The job is {job['state']}."}
                    done.error, done.error_code = str(told["message"]), told.get("code")
                return
            bar.tell(job["progress"])
            if await _only_waits(penstock, job):
                done.waiting = job["counters"]["pending"]
                return
            await asyncio.sleep(_LOOK_S)


async def _only_waits(penstock: Penstock, job: dict[str, Any]) -> bool:
    counters = job["counters"]
    if counters["processing"] or not counters["pending"] or job["state"] != "running":
        return False
    path = f"/api/jobs/{job['id']}/items"
    found = await penstock.first(path, _LOOKED_AT, statuses="PENDING", sort="updated")
    late = datetime.now(UTC) + _LONG_WAIT
    return bool(found) and all(
        one["dueAt"] is not None and datetime.fromisoformat(one["dueAt"]) > late for one in found
    )


async def _write(penstock: Penstock, job_id: str, place: Path | None, kind: str) -> None:
    with output_file(place) as write:
        async for piece in penstock.client.pieces(f"/api/jobs/{job_id}/export", format=kind):
            write(piece)
