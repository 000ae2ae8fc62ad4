"""Pause, resume, cancel and kickoff."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2
import pytest
from tests.api.conftest import Caller, Gate, refused, shaped, submit_noop
from tests.api.test_items import all_items
from tests.fixtures import Bench

from penstock.api.jobs.schemas import FullJob, Kickoff
from penstock.api.live.schemas import EventPage
from penstock.brokers.postgres import PostgresBroker
from penstock.model.ticket import Ticket
from penstock.store.database import Database


@pytest.fixture
def woken(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    lanes: list[str] = []

    async def send(_: PostgresBroker, ticket: Ticket) -> None:
        lanes.append(ticket.lane)

    monkeypatch.setattr(PostgresBroker, "send", send)
    return lanes


async def post(client: httpx2.AsyncClient, job: str, verb: str) -> FullJob:
    return shaped(FullJob, await client.post(f"/api/jobs/{job}/{verb}"))


async def audits(db: Database) -> list[Any]:
    async with db.acquire() as conn:
        return await conn.fetch(
            "SELECT * FROM audit WHERE action LIKE 'job.%' AND action <> 'job.create' ORDER BY id"
        )


async def events_of(client: httpx2.AsyncClient, job: str) -> list[str]:
    page = shaped(EventPage, await client.get(f"/api/jobs/{job}/events"))
    return [event.event for event in page.items]


async def test_a_paused_job_waits_until_it_is_resumed(
    client: httpx2.AsyncClient, bench: Bench, db: Database, woken: list[str]
) -> None:
    job = await submit_noop(client)
    assert (await post(client, job, "resume")).state == "queued"
    assert (await post(client, job, "pause")).state == "paused"
    assert (await post(client, job, "pause")).state == "paused"
    await bench.work()
    assert shaped(FullJob, await client.get(f"/api/jobs/{job}")).counters.pending == 3
    woken.clear()
    assert (await post(client, job, "resume")).state == "queued"
    assert woken == ["standard"]
    await bench.work()
    assert shaped(FullJob, await client.get(f"/api/jobs/{job}")).state == "done"
    # Only what changed anything is told and audited.
    assert (await events_of(client, job)).count("job.paused") == 1
    first, second = await audits(db)
    assert (first["action"], second["action"]) == ("job.pause", "job.resume")
    assert first["target"] == f"job:{job}"
    assert (first["user_id"], str(first["ip"])) == (bench.who.user_id, "127.0.0.1")
    assert (first["before"], first["after"]) == ('{"state": "queued"}', '{"state": "paused"}')


async def test_a_job_that_waits_is_cancelled_at_once(
    client: httpx2.AsyncClient, db: Database, woken: list[str]
) -> None:
    job = await submit_noop(client, 50)
    woken.clear()
    shown = await post(client, job, "cancel")
    assert (shown.state, shown.counters.skipped, shown.counters.pending) == ("cancelled", 50, 0)
    assert shown.errors == {"CANCELLED": 50}
    assert woken == ["standard"]
    assert (await post(client, job, "cancel")).state == "cancelled"
    assert len(await audits(db)) == 1


async def test_cancelling_a_running_job_takes_its_leases(
    client: httpx2.AsyncClient, bench: Bench, gate: Gate
) -> None:
    """Whoever works on it goes on in vain: what it says is not written, and nothing more starts."""
    job = await submit_noop(client, pipeline="gate", config={"items": 5})
    async with bench.worker() as worker:
        running = asyncio.create_task(worker.run_once())
        await gate.begun.wait()
        assert shaped(FullJob, await client.get(f"/api/jobs/{job}")).state == "running"
        assert (await post(client, job, "cancel")).state == "cancelled"
        gate.open.set()
        await running
        assert not await worker.run_once()
    items = await all_items(client, job, "")
    assert [(item.status, item.result) for item in items] == [("SKIPPED", None)] * 5
    assert (await events_of(client, job))[-1] == "job.cancelled"
    assert sorted(gate.worked) == [1, 2, 3, 4, 5]


async def test_a_large_job_is_cancelling_until_a_worker_has_skipped_the_rest(
    client: httpx2.AsyncClient, bench: Bench, db: Database
) -> None:
    job = await submit_noop(client, 2500)
    await bench.work(turns=1)
    assert (await post(client, job, "cancel")).state == "cancelling"
    async with db.acquire() as conn:
        # Whoever ends the job holds this; cancelling again must not take it away.
        held = await conn.fetchval(
            "INSERT INTO slices (id, kind, job_id, org_id, pipeline, stage, position, worker, "
            "expires_at, expected_ms, vstart) SELECT gen_random_uuid(), 'finish', id, org_id, "
            "'noop', 'finish', 1000, 'w', now() + interval '1 hour', 1, 0 FROM jobs RETURNING id"
        )
        assert (await post(client, job, "cancel")).state == "cancelling"
        assert await conn.execute("DELETE FROM slices WHERE id = $1", held) == "DELETE 1"
    refused(await client.post(f"/api/jobs/{job}/pause"), 409, "INVALID_STATE")
    await bench.work()
    shown = shaped(FullJob, await client.get(f"/api/jobs/{job}"))
    assert (shown.state, shown.counters.skipped) == ("cancelled", 2500)


async def test_what_has_ended_cannot_be_changed(client: httpx2.AsyncClient, bench: Bench) -> None:
    job = await submit_noop(client)
    await bench.work()
    for verb in ("pause", "resume", "cancel"):
        problem = refused(await client.post(f"/api/jobs/{job}/{verb}"), 409, "INVALID_STATE")
        assert "done" in problem.detail
    cancelled = await submit_noop(client)
    await post(client, cancelled, "cancel")
    problem = refused(await client.post(f"/api/jobs/{cancelled}/pause"), 409, "INVALID_STATE")
    assert "cancelled" in problem.detail


async def test_a_kickoff_works_without_workers(client: httpx2.AsyncClient, caller: Caller) -> None:
    job = await submit_noop(client, 300)
    address = f"/api/jobs/{job}/kickoff"
    worked = shaped(Kickoff, await client.post(f"{address}?durationMs=20000"))
    assert worked.slices >= 2
    assert (worked.job.state, worked.job.counters.done) == ("done", 300)
    again = shaped(Kickoff, await client.post(address))
    assert (again.slices, again.job.state) == (0, "done")
    for query in ("durationMs=0", "durationMs=60001", "durationMs=x"):
        refused(await client.post(f"{address}?{query}"), 422, "INVALID_PARAMETERS")
    paused = await submit_noop(client)
    await post(client, paused, "pause")
    refused(await client.post(f"/api/jobs/{paused}/kickoff"), 409, "INVALID_STATE")


async def test_an_admin_acts_on_any_org_and_its_org_sees_who(
    client: httpx2.AsyncClient, caller: Caller, db: Database, bench: Bench
) -> None:
    job = await submit_noop(client)
    admin = await caller("house", role="admin")
    assert (await post(admin, job, "cancel")).org == "acme"
    (audit,) = await audits(db)
    assert (audit["org_id"], audit["action"]) == (bench.who.org_id, "job.cancel")
    assert audit["user_id"] != bench.who.user_id
