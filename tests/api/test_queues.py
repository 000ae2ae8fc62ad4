"""Lanes over HTTP: for admins, audited, and nothing starts after the answer."""

from __future__ import annotations

from tests.api.conftest import Caller, refused, shaped, submit_noop
from tests.fixtures import Bench

from penstock.api.jobs.schemas import FullJob
from penstock.api.monitor.schemas import LanePage, LaneShape


async def test_a_lane_is_paused_and_resumed(caller: Caller, bench: Bench) -> None:
    admin, member = await caller("root", role="admin"), await caller()
    job_id = await submit_noop(member)
    paused = await admin.post("/api/queues/standard/pause", params={"reason": "upgrade"})
    shape = shaped(LaneShape, paused)
    assert (shape.paused, shape.reason, shape.paused_by) == (True, "upgrade", "admin@root")
    await bench.work()
    job = shaped(FullJob, await member.get(f"/api/jobs/{job_id}"))
    assert (job.state, job.lane_paused) == ("queued", True)
    listed = shaped(LanePage, await admin.get("/api/queues")).items
    assert [(one.lane, one.jobs, one.paused) for one in listed] == [
        ("standard", 1, True), ("basic", 0, False), ("default", 0, False),
    ]  # fmt: skip
    assert not shaped(LaneShape, await admin.post("/api/queues/standard/resume")).paused
    await bench.work()
    assert shaped(FullJob, await member.get(f"/api/jobs/{job_id}")).state == "done"
    async with bench.runtime.db.acquire() as conn:
        rows = await conn.fetch("SELECT action, target FROM audit WHERE action LIKE 'lane.%'")
    assert [tuple(row) for row in rows] == [
        ("lane.pause", "lane:standard"), ("lane.resume", "lane:standard"),
    ]  # fmt: skip


async def test_lanes_are_for_admins(caller: Caller) -> None:
    for role in ("member", "viewer"):
        client = await caller(role=role)
        for answer in (
            await client.get("/api/queues"),
            await client.post("/api/queues/standard/pause"),
            await client.post("/api/queues/standard/resume"),
        ):
            refused(answer, 403, "INSUFFICIENT_PERMISSIONS")


async def test_an_unknown_lane_is_refused(caller: Caller) -> None:
    admin = await caller("root", role="admin")
    refused(await admin.post("/api/queues/nonsense/pause"), 422, "INVALID_PARAMETERS")


async def test_another_orgs_lane_is_not_seen(caller: Caller, bench: Bench) -> None:
    admin = await caller("root", role="admin")
    await admin.post("/api/queues/priority.rich/pause")
    async with bench.runtime.db.acquire() as conn:
        await conn.execute("SET ROLE penstock_api")
        try:
            await conn.execute("SELECT set_config('penstock.org', '1', false)")
            assert await conn.fetchval("SELECT count(*) FROM paused_lanes") == 0
        finally:
            await conn.execute("RESET ROLE; RESET penstock.org")
