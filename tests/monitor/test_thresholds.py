"""Every threshold is driven over and back, with two leaders that check and notify at the same time:
the status, one event, and exactly one notice by HTTP and one by SMTP, each way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from tests.engine.receiving import past_all
from tests.fixtures import Bench
from tests.monitor import test_notifications as shared
from tests.monitor.support import Mailbox, Receiver, outbox_of
from tests.monitor.test_notifications import add, bodies, later
from tests.monitor.test_service import monitor_of, told

from penstock.engine import ending
from penstock.engine.worker.loop import Worker
from penstock.model.errors import ItemError
from penstock.model.monitor.checks import LEASE_TAKEN_BACK, Thresholds
from penstock.model.network.notifications import PIPELINE
from penstock.settings import Settings
from penstock.store.accounts.accounts import Principal
from penstock.store.database import Database, to_json
from penstock.store.jobs import dead_letters
from penstock.store.jobs.claims import Served
from penstock.store.workers import workers
from penstock.wiring import open_runtime

box, receiver, settings, admin = shared.box, shared.receiver, shared.settings, shared.admin

_METRICS = """
INSERT INTO job_metrics (org_id, job_id, generation, pipeline, lane, status, success, queued_ms,
                         run_ms, total_ms, total, done, error, not_found, skipped, attempts,
                         finished_at)
SELECT o.id, gen_random_uuid(), 1, 'noop', 'basic', 'done', $1, 1, 1, $2, 1, 1, 0, 0, 0, 0, now()
FROM orgs o, generate_series(1, 30) LIMIT 30
"""
_CALLS = """
INSERT INTO provider_calls (org_id, provider, company, domain, minute, calls, failed, throttled,
                            durations)
SELECT id, 'shop', '', 'a', date_trunc('minute', now()), 100, $1, 0, $2 FROM orgs LIMIT 1
"""
_QUICK, _SLOW = [100, *[0] * 11], [0] * 10 + [100, 0]


@dataclass
class Case:
    """How the figure of a threshold gets over it, and back."""

    bench: Bench
    db: Database

    async def sql(self, statement: str, *values: Any) -> None:
        async with self.db.transaction() as conn:
            await conn.execute(statement, *values)

    async def live_worker(self, **figures: Any) -> None:
        await self.sql(
            "INSERT INTO workers (id, host, pid, slots, figures, heartbeat_at)"
            " VALUES ('w', 'elsewhere', 1, 5, $1, now() + interval '1 hour')"
            " ON CONFLICT (id) DO UPDATE SET figures = excluded.figures",
            to_json(figures),
        )


Step = Callable[[Case], Awaitable[Any]]


async def _waits_long(case: Case) -> None:
    await case.live_worker()
    await case.bench.submit("noop", {"items": 1})
    await case.sql(
        "UPDATE jobs SET ready_at = now() - interval '11 minutes' WHERE pipeline = 'noop'"
    )


async def _ends(case: Case) -> None:
    async with case.db.transaction() as conn:
        for row in await conn.fetch("SELECT id FROM jobs WHERE pipeline = 'noop'"):
            await ending.cancel(conn, row["id"])


async def _dead_letter(case: Case) -> None:
    job = await case.bench.submit("noop", {"items": 1})
    async with case.db.transaction() as conn:
        await ending.fail(conn, job, ItemError("FILE_NOT_FOUND", "It is gone."), None)


async def _no_letter(case: Case) -> None:
    async with case.db.transaction() as conn:
        for row in await conn.fetch("SELECT id FROM jobs WHERE state = 'failed'"):
            await dead_letters.close_of_job(conn, row["id"], None)


async def _stalls(case: Case) -> None:
    async with case.db.transaction() as conn:
        for _ in range(6):
            await workers.add_system_event(conn, "worker.error", "w", {"reason": LEASE_TAKEN_BACK})


def _metrics(success: bool, total_ms: int) -> Step:
    return lambda case: case.sql(_METRICS, success, total_ms)


def _calls(failed: int, durations: list[int]) -> Step:
    return lambda case: case.sql(_CALLS, failed, durations)


def _figures(**figures: Any) -> Step:
    return lambda case: case.live_worker(**figures)


_FORGET: Step = lambda case: case.sql("DELETE FROM job_metrics")  # noqa: E731
_NO_CALLS: Step = lambda case: case.sql("DELETE FROM provider_calls")  # noqa: E731
# Threshold, the way over it, and the way back.
CASES: dict[str, tuple[float, Step, Step]] = {
    "depth": (0, lambda case: later(case.bench), _ends),
    "oldest_ms": (600_000, _waits_long, _ends),
    "dead_letters": (0, _dead_letter, _no_letter),
    "success_rate": (0.9, _metrics(success=False, total_ms=1), _FORGET),
    "duration_ms": (60_000, _metrics(success=True, total_ms=60_001), _FORGET),
    "p50_ms": (300_000, _metrics(success=True, total_ms=300_001), _FORGET),
    "p95_ms": (900_000, _metrics(success=True, total_ms=900_001), _FORGET),
    "p99_ms": (1_800_000, _metrics(success=True, total_ms=1_800_001), _FORGET),
    "retry_rate": (
        0.1, _figures(recent={"items": 100, "retried": 11}), _figures(recent={"items": 100}),
    ),
    "stalled": (
        5, _stalls,
        lambda case: case.sql("UPDATE events SET created_at = now() - interval '1 day'"),
    ),
    "workers": (
        1, lambda case: case.sql("DELETE FROM workers"), lambda case: case.live_worker(),
    ),
    "cpu": (0.8, _figures(cpuShare=0.81), _figures(cpuShare=0.5)),
    "memory": (
        0.85, _figures(rssBytes=90, memoryBytes=100), _figures(rssBytes=10, memoryBytes=100),
    ),
    "jobs_per_worker": (5, _waits_long, _ends),
    "provider_error_rate": (0.05, _calls(6, _QUICK), _NO_CALLS),
    "provider_p95_ms": (5000, _calls(0, _SLOW), _NO_CALLS),
}  # fmt: skip
# Others that the same figures would pass too.
_LENIENT = {
    "depth": 1e9, "oldest_ms": 1e12, "dead_letters": 1e9, "success_rate": 0, "duration_ms": 1e12,
    "p50_ms": 1e12, "p95_ms": 1e12, "p99_ms": 1e12, "retry_rate": 2, "stalled": 1e9, "workers": 0,
    "cpu": 1e9, "memory": 1e9, "jobs_per_worker": 0, "provider_error_rate": 2,
    "provider_p95_ms": 1e12,
}  # fmt: skip


def test_no_threshold_is_left_out() -> None:
    assert set(CASES) == set(_LENIENT) == set(Thresholds.names())


async def test_every_threshold_over_and_back(
    bench: Bench, db: Database, settings: Settings, owner_dsn: str, receiver: Receiver,
    box: Mailbox, admin: Principal,
) -> None:  # fmt: skip
    wide = {"severities": ["warning", "critical"]}
    await add(bench.runtime, admin, "webhook", receiver.url, **wide)
    await add(bench.runtime, admin, "email", "ops@example.com", **wide)
    case = Case(bench, db)
    async with open_runtime(settings, owner_dsn, name="second leader") as second:
        leaders = (bench.runtime, second)

        async def lead(limits: dict[str, float]) -> set[str]:
            """Both check, hand out and send at the same time, twice."""
            found: set[str] = set()
            for _ in range(2):
                checks = (monitor_of(one, **limits).run_once() for one in leaders)
                # None: the other leader was checking.
                found |= {one for one in await asyncio.gather(*checks) if one is not None}
                await past_all(bench.runtime)
                await asyncio.gather(*(outbox_of(one).run_once() for one in leaders))
                async with Worker(
                    bench.runtime, Served(pipelines=[PIPELINE]), sweeps=False, announces=False
                ) as worker:
                    while await worker.run_once():
                        pass
            return found

        for name, (threshold, over, back) in CASES.items():
            limits = {**_LENIENT, name: threshold}
            box.raw.clear()
            seen, posted = len(await told(db, "")), len(bodies(receiver))
            await over(case)
            assert await lead(limits) == {"degraded"}, name
            await back(case)
            assert await lead(limits) == {"healthy"}, name
            events = [one for one, _ in (await told(db, ""))[seen:]]
            opened = [
                one for one in events if one.startswith(("health.warning", "health.critical"))
            ]
            assert opened or "alert.dlq" in events, (name, events)
            assert events.count("health.status_change") == 2, (name, events)
            phases = [(one["key"], one["phase"]) for one in bodies(receiver)[posted:]]
            assert [phase for _, phase in phases] == ["opened", "resolved"], phases
            assert {key.partition(":")[0] for key, _ in phases} == {name}, phases
            subjects = [str(mail["Subject"]) for mail in box.mails]
            assert len(subjects) == 2, (name, subjects)
            assert "Resolved" in subjects[1], (name, subjects)
