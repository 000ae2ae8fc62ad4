"""Supplier files as jobs, in the words of a test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

from tests.fixtures import Bench

from penstock.app.uploads import Upload, keep_upload
from penstock.model.ids import new_id
from penstock.store.accounts.accounts import Principal
from penstock.store.database import from_json


async def send_file(
    bench: Bench, content: bytes, who: Principal | None = None, **config: Any
) -> UUID:
    """Upload and submit; answers the job."""

    async def chunks() -> AsyncIterator[bytes]:
        yield content

    sender = who or bench.who
    blob = await bench.runtime.blobs.put(chunks(), len(content))
    made = Upload(new_id(), "list.csv", "text/csv", blob)
    async with bench.runtime.db.transaction() as conn:
        await keep_upload(bench.runtime, conn, sender, made)
    return await bench.submit("extraction", config, file_id=made.id, who=sender)


async def run_file(
    bench: Bench, content: bytes, who: Principal | None = None, **config: Any
) -> dict[str, Any]:
    """Upload, submit and work until the end; answers the job with its summary and context read."""
    job_id = await send_file(bench, content, who, **config)
    await bench.work(job_id)
    return await ended(bench, job_id)


async def ended(bench: Bench, job_id: UUID) -> dict[str, Any]:
    job = dict(await bench.job(job_id))
    assert job["state"] == "done", from_json(job["last_error"])
    return job | {"summary": from_json(job["summary"]), "context": from_json(job["context"])}


async def item_problems(bench: Bench, job_id: UUID) -> dict[int, list[dict[str, Any]]]:
    return {
        item["row_no"]: found
        for item in await bench.items(job_id)
        if (found := (from_json(item["normalized"]) or {}).get("problems"))
    }
