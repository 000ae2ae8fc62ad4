"""Schedules over the API: what is stored, begun, refused, paused and caught up on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest
from tests.api.conftest import CSV, Caller, client_of, refused, shaped
from tests.fixtures import Bench
from tests.guards.servers import answering, serving

from penstock.api.app import create_app
from penstock.api.schedules.schemas import (
    DeletedSchedule,
    FullSchedule,
    NextRuns,
    ScheduleList,
    ScheduleRunPage,
    StartedRun,
)
from penstock.app.schedules import schedules
from penstock.app.schedules.service import Scheduler, SchedulerConfig
from penstock.engine.runtime import Runtime
from penstock.guards.fetch import Fetcher
from penstock.model.network.addresses import parse_exempt
from penstock.model.network.fetching import FetchPurpose
from penstock.store.database import Database
from penstock.wiring import background_services

pytestmark = pytest.mark.slow


@pytest.fixture
async def runtime(runtime: Runtime) -> AsyncIterator[Runtime]:
    """One that may fetch from this machine."""
    fetcher = Fetcher(parse_exempt("127.0.0.1/32"))
    yield replace(runtime, fetchers={**runtime.fetchers, FetchPurpose.FILE: fetcher})
    await fetcher.close()


def file_schedule(url: str, **more: Any) -> dict[str, Any]:
    return {
        "name": "Prices", "cron": "0 6 * * *", "timeZone": "Europe/Berlin",
        "action": {"kind": "file", "url": url, "config": {"intent": "merge"}},
    } | more  # fmt: skip


def scheduler(runtime: Runtime, **config: Any) -> Scheduler:
    return Scheduler(runtime, SchedulerConfig(wait_seconds=20, **config))


async def shown(client: httpx2.AsyncClient, schedule: FullSchedule) -> FullSchedule:
    return shaped(FullSchedule, await client.get(f"/api/schedules/{schedule.id}"))


async def make_due(db: Database, schedule: FullSchedule, due: datetime) -> None:
    async with db.acquire() as conn:
        await conn.execute("UPDATE schedules SET next_at = $2 WHERE id = $1", schedule.id, due)


async def test_a_file_is_fetched_on_time_and_on_demand(
    client: httpx2.AsyncClient, bench: Bench, runtime: Runtime, db: Database
) -> None:
    assert "scheduler" in {one.name for one in background_services(runtime)}
    async with serving(answering(body=CSV)) as seen:
        url = f"http://127.0.0.1:{seen.port}/goods.csv"
        made = shaped(
            FullSchedule, await client.post("/api/schedules", json=file_schedule(url)), 201
        )
        assert made.state == "active"
        assert len(made.next_runs) == 5
        assert [one.astimezone(UTC).minute for one in made.next_runs] == [0] * 5
        started = shaped(StartedRun, await client.post(f"/api/schedules/{made.id}/run"), 202)
        service = scheduler(runtime)
        assert await service.run_once() == 0
        [run] = (await shown(client, made)).runs
        assert (run.state, run.manual, run.due_at) == ("running", True, started.due_at)
        await bench.work()
        await service.run_once()
        [run] = (await shown(client, made)).runs
        assert run.state == "done"
        job = (await client.get(f"/api/jobs/{run.job_id}")).json()
        assert (job["state"], job["counters"]["total"], job["file"]["name"]) == (
            "done", 2, "goods.csv"
        )  # fmt: skip

        # Due: once, whatever is done twice.
        due = datetime.now(UTC)
        await make_due(db, made, due)
        assert [await scheduler(runtime).run_once() for _ in range(3)] == [1, 0, 0]
        await make_due(db, made, due)
        assert await scheduler(runtime).run_once() == 0
        after = await shown(client, made)
        assert [(one.state, one.manual) for one in after.runs] == [
            ("running", False), ("done", True)
        ]  # fmt: skip
        assert after.next_at == after.next_runs[0]
        assert seen.connections == 2
    page = shaped(
        ScheduleRunPage,
        await client.get(f"/api/schedules/{made.id}/runs", params={"pageSize": 1}),
    )
    assert [one.state for one in page.items] == ["running"]
    rest = shaped(
        ScheduleRunPage,
        await client.get(f"/api/schedules/{made.id}/runs", params={"after": page.next}),
    )
    assert ([one.state for one in rest.items], rest.next) == (["done"], None)
    [listed] = shaped(ScheduleList, await client.get("/api/schedules")).items
    assert listed.last_run is not None
    assert listed.last_run.state == "running"
    assert shaped(DeletedSchedule, await client.delete(f"/api/schedules/{made.id}")).id == made.id
    refused(await client.get(f"/api/schedules/{made.id}"), 404, "NOT_FOUND")


async def test_what_fails_is_tried_again_and_pauses_the_schedule(
    client: httpx2.AsyncClient, runtime: Runtime
) -> None:
    """A server in trouble is asked three times; a file that is gone is not asked again."""
    async with serving(answering("503 Service Unavailable")) as seen:
        url = f"http://127.0.0.1:{seen.port}/goods.csv"
        order = file_schedule(url, pauseAfter=2)
        made = shaped(FullSchedule, await client.post("/api/schedules", json=order), 201)
        await client.post(f"/api/schedules/{made.id}/run")
        service = scheduler(runtime, retry_ms=0)
        for attempts, state in ((1, "waiting"), (2, "waiting"), (3, "failed")):
            await service.run_once()
            [run] = (await shown(client, made)).runs
            assert (run.attempts, run.state) == (attempts, state)
            assert run.error is not None
            assert run.error.code == "URL_UNREACHABLE"
        assert (await shown(client, made)).state == "active"
    async with serving(answering("404 Not Found")) as seen:
        order = file_schedule(f"http://127.0.0.1:{seen.port}/goods.csv", pauseAfter=2)
        changed = shaped(FullSchedule, await client.put(f"/api/schedules/{made.id}", json=order))
        assert changed.failures == 0
        for failures in (1, 2):
            await client.post(f"/api/schedules/{made.id}/run")
            await service.run_once()
            assert (await shown(client, made)).failures == failures
    paused = await shown(client, made)
    assert (paused.state, paused.next_at, paused.next_runs) == ("paused", None, [])
    assert paused.pause_reason is not None
    assert paused.pause_reason.startswith("Paused after 2 runs in a row failed.")
    assert "404" in paused.pause_reason
    refused(await client.post(f"/api/schedules/{made.id}/pause"), 409, "INVALID_STATE")
    resumed = shaped(FullSchedule, await client.post(f"/api/schedules/{made.id}/resume"))
    assert (resumed.state, resumed.failures, resumed.pause_reason) == ("active", 0, None)
    by_hand = shaped(FullSchedule, await client.post(f"/api/schedules/{made.id}/pause"))
    assert by_hand.pause_reason == "Paused by a user."


async def test_a_job_that_fails_counts_as_a_failure(
    client: httpx2.AsyncClient, bench: Bench, runtime: Runtime, db: Database
) -> None:
    async with serving(answering(body=CSV)) as seen:
        order = file_schedule(f"http://127.0.0.1:{seen.port}/goods.csv", pauseAfter=1)
        made = shaped(FullSchedule, await client.post("/api/schedules", json=order), 201)
        await client.post(f"/api/schedules/{made.id}/run")
        await scheduler(runtime).run_once()
    async with db.acquire() as conn:
        await conn.execute(
            "UPDATE jobs SET state = 'failed', finished_at = now(),"
            """ last_error = '{"code": "JOB_TIMEOUT", "message": "It took too long."}'"""
        )
    await scheduler(runtime).run_once()
    after = await shown(client, made)
    assert (after.state, after.runs[0].state) == ("paused", "failed")
    assert after.pause_reason == "Paused after 1 run failed. The last one: It took too long."


async def test_runs_have_the_rights_their_user_has_then(
    client: httpx2.AsyncClient, runtime: Runtime, db: Database
) -> None:
    async with serving(answering(body=CSV)) as seen:
        order = file_schedule(f"http://127.0.0.1:{seen.port}/goods.csv", pauseAfter=0)
        made = shaped(FullSchedule, await client.post("/api/schedules", json=order), 201)
        for change, code in (
            ("disabled_at = now()", "ACCOUNT_SUSPENDED"),
            ("disabled_at = NULL, role = 'viewer'", "INSUFFICIENT_PERMISSIONS"),
            ("role = 'member'", None),
        ):
            async with db.transaction() as conn:
                await conn.execute(
                    "INSERT INTO schedule_runs (schedule_id, due_at, org_id, state)"
                    " SELECT id, clock_timestamp(), org_id, 'waiting' FROM schedules"
                )
                await conn.execute(f"UPDATE users SET {change} WHERE email = $1", made.owner)
            await scheduler(runtime).run_once()
            async with db.acquire() as conn:
                run = await conn.fetchrow(
                    "SELECT state, error->>'code' AS code FROM schedule_runs"
                    " ORDER BY due_at DESC LIMIT 1"
                )
            assert run is not None
            assert (run["state"], run["code"]) == ("running" if code is None else "failed", code)
        assert seen.connections == 1


async def test_missed_runs_are_caught_up_on_as_asked(
    client: httpx2.AsyncClient, runtime: Runtime, db: Database
) -> None:
    since = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(hours=4)
    async with serving(answering(body=CSV)) as seen:
        url = f"http://127.0.0.1:{seen.port}/goods.csv"
        made = {}
        for catch_up in ("once", "all", "none"):
            order = file_schedule(url, name=catch_up, catchUp=catch_up, cron="30 * * * *")
            one = shaped(FullSchedule, await client.post("/api/schedules", json=order), 201)
            await make_due(db, one, since + timedelta(minutes=30))
            made[catch_up] = one
        service = scheduler(runtime)
        await service.run_once()
        found = {name: (await shown(client, one)).runs for name, one in made.items()}
    every = [run.due_at for run in found["all"]]
    assert len(every) in (4, 5)
    assert {run.state for run in found["all"]} == {"running"}
    newest, missed = found["once"]
    assert (newest.due_at, newest.state) == (every[0], "running")
    assert (missed.due_at, missed.state, missed.times) == (every[1], "missed", len(every) - 1)
    late = [run for run in found["none"] if run.state == "missed"]
    assert [(run.state, run.times >= len(every) - 1) for run in late] == [("missed", True)]


async def test_a_single_run_ends_the_schedule(client: httpx2.AsyncClient, runtime: Runtime) -> None:
    at = datetime.now(UTC) + timedelta(hours=1)
    async with serving(answering(body=CSV)) as seen:
        order = file_schedule(f"http://127.0.0.1:{seen.port}/goods.csv", at=at.isoformat())
        del order["cron"]
        made = shaped(FullSchedule, await client.post("/api/schedules", json=order), 201)
        assert made.next_runs == [at]
        assert await scheduler(runtime).run_once() == 0
        # The clock goes an hour ahead, back, and ahead again.
        ahead = timedelta(hours=1, seconds=1)
        assert await scheduler(runtime, shift=ahead).run_once() == 1
        assert await scheduler(runtime, shift=-ahead).run_once() == 0
        assert await scheduler(runtime, shift=ahead).run_once() == 0
        after = await shown(client, made)
    assert (after.state, len(after.runs), seen.connections) == ("ended", 1, 1)
    refused(await client.post(f"/api/schedules/{made.id}/resume"), 409, "INVALID_STATE")


async def test_what_is_refused(client: httpx2.AsyncClient, caller: Caller) -> None:
    good = file_schedule("http://127.0.0.1:9/goods.csv")
    shaped(FullSchedule, await client.post("/api/schedules", json=good), 201)
    refused(await client.post("/api/schedules", json=good), 409, "INVALID_STATE")
    past = (datetime.now(UTC) - timedelta(minutes=1)).isoformat()
    unknown = "0192f0c1-7d5e-7c3a-9b1f-3f2d5a6b7c8d"
    for change, status, code, words in (
        ({"cron": "61 * * * *"}, 422, "INVALID_PARAMETERS", "not allowed as minute"),
        ({"timeZone": "Mars/Base"}, 422, "INVALID_PARAMETERS", "no time zone"),
        ({"cron": None}, 422, "INVALID_PARAMETERS", "exactly one"),
        ({"at": past}, 422, "INVALID_PARAMETERS", "exactly one"),
        ({"cron": None, "at": past}, 422, "INVALID_PARAMETERS", "has passed"),
        ({"catchUp": "twice"}, 422, "INVALID_PARAMETERS", "catchUp"),
        ({"often": 1}, 422, "UNKNOWN_FIELD", "often"),
        ({"action": {"kind": "coffee"}}, 422, "INVALID_PARAMETERS", "file, shop"),
        ({"action": {"kind": "file"}}, 422, "INVALID_PARAMETERS", "action.url"),
        (
            {"action": good["action"] | {"colour": 1}}, 422, "UNKNOWN_FIELD", "action.colour",
        ),
        (
            {"action": good["action"] | {"config": {"colour": 1}}}, 422, "UNKNOWN_FIELD",
            "config.colour",
        ),
        (
            {"action": {"kind": "file", "url": "http://10.0.0.1/x.csv"}}, 422,
            "URL_NOT_ALLOWED", "",
        ),
        (
            {"action": {"kind": "file", "url": "http://127.0.0.1:9/x", "pipeline": "shop_import"}},
            422, "INVALID_PARAMETERS", "takes no file",
        ),
        ({"action": {"kind": "shop", "connectionId": unknown}}, 404, "NOT_FOUND", "connection"),
        ({"action": {"kind": "research", "query": "x"}}, 422, "INVALID_PARAMETERS", "source"),
        ({"action": {"kind": "crawl", "companies": []}}, 422, "INVALID_PARAMETERS", "companies"),
    ):  # fmt: skip
        sent = {k: v for k, v in (good | {"name": "Other"} | change).items() if v is not None}
        problem = refused(await client.post("/api/schedules", json=sent), status, code)
        assert words in problem.detail
    colleague = await caller(email="second@acme")
    [listed] = shaped(ScheduleList, await colleague.get("/api/schedules")).items
    assert not listed.may_change
    refused(
        await colleague.post(f"/api/schedules/{listed.id}/run"), 403, "INSUFFICIENT_PERMISSIONS"
    )
    stranger = await caller("other")
    assert shaped(ScheduleList, await stranger.get("/api/schedules")).items == []
    looked = await stranger.post(
        "/api/schedules/next-runs", json={"cron": "0 0 29 2 *", "timeZone": "UTC"}
    )
    assert [one.month for one in shaped(NextRuns, looked).next_runs] == [2] * 5


async def test_crawls_and_the_same_key(
    client: httpx2.AsyncClient, runtime: Runtime, api_db: Database
) -> None:
    near = client_of(
        create_app(runtime, api_db), client.headers["authorization"].removeprefix("Bearer ")
    )
    action = {
        "kind": "crawl", "companies": [{"company": "acme", "urls": ["https://shop.example/p/1"]}],
        "config": {"kind": "product"},
    }  # fmt: skip
    order = {"name": "Weekly", "cron": "@weekly", "action": action}
    key = {"Idempotency-Key": "weekly"}
    made = shaped(FullSchedule, await near.post("/api/schedules", json=order, headers=key), 201)
    again = await near.post("/api/schedules", json=order, headers=key)
    assert again.headers["idempotency-replayed"] == "true"
    assert shaped(FullSchedule, again, 201).id == made.id
    for _ in range(2):
        await near.post(f"/api/schedules/{made.id}/run", headers={"Idempotency-Key": "now"})
    await scheduler(runtime).run_once()
    [run] = (await shown(near, made)).runs
    found = (await near.get(f"/api/runs/{run.job_id}")).json()
    assert (found["name"], found["status"]) == ("Weekly", "queued")


async def test_four_leaders_at_once_begin_each_run_once(
    client: httpx2.AsyncClient, runtime: Runtime, db: Database
) -> None:
    async with serving(answering(body=CSV)) as seen:
        url = f"http://127.0.0.1:{seen.port}/goods.csv"
        since = datetime.now(UTC).replace(second=0, microsecond=0) - timedelta(minutes=2)
        for number in range(3):
            order = file_schedule(url, name=f"{number}", cron="* * * * *", catchUp="all")
            one = shaped(FullSchedule, await client.post("/api/schedules", json=order), 201)
            await make_due(db, one, since)
        leaders = [scheduler(runtime, runs_at_once=2) for _ in range(4)]
        for _ in range(8):
            await asyncio.gather(*(one.run_once() for one in leaders))
    async with db.acquire() as conn:
        runs = await conn.fetch("SELECT state, job_id FROM schedule_runs")
        jobs = await conn.fetchval("SELECT count(*) FROM jobs")
    assert len(runs) in (9, 12)
    assert {one["state"] for one in runs} == {"running"}
    assert len({one["job_id"] for one in runs}) == len(runs) == jobs


async def test_a_clock_that_jumps_begins_each_due_time_once(
    client: httpx2.AsyncClient, runtime: Runtime, db: Database
) -> None:
    """Two leaders, by the clock of the database: ten days ahead and back, then three hours back."""
    async with serving(answering(body=CSV)) as seen:
        url = f"http://127.0.0.1:{seen.port}/goods.csv"
        order = file_schedule(url, cron="0 * * * *", timeZone="UTC", catchUp="once")
        made = shaped(FullSchedule, await client.post("/api/schedules", json=order), 201)

        async def at(hours: int) -> tuple[int, timedelta]:
            """Runs that become due, and how long it is until the next."""
            shift = timedelta(hours=hours)
            leaders = [scheduler(runtime, shift=shift) for _ in range(2)]
            added = sum(await asyncio.gather(*(one.run_once() for one in leaders)))
            async with db.acquire() as conn:
                wait = await conn.fetchval(
                    "SELECT next_at - clock_timestamp() - $1 FROM schedules", shift
                )
            return added, wait

        hour = timedelta(hours=1)
        assert (await at(0))[0] == 0
        # The clock is wrong by ten days, begins the newest missed run, and is corrected.
        for hours, begun in ((240, 1), (0, 0), (1, 1), (2, 1), (3, 1)):
            added, wait = await at(hours)
            assert (hours, added, timedelta() < wait <= hour) == (hours, begun, True)
        # Set back by three hours: the same due times come again.
        for hours, begun in ((0, 0), (1, 0), (2, 0), (3, 0), (4, 1)):
            added, wait = await at(hours)
            assert (hours, added, timedelta() < wait <= hour) == (hours, begun, True)
        # What was called missed by the wrong clock begins at its time; what it began does not.
        assert [(await at(hours))[0] for hours in (239, 240, 241)] == [1, 0, 1]
        runs = (await shown(client, made)).runs
    assert len(runs) == len({run.due_at for run in runs})
    async with db.acquire() as conn:
        rows = await conn.fetch("SELECT job_id FROM schedule_runs WHERE state <> 'missed'")
        jobs = await conn.fetchval("SELECT count(*) FROM jobs")
    assert len({row["job_id"] for row in rows}) == len(rows) == jobs == 7


async def test_the_clock_of_the_database_decides_when_a_schedule_is_due_first(
    client: httpx2.AsyncClient, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not that of the process that creates or resumes it."""

    class Wrong(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime.now(tz) + timedelta(days=3)

    monkeypatch.setattr(schedules, "datetime", Wrong)
    order = file_schedule("http://127.0.0.1:9/x.csv", cron="0 * * * *", timeZone="UTC")
    made = shaped(FullSchedule, await client.post("/api/schedules", json=order), 201)
    for _ in range(2):
        async with db.acquire() as conn:
            wait = await conn.fetchval("SELECT next_at - clock_timestamp() FROM schedules")
        assert timedelta() < wait <= timedelta(hours=1)
        for verb in ("pause", "resume"):
            shaped(FullSchedule, await client.post(f"/api/schedules/{made.id}/{verb}"))
