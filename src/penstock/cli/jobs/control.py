"""What `penstock jobs` asks of the API."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from penstock.cli.connection import Penstock, connected
from penstock.cli.errors import USAGE, CliError
from penstock.cli.printing import note
from penstock.cli.progress import ProgressBar
from penstock.client.shapes import ENDED
from penstock.model.fairness import MAX_PRIORITY, PRIORITIES

_LOOK_S = 0.25
# As many jobs as one request may create.
MAX_BATCH = 200


def priority_of(text: str) -> int:
    number = PRIORITIES.get(text, int(text) if text.isascii() and text.isdigit() else -1)
    if not 0 <= number <= MAX_PRIORITY:
        words = ", ".join(PRIORITIES)
        raise CliError(USAGE, f"{text!r} is no priority: use 0 to {MAX_PRIORITY}, or {words}.")
    return number


async def list_jobs(
    state: str | None, pipeline: str | None, limit: int, *, standing: bool = False
) -> tuple[list[dict[str, Any]], list[str]]:
    """Jobs, and what is worth a note beside them."""
    async with connected() as penstock:
        found = await penstock.first(
            "/api/jobs", limit, state=state, pipeline=pipeline, standing=standing or None
        )
        notes = [] if found else [f"No such jobs in {penstock.place}."]
        if await stands_still(penstock):
            notes.append("No worker is running, so nothing moves: start one with `penstock up`.")
    return found, notes


async def get_job(job_id: UUID) -> dict[str, Any]:
    async with connected() as penstock:
        return await _job(penstock, job_id)


async def watched(job_id: UUID) -> dict[str, Any]:
    """Show progress until the job ends; answers the result."""
    async with connected() as penstock:
        job = await _job(penstock, job_id)
        if job.get("standing") and job["state"] not in ENDED:
            note("This job sends webhooks or notifications and never ends; Ctrl-C ends watching.")
        if job["state"] not in ENDED and await stands_still(penstock):
            note("No worker runs: `penstock up` or `penstock worker` starts some.")
        with ProgressBar(job["name"]) as bar:
            while job["state"] not in ENDED:
                bar.tell(job["progress"])
                await asyncio.sleep(_LOOK_S)
                job = await _job(penstock, job_id)
        return job


async def control(job_id: UUID, action: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    """Pause, resume, cancel or change the priority; answers the job."""
    async with connected() as penstock:
        job: dict[str, Any] = await penstock.post(f"/api/jobs/{job_id}/{action}", body)
        return job


async def submitted(orders: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Create the jobs, batch by batch; answers a result for each."""
    results: list[dict[str, Any]] = []
    async with connected() as penstock:
        for first in range(0, len(orders), MAX_BATCH):
            for one in await penstock.client.submit_many(orders[first : first + MAX_BATCH]):
                results.append(one.model_dump(mode="json", by_alias=True, exclude_none=True))
    return results


async def started(file: Path | None, order: dict[str, Any]) -> tuple[dict[str, Any], str | None]:
    """Create one job; answers its receipt, and its page if a server shows it."""
    async with connected() as penstock:
        receipt = await penstock.client.submit(file, **order)
        page = None if penstock.url is None else f"{penstock.url}/jobs/{receipt.job_id}"
        return receipt.model_dump(mode="json", by_alias=True, exclude_none=True), page


async def held_rows(job_id: UUID, limit: int) -> dict[str, Any]:
    async with connected() as penstock:
        found: dict[str, Any] = await penstock.get(f"/api/jobs/{job_id}/held", limit=limit)
        return found


async def cloned(job_id: UUID, priority: int | None) -> str:
    changes = {} if priority is None else {"priority": priority}
    async with connected() as penstock:
        return str((await penstock.client.clone(job_id, **changes)).job_id)


async def reprocessed(job_id: UUID, selection: dict[str, Any]) -> dict[str, Any]:
    async with connected() as penstock:
        made = await penstock.post(f"/api/jobs/{job_id}/reprocess", selection)
        return await _to_the_last(penstock, job_id, made)


async def fixed(job_id: UUID, row_no: int, cells: dict[str, str]) -> dict[str, Any]:
    async with connected() as penstock:
        path = f"/api/jobs/{job_id}/items/{row_no}"
        made = await penstock.client.call("PATCH", path, body={"input": cells})
        return await _to_the_last(penstock, job_id, made)


async def remapped(job_id: UUID, config: dict[str, Any]) -> dict[str, Any]:
    async with connected() as penstock:
        made = await penstock.post(f"/api/jobs/{job_id}/remap", {"config": config})
        return await _to_the_last(penstock, job_id, made)


async def _to_the_last(penstock: Penstock, job_id: UUID, made: dict[str, Any]) -> dict[str, Any]:
    """All items reopened, however many there are; answers as the API does."""
    if made.get("operationId"):
        operation = await penstock.to_the_end(made["operationId"])
        job = await _job(penstock, job_id)
        made |= {
            "reprocessed": operation["items"], "leftOut": operation["itemsLeftOut"], "job": job,
        }  # fmt: skip
    return made


async def retried(since: datetime | None) -> dict[str, Any]:
    moment = None if since is None else since.replace(tzinfo=since.tzinfo or UTC).isoformat()
    async with connected() as penstock:
        made: dict[str, Any] = await penstock.post("/api/jobs/retry-failed", since=moment)
        return made


async def _job(penstock: Penstock, job_id: UUID) -> dict[str, Any]:
    job: dict[str, Any] = await penstock.get(f"/api/jobs/{job_id}")
    return job


async def stands_still(penstock: Penstock) -> bool:
    """Whether items wait and no worker runs. Under load `/health` answers without figures: then
    nothing is said."""
    health = await penstock.get("/health")
    return bool(health.get("depth")) and health.get("workers") == 0
