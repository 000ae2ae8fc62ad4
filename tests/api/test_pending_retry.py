"""Rows that wait for their next try, tried now: those that are named, or all that match."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from tests.api.conftest import Caller, refused, shaped, submit_noop
from tests.api.test_pending import pages
from tests.fixtures import Bench

from penstock.api.jobs.pending import Retried
from penstock.app import retry_now
from penstock.settings import Settings
from penstock.store.database import Database

# Each row is not found at first, is tried again after a quarter of an hour, and then found.
LATER = {"failEvery": 1, "failHow": "notFound", "failTimes": 1}


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"global_pending": True})


async def waiting(client: httpx2.AsyncClient, bench: Bench, items: int = 5, **config: Any) -> str:
    """A job all of whose rows wait for their second try."""
    job = await submit_noop(client, config={"items": items, **LATER, **config})
    await bench.work()
    return job


async def retry(client: httpx2.AsyncClient, **order: Any) -> Retried:
    return shaped(Retried, await client.post("/api/pending/retry", json=order))


async def done(client: httpx2.AsyncClient, job: str) -> int:
    shown = (await client.get(f"/api/jobs/{job}")).json()
    return int(shown["counters"]["done"])


async def test_rows_that_are_named_are_tried_now(client: httpx2.AsyncClient, bench: Bench) -> None:
    job, other = await waiting(client, bench), await waiting(client, bench)
    rows = await pages(client, jobId=job)
    assert all(row.due_at is not None and row.attempts == 1 for row in rows)
    ids = [f"{job}:2", f"{job}:4", f"{other}:1", f"{job}:99"]
    made = await retry(client, itemIds=ids)
    assert (made.retried, made.left_out, made.more) == (3, 1, False)
    # In line already.
    again = await retry(client, itemIds=ids)
    assert (again.retried, again.left_out) == (0, 4)
    await bench.work()
    assert (await done(client, job), await done(client, other)) == (2, 1)
    events = (await client.get(f"/api/jobs/{job}/events")).json()["items"]
    assert [one["data"] for one in events if "retriedNow" in one["data"]] == [{"retriedNow": 2}]
    assert [one["seq"] for one in events] == list(range(1, len(events) + 1))
    left = await pages(client, jobId=job)
    assert sorted(row.row_no for row in left) == [1, 3, 5]


@pytest.mark.parametrize("config", [{}, {"groups": 2}, {"stages": 3}])
async def test_all_that_match_are_tried_now(
    client: httpx2.AsyncClient, bench: Bench, monkeypatch: pytest.MonkeyPatch, config: Any
) -> None:
    monkeypatch.setattr(retry_now, "MOST_AT_ONCE", 4)
    job = await waiting(client, bench, 9, **config)
    # Of a group only the first is tried, and the others wait behind it.
    tried = sum(row.attempts for row in await pages(client, jobId=job))
    retried, more = 0, True
    while more:
        made = await retry(client, all=True, jobId=job)
        retried, more = retried + made.retried, made.more
        if not made.retried:
            break
    assert retried == tried
    await bench.work()
    assert await done(client, job) == retried


async def test_the_filter_decides(client: httpx2.AsyncClient, bench: Bench, db: Database) -> None:
    first, second = await waiting(client, bench), await waiting(client, bench)
    assert (await retry(client, all=True, jobType="extraction")).retried == 0
    assert (await retry(client, all=True, to="2020-01-01T00:00:00Z")).retried == 0
    assert (await retry(client, all=True, jobId=first)).retried == 5
    assert (await retry(client, all=True)).retried == 5
    await bench.work()
    assert (await done(client, first), await done(client, second)) == (5, 5)


async def test_only_ones_own_rows(
    client: httpx2.AsyncClient, bench: Bench, caller: Caller, db: Database
) -> None:
    job = await waiting(client, bench)
    stranger, colleague = await caller("other"), await caller(email="colleague@acme")
    for other in (stranger, colleague):
        made = await retry(other, itemIds=[f"{job}:1", f"{job}:2"])
        assert (made.retried, made.left_out) == (0, 2)
        assert (await retry(other, all=True)).retried == 0
    refused(
        await stranger.post("/api/pending/retry", json={"all": True, "userId": "all"}),
        403, "INSUFFICIENT_PERMISSIONS",
    )  # fmt: skip
    viewer = await caller(role="viewer")
    refused(
        await viewer.post("/api/pending/retry", json={"all": True}),
        403, "INSUFFICIENT_PERMISSIONS",
    )  # fmt: skip
    admin = await caller("house", role="admin")
    assert (await retry(admin, all=True)).retried == 0
    assert (await retry(admin, all=True, userId="all", jobId=job)).retried == 5
    async with db.acquire() as conn:
        told = await conn.fetchval(
            "SELECT after FROM audit WHERE action = 'pending.retry' ORDER BY id DESC LIMIT 1"
        )
    assert '"rows":5' in told.replace(" ", "")


async def test_what_runs_ended_or_is_cancelled_stays_as_it_is(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    over = await submit_noop(client, 3)
    cancelled = await waiting(client, bench)
    assert (await client.post(f"/api/jobs/{cancelled}/cancel")).status_code == 200
    paused = await waiting(client, bench)
    await client.post(f"/api/jobs/{paused}/pause")
    ids = [f"{job}:1" for job in (over, cancelled, paused)]
    assert (await retry(client, itemIds=ids)).retried == 1
    await bench.work()
    assert await done(client, paused) == 0
    await client.post(f"/api/jobs/{paused}/resume")
    await bench.work()
    assert await done(client, paused) == 1


@pytest.mark.parametrize(
    "order", [{}, {"all": False}, {"all": True, "itemIds": ["x"]}, {"itemIds": ["x:1"]},
              {"itemIds": ["00000000-0000-4000-8000-000000000000:0"]}],
)  # fmt: skip
async def test_an_order_says_which(client: httpx2.AsyncClient, order: Any) -> None:
    refused(await client.post("/api/pending/retry", json=order), 422, "INVALID_PARAMETERS")


async def test_of_one_job_it_needs_no_list_of_all(
    app: FastAPI, client: httpx2.AsyncClient, bench: Bench
) -> None:
    switched_off = bench.runtime.settings.model_copy(update={"global_pending": False})
    app.state.api = replace(app.state.api, runtime=replace(bench.runtime, settings=switched_off))
    job = await waiting(client, bench)
    refused(await client.post("/api/pending/retry", json={"all": True}), 404, "FEATURE_DISABLED")
    assert (await retry(client, itemIds=[f"{job}:1"])).retried == 1
    assert (await retry(client, all=True, jobId=job)).retried == 4
