"""Operations over many jobs and retries of what failed, over HTTP."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import httpx2
import pytest
from tests.api.conftest import Caller, refused, shaped, submit_noop
from tests.fixtures import Bench

from penstock.api.jobs.control_schemas import (
    BulkCount,
    BulkReceipt,
    OperationPage,
    OperationShape,
    RetriedJobs,
)
from penstock.app import bulk, retry_failed
from penstock.app.bulk_operations import BulkService
from penstock.engine import reprocess
from penstock.engine.services.reconcile import Reconciler
from penstock.model.reprocess import Selection
from penstock.store.accounts import accounts
from penstock.store.database import Database

UNKNOWN = "00000000-0000-4000-8000-000000000000"


async def ask(client: httpx2.AsyncClient, action: str, **order: Any) -> httpx2.Response:
    return await client.post("/api/bulk", json={"action": action, **order})


async def started(client: httpx2.AsyncClient, action: str, **order: Any) -> BulkReceipt:
    return shaped(BulkReceipt, await ask(client, action, **order), 202)


async def ran(client: httpx2.AsyncClient, bench: Bench, receipt: BulkReceipt) -> OperationShape:
    while await BulkService(bench.runtime).run_once():
        pass
    return await shown(client, receipt)


async def shown(client: httpx2.AsyncClient, receipt: BulkReceipt) -> OperationShape:
    return shaped(OperationShape, await client.get(f"/api/bulk/{receipt.operation_id}"))


async def test_a_count_comes_first(client: httpx2.AsyncClient, bench: Bench) -> None:
    jobs = [await submit_noop(client) for _ in range(3)]
    every = {"all": True}
    counted = shaped(BulkCount, await ask(client, "cancel", filter=every, dryRun=True))
    assert (counted.count, counted.capped) == (3, False)
    assert (await client.get("/api/bulk")).json()["items"] == []
    answer = await ask(client, "cancel", filter={"states": ["queued"], "name": "noop"})
    receipt = shaped(BulkReceipt, answer, 202)
    assert answer.headers["location"] == f"/api/bulk/{receipt.operation_id}"
    assert (receipt.matched, receipt.capped) == (3, False)
    before = await shown(client, receipt)
    assert (before.state, before.percent, before.finished_at) == ("running", 0, None)
    assert before.filter == {"states": ["queued"], "name": "noop"}
    after = await ran(client, bench, receipt)
    assert (after.state, after.changed, after.percent) == ("done", 3, 100)
    for job in jobs:
        assert (await bench.job(UUID(job)))["state"] == "cancelled"


async def test_all_jobs_do_not_include_standing_ones(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    """Cancelling all jobs must not stop the notifications."""
    standing = str(await bench.submit("noop", {"items": 1, "standing": True}))
    await submit_noop(client)
    for named, count in (
        ({"all": True}, 1),
        ({"states": ["queued", "running"]}, 1),
        ({"pipeline": "noop"}, 2),
        ({"jobIds": [standing]}, 1),
    ):
        counted = shaped(BulkCount, await ask(client, "cancel", filter=named, dryRun=True))
        assert counted.count == count, named


async def test_parameters_are_checked_when_asked_for(client: httpx2.AsyncClient) -> None:
    every = {"all": True}
    for order, code in (
        ({"action": "cancel", "filter": {}}, "INVALID_PARAMETERS"),
        ({"action": "cancel"}, "INVALID_PARAMETERS"),
        ({"action": "cancel", "filter": {"all": False}}, "INVALID_PARAMETERS"),
        ({"action": "explode", "filter": every}, "INVALID_PARAMETERS"),
        ({"action": "priority", "filter": every}, "INVALID_PARAMETERS"),
        ({"action": "priority", "filter": every, "params": {"priority": 101}},
         "INVALID_PARAMETERS"),
        ({"action": "reprocess", "filter": every, "params": {"scope": "items"}},
         "INVALID_PARAMETERS"),
        ({"action": "pause", "filter": every, "params": {"priority": 1}}, "UNKNOWN_FIELD"),
        ({"action": "pause", "filter": {"orgId": 3}}, "UNKNOWN_FIELD"),
        ({"action": "pause", "filter": {"states": ["gone"]}}, "INVALID_PARAMETERS"),
        ({"action": "pause", "filter": {"createdAfter": "yesterday"}}, "INVALID_PARAMETERS"),
        ({"action": "pause", "filter": {"createdAfter": "2026-01-01T00:00:00"}},
         "INVALID_PARAMETERS"),
        ({"action": "pause", "filter": {"jobIds": ["x"]}}, "INVALID_PARAMETERS"),
        ({"action": "pause", "filter": every, "state": "done"}, "UNKNOWN_FIELD"),
    ):  # fmt: skip
        refused(await client.post("/api/bulk", json=order), 422, code)
    problem = refused(await ask(client, "cancel", filter={}), 422, "INVALID_PARAMETERS")
    assert problem.detail == (
        "filter: an empty filter would match every job: say `all` if you mean that"
    )


async def test_who_may_ask_for_what_and_see_it(
    client: httpx2.AsyncClient, caller: Caller, bench: Bench
) -> None:
    mine = await submit_noop(client)
    stranger = await caller("globex")
    foreign = await submit_noop(stranger)
    colleague = await caller(email="second@acme")
    theirs = await submit_noop(colleague)
    receipt = await started(client, "pause", filter={"all": True})
    assert (await ran(client, bench, receipt)).changed == 1
    states = [(await bench.job(UUID(job)))["paused"] for job in (mine, theirs, foreign)]
    assert states == [True, False, False]
    address = f"/api/bulk/{receipt.operation_id}"
    for other in (stranger, colleague):
        for method, path in (("GET", ""), ("POST", "/abort")):
            answer = await other.request(method, address + path)
            unknown = await other.request(method, f"/api/bulk/{UNKNOWN}{path}")
            assert refused(answer, 404, "NOT_FOUND").detail == unknown.json()["detail"]
        assert (await other.get("/api/bulk")).json()["items"] == []
    refused(await client.get("/api/bulk/x"), 404, "NOT_FOUND")
    viewer = await caller(role="viewer")
    refused(await ask(viewer, "pause", filter={"all": True}), 403, "INSUFFICIENT_PERMISSIONS")
    refused(await viewer.post(f"{address}/abort"), 403, "INSUFFICIENT_PERMISSIONS")
    assert (await viewer.get(address)).status_code == 200
    refused(await ask(client, "pause", filter={"org": "acme"}), 403, "INSUFFICIENT_PERMISSIONS")
    admin = await caller("house", role="admin")
    refused(await ask(admin, "pause", filter={"org": "nobody"}), 404, "RESOURCE_NOT_FOUND")
    receipt = await started(admin, "pause", filter={"org": "globex"})
    made = await ran(admin, bench, receipt)
    assert (made.changed, made.filter) == (1, {"org": "globex"})
    assert (await bench.job(UUID(foreign)))["paused"]


async def test_operations_are_listed_page_by_page(client: httpx2.AsyncClient) -> None:
    ids = [(await started(client, "pause", filter={"all": True})).operation_id for _ in range(3)]
    first = shaped(OperationPage, await client.get("/api/bulk?pageSize=2"))
    assert [one.id for one in first.items] == ids[:0:-1]
    second = shaped(OperationPage, await client.get(f"/api/bulk?pageSize=2&after={first.next}"))
    assert ([one.id for one in second.items], second.next) == ([ids[0]], None)
    refused(await client.get("/api/bulk?after=x"), 400, "INVALID_CURSOR")


async def test_an_abort_may_be_repeated(client: httpx2.AsyncClient, bench: Bench) -> None:
    job = await submit_noop(client)
    receipt = await started(client, "pause", filter={"all": True})
    address = f"/api/bulk/{receipt.operation_id}/abort"
    for _ in range(2):
        assert shaped(OperationShape, await client.post(address)).state == "aborted"
    assert (await ran(client, bench, receipt)).changed == 0
    assert not (await bench.job(UUID(job)))["paused"]
    done = await started(client, "pause", filter={"all": True})
    await ran(client, bench, done)
    refused(await client.post(f"/api/bulk/{done.operation_id}/abort"), 409, "INVALID_STATE")


async def test_what_failed_runs_again(
    client: httpx2.AsyncClient, caller: Caller, bench: Bench, db: Database,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    config = {"items": 4, "failEvery": 2}
    jobs = [await submit_noop(client, config=config) for _ in range(3)]
    fine = await submit_noop(client, 2)
    skipped = await submit_noop(client, config={"items": 4, "failEvery": 2, "failHow": "skip"})
    foreign = await submit_noop(await caller("globex"), config=config)
    await bench.work()
    address = "/api/jobs/retry-failed"
    imports = shaped(RetriedJobs, await client.post("/api/products/import/retry-failed"))
    others = shaped(RetriedJobs, await client.post(address, params={"pipeline": "extraction"}))
    assert (imports.retried_count, others.retried_count) == (0, 0)
    later = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    nothing = shaped(RetriedJobs, await client.post(address, params={"since": later}))
    assert (nothing.retried_count, nothing.more) == (0, False)
    monkeypatch.setattr(retry_failed, "MOST_AT_ONCE", 2)
    some = shaped(RetriedJobs, await client.post(address))
    assert (some.retried_count, some.more) == (2, True)
    rest = shaped(RetriedJobs, await client.post(address))
    assert (rest.retried_count, rest.more) == (1, False)
    assert {*some.jobs, *rest.jobs} == {UUID(job) for job in jobs}
    for job in jobs:
        row = await bench.job(UUID(job))
        assert (row["state"], row["pending"], row["done"]) == ("queued", 2, 2)
    for job in (fine, skipped, foreign):
        assert (await bench.job(UUID(job)))["state"] == "done"
    async with db.acquire() as conn:
        audits = "SELECT count(*) FROM audit WHERE action = 'job.reprocess'"
        assert await conn.fetchval(audits) == 3
    for query in ("since=yesterday", "since=2026-01-01T00:00:00"):
        refused(await client.post(f"{address}?{query}"), 422, "INVALID_PARAMETERS")
    viewer = await caller(role="viewer")
    refused(await viewer.post(address), 403, "INSUFFICIENT_PERMISSIONS")


async def test_many_jobs_are_cloned(caller: Caller, bench: Bench) -> None:
    client, other = await caller(), await caller("other")
    jobs = [await submit_noop(client, items=n) for n in (1, 2, 3)]
    await submit_noop(other, items=4)
    await bench.work()
    params = {"priority": "high", "config": {"failEvery": 1}}
    receipt = await started(client, "clone", filter={"states": ["done"]}, params=params)
    made = await ran(client, bench, receipt)
    assert (made.state, made.matched, made.changed, made.failed) == ("done", 3, 3, 0)
    listed = (await client.get("/api/jobs")).json()["items"]
    clones = [job for job in listed if job["id"] not in jobs]
    assert [(job["state"], job["priority"], job["config"]) for job in clones] == [
        ("queued", 10, {"items": n, "failEvery": 1}) for n in (3, 2, 1)
    ]
    async with bench.runtime.db.acquire() as conn:
        audited = "SELECT count(*) FROM audit WHERE action = 'job.clone'"
        assert await conn.fetchval(audited) == 3
    unknown = await ask(client, "clone", filter={"all": True}, params={"colour": "red"})
    refused(unknown, 422, "UNKNOWN_FIELD")


async def test_a_job_that_an_abort_could_not_reach_is_let_go(
    client: httpx2.AsyncClient, bench: Bench, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The asker may see the operation, but no longer the job that it was reopening."""
    job = await submit_noop(client, items=20, config={"items": 20, "failEvery": 1})
    await bench.work()
    monkeypatch.setattr(reprocess, "MOST_AT_ONCE", 2)
    monkeypatch.setattr(reprocess, "CHUNK", 4)
    async with db.transaction() as conn:
        made = await bulk.reprocess_job(bench.runtime, conn, bench.who, UUID(job), Selection())
    assert made.operation_id is not None
    colleague = await principal_of(db, "colleague@acme")
    async with db.acquire() as conn:
        await conn.execute("UPDATE jobs SET user_id = $1 WHERE id = $2", colleague, UUID(job))
    answer = await client.post(f"/api/bulk/{made.operation_id}/abort")
    assert answer.json()["state"] == "aborted"
    assert (await kept_by(db, job)) == made.operation_id
    done = await Reconciler(bench.runtime).run_once()
    assert done.stop_reopening == (UUID(job),)
    assert (await kept_by(db, job)) is None
    assert (await Reconciler(bench.runtime).run_once()).stop_reopening == ()
    await bench.work()
    assert (await bench.job(UUID(job)))["state"] == "done"


async def principal_of(db: Database, email: str) -> int:
    async with db.acquire() as conn:
        org = await accounts.ensure_org(conn, "acme")
        return int((await accounts.ensure_user(conn, org.id, email, "member")).id)


async def kept_by(db: Database, job: str) -> UUID | None:
    async with db.acquire() as conn:
        held: UUID | None = await conn.fetchval("SELECT reopening FROM jobs WHERE id = $1", job)
    return held
