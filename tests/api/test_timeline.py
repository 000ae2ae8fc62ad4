"""The course of a job: its stages in order, and rows per second."""

from __future__ import annotations

from datetime import timedelta

import httpx2
from tests.api.conftest import Caller, refused, shaped, submit_noop
from tests.fixtures import Bench

from penstock.api.jobs.timeline import JobTimeline
from penstock.api.monitor.monitor import Monitor


async def test_stages_and_rates_of_a_job(
    client: httpx2.AsyncClient, caller: Caller, bench: Bench
) -> None:
    job = await submit_noop(client, config={"items": 40, "stages": 2, "inline": False})
    address = f"/api/jobs/{job}/timeline"
    assert shaped(JobTimeline, await client.get(address)) == JobTimeline(stages=[], rates=[])
    await bench.work(turns=1)
    (reading,) = shaped(JobTimeline, await client.get(address)).stages
    assert (reading.kind, reading.ended_at is None) == ("ingest", False)
    await bench.work()
    course = shaped(JobTimeline, await client.get(address))
    assert [one.stage for one in course.stages] == ["ingest", "stage1", "stage2"]
    starts = [one.started_at for one in course.stages]
    assert starts == sorted(starts)
    for one in course.stages:
        assert one.ended_at is not None
        took = one.ended_at - one.started_at
        assert one.duration_ms == round(took / timedelta(milliseconds=1))
    assert course.rates
    assert any(one.rows_per_second > 0 for one in course.rates)
    other = await caller("globex")
    refused(await other.get(address), 404, "NOT_FOUND")


async def test_the_monitor_says_what_workers_hold(
    client: httpx2.AsyncClient, caller: Caller, bench: Bench
) -> None:
    admin = await caller("default", role="admin")
    job = await submit_noop(client, config={"items": 3})
    async with bench.worker() as worker:
        claimed = await worker._claim()
        assert claimed is not None
        (shown,) = shaped(Monitor, await admin.get("/api/monitor")).workers
    (held,) = shown.holds
    assert (held.job_id, held.stage, held.items, held.org) == (job, "stage1", 3, "acme")
