"""The monitor over a real installation: what it stores, and what it tells once."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.fixtures import Bench

from penstock.engine.runtime import Runtime
from penstock.model.monitor.checks import Thresholds
from penstock.monitor.alerts import Links
from penstock.monitor.service import MetricRetention, MetricRetentionConfig, Monitor, MonitorConfig
from penstock.store.database import Database, from_json
from penstock.store.monitor import monitor
from penstock.wiring import open_runtime

LINKS = Links("https://penstock.example", "https://docs.example/runbook")


def monitor_of(runtime: Runtime, **limits: float) -> Monitor:
    lenient: dict[str, Any] = {"workers": 0} | limits
    return Monitor(runtime, MonitorConfig(0, Thresholds(**lenient), LINKS))


async def told(db: Database, prefix: str = "health.") -> list[tuple[str, Any]]:
    async with db.acquire() as conn:
        rows = await conn.fetch(
            "SELECT event, data FROM events WHERE event LIKE $1 || '%' ORDER BY id", prefix
        )
    return [(row["event"], from_json(row["data"])) for row in rows]


async def test_what_it_measures_is_stored(bench: Bench, db: Database) -> None:
    await bench.submit("noop", {"items": 3, "failEvery": 1})
    await bench.submit("noop", {"items": 3})
    await bench.work()
    await bench.submit("noop", {"items": 3})
    assert await monitor_of(bench.runtime, least_jobs=1).run_once() == "degraded"
    async with db.acquire() as conn:
        check = await monitor.newest_check(conn)
        stored = await conn.fetchrow("SELECT * FROM health_checks")
    assert check is not None
    assert stored is not None
    assert (check.status, stored["depth"], stored["workers"]) == ("degraded", 1, 0)
    jobs = check.figures["pipelines"]["noop"]
    assert (jobs["succeeded"], jobs["failed"], jobs["successRate"]) == (1, 1, 0.5)
    assert [one["name"] for one in check.checks if not one["ok"]] == ["successRate"]
    assert len(check.checks) == 14


async def test_a_few_failed_jobs_leave_the_installation_healthy(bench: Bench, db: Database) -> None:
    for _ in range(3):
        await bench.submit("noop", {"items": 1, "failEvery": 1})
    await bench.work()
    assert await monitor_of(bench.runtime).run_once() == "healthy"
    async with db.acquire() as conn:
        check = await monitor.newest_check(conn)
    assert check is not None
    # The figure is shown all the same.
    [rate] = [one for one in check.checks if one["name"] == "successRate"]
    assert (rate["ok"], rate["value"]) == (True, 0)


async def test_a_change_is_told_once_and_so_is_the_way_back(bench: Bench, db: Database) -> None:
    job = await bench.submit("noop", {"items": 3})
    strict = monitor_of(bench.runtime, depth=0)
    assert await strict.run_once() == await strict.run_once() == "degraded"
    many = monitor_of(bench.runtime, depth=0, workers=1, dead_letters=-1)
    assert await many.run_once() == "unhealthy"
    await bench.work(job)
    assert await strict.run_once() == "healthy"
    assert [(event, data["before"], data["status"]) for event, data in await told(db)] == [
        ("health.status_change", "healthy", "degraded"),
        ("health.warning", "healthy", "degraded"),
        ("health.status_change", "degraded", "unhealthy"),
        ("health.critical", "degraded", "unhealthy"),
        ("health.status_change", "unhealthy", "healthy"),
    ]


async def test_workers_that_start_or_restart_are_no_problem(bench: Bench, db: Database) -> None:
    """A new leader sees too few workers at first. It neither opens an alert nor resolves one that
    it cannot judge yet; too few for longer than the grace are a problem."""
    now = [0.0]
    config = MonitorConfig(0, Thresholds(workers=2), LINKS, grace_ms=60_000)
    first = Monitor(bench.runtime, config, lambda: now[0])
    assert await first.run_once() == "healthy"
    async with db.acquire() as conn:
        check = await monitor.newest_check(conn)
        assert check is not None
        [workers] = [one for one in check.checks if one["name"] == "workers"]
        assert (workers["ok"], workers["value"], workers["threshold"]) == (True, 0, 2)
        assert await conn.fetchval("SELECT count(*) FROM alerts") == 0
    now[0] = 61.0
    assert await first.run_once() == "degraded"
    second = Monitor(bench.runtime, config, lambda: now[0])
    assert await second.run_once() == "healthy"
    async with db.acquire() as conn:
        rows = await conn.fetch("SELECT key, resolved_at FROM alerts")
    assert [(row["key"], row["resolved_at"]) for row in rows] == [("workers", None)]


async def test_two_leaders_store_one_check(
    bench: Bench, db: Database, owner_dsn: str, runtime: Runtime
) -> None:
    await bench.submit("noop", {"items": 3})
    config = MonitorConfig(30_000, Thresholds(depth=0, workers=0), LINKS)
    async with open_runtime(runtime.settings, owner_dsn, name="other") as other:
        both = [Monitor(runtime, config), Monitor(other, config)]
        found = await asyncio.gather(*(one.run_once() for one in both for _ in range(3)))
    assert sorted(str(one) for one in found) == ["None"] * 5 + ["degraded"]
    async with db.acquire() as conn:
        assert await conn.fetchval("SELECT count(*) FROM health_checks") == 1
    assert len(await told(db)) == 2


async def test_metrics_stay_when_jobs_go_and_go_after_their_time(
    bench: Bench, db: Database
) -> None:
    for _ in range(3):
        await bench.submit("noop", {"items": 1})
    await bench.work()
    async with db.transaction() as conn:
        await conn.execute("DELETE FROM jobs")
        await conn.execute(
            "UPDATE job_metrics SET finished_at = now() - interval '91 days' WHERE id = (SELECT"
            " min(id) FROM job_metrics)"
        )
    keeper = MetricRetention(bench.runtime, MetricRetentionConfig(90, chunk=1))
    assert await keeper.run_once() == 1
    async with db.acquire() as conn:
        assert await conn.fetchval("SELECT count(*) FROM job_metrics") == 2
