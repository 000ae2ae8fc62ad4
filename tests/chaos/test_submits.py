"""F15: the same request many times, and an API that dies just after it has accepted a job."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx2
import pytest
from tests.chaos.api_process import ApiProcess
from tests.chaos.chaos_bench import ChaosBench
from tests.chaos.clocks import Clock
from tests.chaos.tools import needs_faketime
from tests.chaos.worker_pool import WorkerPool
from tests.checker.case import Submitted

from penstock.settings import Settings
from penstock.store.database import Database

ORDER = {"pipeline": "noop", "config": {"items": 3}}


@pytest.fixture
async def api_process(
    settings: Settings, owner_dsn: str, db: Database, chaos_bench: ChaosBench, tmp_path: Path
) -> AsyncIterator[ApiProcess]:
    with ApiProcess(settings, owner_dsn, tmp_path / "api.log") as made:
        await made.admits(db)
        yield made


def _remember(chaos_bench: ChaosBench, answer: httpx2.Response, key: str) -> UUID:
    job_id = UUID(answer.json()["jobId"])
    chaos_bench.sent[job_id] = Submitted(3, [{"row": row} for row in range(3)], key=key)
    return job_id


async def _ask(
    client: httpx2.AsyncClient, key: str, order: dict[str, Any] | None = None
) -> httpx2.Response:
    """Until there is an answer that is not "later": so does every client that has a key."""
    while True:
        answer = await client.post(
            "/api/jobs", json=order or ORDER, headers={"Idempotency-Key": key}
        )
        if answer.status_code != 409:
            return answer
        assert answer.json()["error"]["code"] == "IDEMPOTENCY_CONFLICT"
        await asyncio.sleep(0.02)


async def test_a_hundred_at_once_with_one_key_make_one_job(
    chaos_bench: ChaosBench, worker_pool: WorkerPool, api_process: ApiProcess
) -> None:
    await api_process.start()
    limits = httpx2.Limits(max_connections=100)
    async with api_process.client(limits=limits) as client:
        for key in ("one", "two"):
            answers = await asyncio.gather(*(_ask(client, key) for _ in range(100)))
            assert {answer.status_code for answer in answers} == {202}
            assert len({answer.content for answer in answers}) == 1
            _remember(chaos_bench, answers[0], key)
        other = await _ask(client, "one", {**ORDER, "priority": 9})
        assert (other.status_code, other.json()["error"]["code"]) == (422, "IDEMPOTENCY_MISMATCH")
    worker_pool.start()
    await chaos_bench.ended(*chaos_bench.sent)
    await chaos_bench.is_clean()


async def test_an_api_that_dies_after_the_commit_has_made_one_job(
    chaos_bench: ChaosBench, worker_pool: WorkerPool, api_process: ApiProcess
) -> None:
    """Its client heard nothing and asks the next one, which knows what was answered. A worker
    finds the job although it was not woken."""
    worker_pool.start()
    for number in range(3):
        await api_process.start("after_submit:kill")
        async with api_process.client() as client:
            with pytest.raises(httpx2.TransportError):
                await _ask(client, f"key {number}")
        assert api_process.process is not None
        assert api_process.process.wait(5) == -signal.SIGKILL
        await api_process.start()
        async with api_process.client() as client:
            answer = await _ask(client, f"key {number}")
            assert answer.headers["Idempotency-Replayed"] == "true"
            _remember(chaos_bench, answer, f"key {number}")
        api_process.kill()
    await chaos_bench.ended(*chaos_bench.sent)
    await chaos_bench.is_clean()


@needs_faketime
@pytest.mark.parametrize("hours", [1, -1])
async def test_an_api_whose_clock_is_wrong(
    chaos_bench: ChaosBench,
    worker_pool: WorkerPool,
    api_process: ApiProcess,
    clock: Clock,
    hours: int,
) -> None:
    """F9: times are the database's, so that neither jobs nor keys notice."""
    await api_process.start(env=clock.env)
    worker_pool.start()
    async with api_process.client() as client:
        _remember(chaos_bench, await _ask(client, "before"), "before")
        clock.jump(hours * 3600)
        for key in ("after", "before"):
            _remember(chaos_bench, await _ask(client, key), key)
        jobs = await chaos_bench.ended(*chaos_bench.sent)
        assert len(jobs) == 2
        shown = await client.get(f"/api/jobs/{jobs[1]['id']}")
        assert shown.json()["state"] == "done"
    await chaos_bench.is_clean()
