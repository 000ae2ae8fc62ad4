"""Events of a job: its place in the queue, its stages, and what its file is warned of."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from tests.extraction.support import run_file
from tests.fixtures import Bench, MakePrincipal

from penstock.pipelines.noop import ALLOW_CRASH
from penstock.store.database import from_json


async def events(bench: Bench, job_id: UUID) -> list[tuple[str, dict[str, Any]]]:
    async with bench.runtime.db.acquire() as conn:
        rows = await conn.fetch(
            "SELECT event, data FROM events WHERE job_id = $1 ORDER BY seq", job_id
        )
    return [(row["event"], from_json(row["data"])) for row in rows]


async def queued(bench: Bench, job_id: UUID) -> dict[str, Any]:
    [(_, told)] = [one for one in await events(bench, job_id) if one[0] == "job.queued"]
    return told


async def test_a_job_is_told_what_is_ahead_of_it(bench: Bench, principal: MakePrincipal) -> None:
    """Jobs of the org with the same or a higher priority; of another org only as many as start
    before this one's turn."""
    other = await principal("globex")
    for _ in range(10):
        await bench.submit(config={"items": 1}, who=other)
    first = await bench.submit(config={"items": 1})
    assert (await queued(bench, first))["position"] == 2
    urgent = await bench.submit(config={"items": 1}, priority=10)
    assert (await queued(bench, urgent))["position"] == 2
    last = await bench.submit(config={"items": 1}, priority=0)
    told = await queued(bench, last)
    assert told["position"] == 6
    assert told["estimatedWaitMs"] == 0


async def test_each_stage_is_told_once_and_so_are_warnings_of_the_file(bench: Bench) -> None:
    file = b"title,price\n" + b"".join(b"Thing %d,1.50\n" % n for n in range(20))
    job = await run_file(bench, file, currency="USD", mapping={"title": "title"})
    told = await events(bench, job["id"])
    stages = [data["stage"] for event, data in told if event == "job.status"]
    assert stages == list(dict.fromkeys(stages))
    assert (stages[0], stages[-1]) == ("extract", "finish")
    warned = [data for event, data in told if event == "job.warning"]
    assert warned == job["context"]["warnings"]
    assert [one["code"] for one in warned] == ["REQUIRED_MISSING"]
    async with bench.runtime.db.acquire() as conn:
        rows = await conn.fetch(
            "SELECT name, started_at <= moved_at AS fine FROM job_stages"
            " WHERE job_id = $1 AND started_at IS NOT NULL AND kind <> 'finish'",
            job["id"],
        )
    assert {"ingest", "extract"} <= {row["name"] for row in rows}
    assert all(row["fine"] for row in rows)


async def test_the_death_of_a_child_process_is_told(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ALLOW_CRASH, "1")
    job_id = await bench.submit(config={"items": 1, "cpuMs": 1, "crashRow": 1})
    await bench.work(job_id, turns=2)
    async with bench.runtime.db.acquire() as conn:
        told = await conn.fetch("SELECT data FROM events WHERE event = 'worker.error'")
    found = [from_json(row["data"]) for row in told]
    assert {"CHILD_CRASHED"} == {one["reason"] for one in found}
    assert {str(job_id)} == {one["jobId"] for one in found}


async def test_a_job_is_created_before_it_starts(bench: Bench) -> None:
    """Also if the claim began before the job was submitted, and waited for its turn."""
    job_id = await bench.submit(config={"items": 1})
    async with bench.runtime.db.acquire() as conn:
        await conn.execute(
            "UPDATE jobs SET created_at = now() + interval '1 second',"
            " queued_at = now() + interval '1 second' WHERE id = $1", job_id,
        )  # fmt: skip
    await bench.work(job_id)
    job = await bench.job(job_id)
    assert job["created_at"] <= job["started_at"]
