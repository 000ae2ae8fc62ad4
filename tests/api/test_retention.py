"""Retention over the API: policies, dry runs, and answers about jobs without rows."""

from __future__ import annotations

import httpx2
import pytest
from tests.api.conftest import Caller, refused, shaped, submit_noop
from tests.fixtures import Bench

from penstock.api.jobs.schemas import FullJob
from penstock.api.retention.schemas import PruneShape, RetentionShape, TableList
from penstock.store.database import Database

pytestmark = pytest.mark.slow


async def test_policies_dry_runs_and_jobs_without_rows(
    client: httpx2.AsyncClient, caller: Caller, bench: Bench, db: Database
) -> None:
    admin = await caller(role="admin")
    found = shaped(RetentionShape, await client.get("/api/retention"))
    assert found.effective == found.installation
    assert (found.effective.items, found.effective.done_imports) == (90, 100)
    refused(await client.put("/api/retention", json={"items": 1}), 403, "INSUFFICIENT_PERMISSIONS")
    refused(await client.post("/api/retention/prune", json={}), 403, "INSUFFICIENT_PERMISSIONS")
    org = {"org": found.org}
    changed = await admin.put(
        "/api/retention", params=org, json={"items": 7, "doneImports": 3, "files": None}
    )
    assert shaped(RetentionShape, changed).effective.items == 7
    again = shaped(RetentionShape, await client.get("/api/retention"))
    assert (again.overrides.items, again.overrides.files, again.effective.files) == (7, None, 90)
    refused(await admin.put("/api/retention", json={"colour": 1}), 422, "UNKNOWN_FIELD")
    refused(await admin.put("/api/retention", json={"items": -1}), 422, "INVALID_PARAMETERS")
    refused(
        await admin.put("/api/retention", params={"org": "nowhere"}, json={}), 404,
        "RESOURCE_NOT_FOUND",
    )  # fmt: skip

    job_id = await submit_noop(client)
    await bench.work()
    async with db.acquire() as conn:
        await conn.execute("UPDATE jobs SET finished_at = now() - interval '8 days'")
    looked = shaped(PruneShape, await admin.post("/api/retention/prune", json={}))
    job = shaped(FullJob, await client.get(f"/api/jobs/{job_id}"))
    assert (looked.dry_run, looked.deleted.items, looked.deleted.jobs) == (
        True, job.counters.total, 0
    )  # fmt: skip
    assert job.pruned_at is None
    order = {"dryRun": False}
    pruned = await admin.post("/api/retention/prune", params=org, json=order)
    assert shaped(PruneShape, pruned).deleted == looked.deleted
    after = shaped(FullJob, await client.get(f"/api/jobs/{job_id}"))
    assert after.pruned_at is not None
    assert after.counters == job.counters
    problem = refused(await client.post(f"/api/jobs/{job_id}/export"), 409, "INVALID_STATE")
    assert "its rows were deleted" in problem.detail
    refused(await client.post(f"/api/jobs/{job_id}/reprocess", json={}), 409, "INVALID_STATE")
    assert (await client.get(f"/api/jobs/{job_id}/items")).json()["items"] == []
    sizes = shaped(TableList, await admin.get("/api/retention/tables")).items
    assert sizes == sorted(sizes, key=lambda one: (-one.bytes, one.name))
    assert "job_items" in {one.name for one in sizes}
    shown = (await admin.get("/api/monitor")).json()["tables"]
    # PostgreSQL may vacuum or extend a table between the two answers, so the order may differ.
    assert [one["bytes"] for one in shown] == sorted((one["bytes"] for one in shown), reverse=True)
    assert len(shown) == 10
    assert {one["name"] for one in shown} <= {one.name for one in sizes}
    audited = (await admin.get("/api/audit", params={"action": "retention.prune"})).json()["items"]
    assert [one["after"]["items"] for one in audited] == [job.counters.total]
