"""F15: the same request many times over, and an API that dies when it has just said yes."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx2
import pytest
from tests.chaos.clocks import Clock
from tests.chaos.crew import Crew
from tests.chaos.front import Front
from tests.chaos.ordeal import Ordeal
from tests.chaos.tools import needs_faketime
from tests.checker.case import Submitted

from penstock.settings import Settings
from penstock.store.database import Database

ORDER = {"pipeline": "noop", "config": {"items": 3}}


@pytest.fixture
async def front(
    settings: Settings, owner_dsn: str, db: Database, ordeal: Ordeal, tmp_path: Path
) -> AsyncIterator[Front]:
    with Front(settings, owner_dsn, tmp_path / "api.log") as made:
        await made.admits(db)
        yield made


def _remember(ordeal: Ordeal, answer: httpx2.Response, key: str) -> UUID:
    job_id = UUID(answer.json()["jobId"])
    ordeal.sent[job_id] = Submitted(3, [{"row": row} for row in range(3)], key=key)
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
    ordeal: Ordeal, crew: Crew, front: Front
) -> None:
    await front.start()
    limits = httpx2.Limits(max_connections=100)
    async with front.client(limits=limits) as client:
        for key in ("one", "two"):
            answers = await asyncio.gather(*(_ask(client, key) for _ in range(100)))
            assert {answer.status_code for answer in answers} == {202}
            assert len({answer.content for answer in answers}) == 1
            _remember(ordeal, answers[0], key)
        other = await _ask(client, "one", {**ORDER, "priority": 9})
        assert (other.status_code, other.json()["error"]["code"]) == (422, "IDEMPOTENCY_MISMATCH")
    crew.start()
    await ordeal.ended(*ordeal.sent)
    await ordeal.is_clean()


async def test_an_api_that_dies_after_the_commit_has_made_one_job(
    ordeal: Ordeal, crew: Crew, front: Front
) -> None:
    """Its client heard nothing and asks the next one, which knows what was answered. A worker
    finds the job although nobody told it."""
    crew.start()
    for number in range(3):
        await front.start("after_submit:kill")
        async with front.client() as client:
            with pytest.raises(httpx2.TransportError):
                await _ask(client, f"key {number}")
        assert front.process is not None
        assert front.process.wait(5) == -signal.SIGKILL
        await front.start()
        async with front.client() as client:
            answer = await _ask(client, f"key {number}")
            assert answer.headers["Idempotency-Replayed"] == "true"
            _remember(ordeal, answer, f"key {number}")
        front.kill()
    await ordeal.ended(*ordeal.sent)
    await ordeal.is_clean()


@needs_faketime
@pytest.mark.parametrize("hours", [1, -1])
async def test_an_api_whose_clock_is_wrong(
    ordeal: Ordeal, crew: Crew, front: Front, clock: Clock, hours: int
) -> None:
    """F9: times are the database's, so that neither jobs nor keys notice."""
    await front.start(env=clock.env)
    crew.start()
    async with front.client() as client:
        _remember(ordeal, await _ask(client, "before"), "before")
        clock.jump(hours * 3600)
        for key in ("after", "before"):
            _remember(ordeal, await _ask(client, key), key)
        jobs = await ordeal.ended(*ordeal.sent)
        assert len(jobs) == 2
        shown = await client.get(f"/api/jobs/{jobs[1]['id']}")
        assert shown.json()["state"] == "done"
    await ordeal.is_clean()
