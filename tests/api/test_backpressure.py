"""A full queue refuses at the door, says when to come back, and opens again by itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import httpx2
import pytest
from fastapi import FastAPI
from tests.api.conftest import (
    Caller,
    client_of,
    file_of,
    refused,
    shaped,
    submit_noop,
)
from tests.fixtures import Bench

from penstock.api.jobs.schemas import FullJob, Receipt
from penstock.api.live.schemas import EventPage
from penstock.api.monitor.health_schemas import PublicQueueHealth, QueueHealth
from penstock.engine import queue_depth
from penstock.settings import Settings
from penstock.store.accounts import accounts

NOOP = {"pipeline": "noop", "config": {"items": 1}}


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Healthy up to 1 job, degraded up to 3, critical up to 5."""
    tiny = {"depth_healthy": 1, "depth_degraded": 3, "depth_critical": 5}
    return settings.model_copy(update=tiny)


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue_depth, "_CACHE_SECONDS", 0.0)


async def fill(bench: Bench, depth: int) -> list[UUID]:
    """So many jobs, past the admission."""
    return [await bench.submit("noop", {"items": 1}, at_once=True) for _ in range(depth)]


async def level(bench: Bench, app: FastAPI) -> QueueHealth:
    async with bench.runtime.db.acquire() as conn:
        key = await accounts.create_key(conn, bench.who.org_id, bench.who.user_id)
    async with client_of(app, key) as somebody, client_of(app, None) as nobody:
        told = shaped(PublicQueueHealth, await somebody.get("/health/queue"))
        public = (await nobody.get("/health/queue")).json()
    assert public == {"status": told.level, "level": told.level}
    assert told.metrics.total == told.depth
    return told


async def test_the_queue_shows_its_level(app: FastAPI, bench: Bench) -> None:
    seen = []
    for _ in range(7):
        health = await level(bench, app)
        seen.append((health.depth, health.level.value))
        await fill(bench, 1)
    names = ["healthy"] * 2 + ["degraded"] * 2 + ["critical"] * 2 + ["overload"]
    assert seen == list(enumerate(names))


async def test_small_plans_begin_later_in_a_degraded_queue(caller: Caller, bench: Bench) -> None:
    await fill(bench, 2)
    basic = await caller("tiny", plan="basic")
    receipt = shaped(Receipt, await basic.post("/api/jobs", json=NOOP), 202)
    assert receipt.delayed_until is not None
    wait = (receipt.delayed_until - datetime.now(UTC)).total_seconds()
    assert 290 < wait < 310
    assert receipt.estimated_wait_ms >= 300_000
    job = shaped(FullJob, await basic.get(f"/api/jobs/{receipt.job_id}"))
    assert (job.state, job.due_at) == ("delayed", receipt.delayed_until)
    events = shaped(EventPage, await basic.get(f"/api/jobs/{receipt.job_id}/events"))
    told = events.items[0].data
    assert told["reason"].startswith("The queue is at level degraded with 2 jobs")
    assert datetime.fromisoformat(told["delayedUntil"]) == receipt.delayed_until
    await bench.work()
    assert (await bench.job(receipt.job_id))["state"] == "queued"
    # Others are not held up.
    standard = await caller("usual")
    await fill(bench, 1)
    assert shaped(Receipt, await standard.post("/api/jobs", json=NOOP), 202).delayed_until is None


async def test_a_critical_queue_takes_enterprise_only(caller: Caller, bench: Bench) -> None:
    await fill(bench, 4)
    premium = await caller("good", plan="premium")
    answer = await premium.post("/api/jobs", json=NOOP)
    problem = refused(answer, 503, "QUEUE_FULL")
    assert int(answer.headers["retry-after"]) == 60
    assert problem.error.category == "transient"
    assert problem.error.details == {"level": "critical", "depth": 4, "plan": "premium"}
    assert "at level critical with 4 jobs" in problem.detail
    assert "again in 60 s" in problem.detail
    enterprise = await caller("best", plan="enterprise")
    assert shaped(Receipt, await enterprise.post("/api/jobs", json=NOOP), 202)


async def test_an_overloaded_queue_takes_nobody_and_opens_by_itself(
    caller: Caller, bench: Bench
) -> None:
    await fill(bench, 6)
    enterprise = await caller("best", plan="enterprise")
    refused(await enterprise.post("/api/jobs", json=NOOP), 503, "QUEUE_FULL")
    await bench.work()
    assert shaped(Receipt, await enterprise.post("/api/jobs", json=NOOP), 202)


async def test_of_a_refused_file_not_a_byte_is_read_or_kept(
    caller: Caller, bench: Bench, settings: Settings
) -> None:
    await fill(bench, 6)
    client = await caller()
    read = 0

    async def body() -> AsyncIterator[bytes]:
        nonlocal read
        read += 1
        yield b"--x\r\n"

    kind = {"Content-Type": "multipart/form-data; boundary=x"}
    refused(await client.post("/api/jobs", content=body(), headers=kind), 503, "QUEUE_FULL")
    assert read == 0
    assert not [path for path in settings.blob_dir.rglob("*") if path.is_file()]


async def test_a_file_that_came_while_the_queue_filled_up_is_removed(
    client: httpx2.AsyncClient, bench: Bench, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Let in at the door, refused in the transaction."""
    put = bench.runtime.blobs.put

    async def slow(*args: Any) -> Any:
        await fill(bench, 6)
        return await put(*args)

    monkeypatch.setattr(bench.runtime.blobs, "put", slow)
    refused(await client.post("/api/jobs", files=file_of()), 503, "QUEUE_FULL")
    assert not [path for path in settings.blob_dir.rglob("*") if path.is_file()]
    async with bench.runtime.db.acquire() as conn:
        assert await conn.fetchval("SELECT count(*) FROM files") == 0


async def test_what_was_accepted_is_answered_again_however_full_it_is(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    key = {"Idempotency-Key": "once"}
    first = await client.post("/api/jobs", files=file_of(), headers=key)
    await fill(bench, 6)
    again = await client.post("/api/jobs", files=file_of(), headers=key)
    assert (again.status_code, again.content) == (202, first.content)
    assert again.headers["idempotency-replayed"] == "true"
    other = {"Idempotency-Key": "another"}
    refused(await client.post("/api/jobs", json=NOOP, headers=other), 503, "QUEUE_FULL")


async def test_paused_and_standing_jobs_fill_no_queue(
    app: FastAPI, client: httpx2.AsyncClient, bench: Bench
) -> None:
    for job_id in await fill(bench, 5):
        await client.post(f"/api/jobs/{job_id}/pause")
    await bench.submit("noop", {"items": 1, "standing": True})
    health = await level(bench, app)
    assert (health.depth, health.level) == (0, "healthy")
    assert await submit_noop(client)


async def test_what_this_process_added_counts_before_the_next_look(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look is a second old at most, but our own burst must not pass for nothing meanwhile."""
    monkeypatch.setattr(queue_depth, "_CACHE_SECONDS", 60.0)
    client = await caller()
    answers = await asyncio.gather(*(client.post("/api/jobs", json=NOOP) for _ in range(12)))
    accepted = [answer for answer in answers if answer.status_code == 202]
    assert len(accepted) == 4
    assert sorted(answer.json()["position"] for answer in accepted) == [1, 2, 3, 4]


async def test_the_figures_of_the_queue(app: FastAPI, bench: Bench) -> None:
    await fill(bench, 2)
    later = datetime(2999, 1, 1, tzinfo=UTC)
    await bench.submit("noop", {"items": 1}, due_at=later, at_once=True)
    async with bench.worker():
        health = await level(bench, app)
    assert (health.depth, health.waiting, health.active, health.delayed) == (3, 2, 0, 1)
    assert (health.workers, health.slots) == (1, bench.runtime.settings.worker_slots)
    assert health.oldest_waiting_ms > 0
    assert health.since is None
