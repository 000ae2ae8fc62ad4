"""On a running installation, real work drives thresholds over and back: the status, the event, and
exactly one notice each by HTTP and SMTP, with leaders that race."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from pathlib import Path

import pytest
from pydantic import SecretStr
from tests.chaos.api_process import ApiProcess
from tests.chaos.worker_pool import WorkerPool
from tests.checker.polling import until
from tests.fixtures import Bench, MakePrincipal
from tests.monitor.installation import Installation
from tests.monitor.support import Mailbox, Receiver, mailbox, receiving
from tests.shop_import.support import Shopper, sandbox

from penstock.guards.sealing import new_key
from penstock.model.monitor.checks import Thresholds
from penstock.pipelines.noop import ALLOW_CRASH
from penstock.providers.sandbox.faults import FaultPlan
from penstock.providers.sandbox.server import Sandbox
from penstock.settings import Settings
from penstock.store.accounts import accounts
from penstock.store.database import Database

pytestmark = pytest.mark.slow
KEY = new_key()
_SLOW_JOBS = {"depth", "oldest_ms", "duration_ms", "p50_ms", "p95_ms", "p99_ms"}
_EVENTS = {"health.status_change", "health.warning", "alert.dlq", "worker.error"}
# Time passes: what happened before is out of the window of its check.
_LATER = {
    "stalled": "UPDATE events SET created_at = created_at - interval '11 minutes'"
    " WHERE event = 'worker.error'",
    "waiting": "UPDATE jobs SET ready_at = ready_at - interval '11 minutes'"
    " WHERE state IN ('queued', 'running')",
    "jobs": "UPDATE job_metrics SET finished_at = finished_at - interval '61 minutes'",
    "calls": "UPDATE provider_calls SET minute = minute - interval '16 minutes'",
}


@pytest.fixture
async def box() -> AsyncIterator[Mailbox]:
    async with mailbox() as made:
        yield made


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as made:
        yield made


@pytest.fixture
async def shops() -> AsyncIterator[Sandbox]:
    async with sandbox(2) as made:
        yield made


@pytest.fixture
def settings(settings: Settings) -> Settings:
    changed = {
        "secret_key": SecretStr(KEY), "webhook_allow": "127.0.0.0/8", "provider_allow": "127.0.0.1",
        "worker_slots": 2, "claim_max": 10,
        "monitor_every_ms": 200, "notify_group_ms": 0, "notify_per_hour": 10_000,
        "monitor_workers": 2, "monitor_stalled": 0, "monitor_depth": 6, "monitor_oldest_ms": 1500,
        "monitor_dead_letters": 0, "monitor_duration_ms": 3000, "monitor_p50_ms": 3000,
        "monitor_p95_ms": 3000, "monitor_p99_ms": 3000, "monitor_memory": 0.6,
        "monitor_cpu": 0.12, "monitor_provider_p95_ms": 1500, "monitor_least_jobs": 1,
        "circuit_failures": 1000,
    }  # fmt: skip
    return settings.model_copy(update=changed)


@pytest.fixture
def worker_pool(settings: Settings, owner_dsn: str, tmp_path: Path) -> Iterator[WorkerPool]:
    with WorkerPool(settings, owner_dsn, tmp_path / "crew") as made:
        yield made


@pytest.fixture
def api_process(settings: Settings, owner_dsn: str, tmp_path: Path) -> Iterator[ApiProcess]:
    with ApiProcess(settings, owner_dsn, tmp_path / "api.log") as made:
        yield made


@pytest.fixture
async def running(
    db: Database, worker_pool: WorkerPool, api_process: ApiProcess, receiver: Receiver,
    box: Mailbox, principal: MakePrincipal,
) -> Installation:  # fmt: skip
    admin = await principal("house", role="admin")
    async with db.acquire() as conn:
        api_process.key = await accounts.create_key(conn, admin.org_id, admin.user_id)
    env = {"PENSTOCK_SMTP_URL": box.url, "PENSTOCK_SECRET_KEY": KEY, ALLOW_CRASH: "1"}
    made = Installation(db, worker_pool, api_process, receiver, box, env)
    await made.start()
    return made


async def a_worker_is_killed(here: Installation) -> set[str]:
    [job] = await here.submit(workMs=600)
    victim: list[int] = []

    async def held() -> bool:
        rows = await here.sql("SELECT w.pid FROM slices s JOIN workers w ON w.id = s.worker")
        victim[:] = [row["pid"] for row in rows]
        return bool(victim)

    await until(held, "a worker to hold the job", timeout=60)
    next(one for one in here.workers if one.process.pid == victim[0]).kill()
    await here.fails({"workers", "stalled"})
    here.add_worker()
    await here.ended([job])
    await here.sql(_LATER["stalled"])
    await here.sql(_LATER["jobs"])
    return {"workers", "stalled"}


async def a_job_fails(here: Installation) -> set[str]:
    """For good, in its ingest: a dead letter, and no success. Others succeed then."""
    broken = {"file": ("broken.xlsx", b"PK\x03\x04" + bytes(200))}
    made = await here.ask("POST", "/api/jobs", files=broken)
    await here.ended([made["jobId"]])
    await here.fails({"dead_letters", "success_rate"})
    [letter] = (await here.ask("GET", "/api/dead-letters"))["items"]
    reason = {"reason": "The supplier sends it again."}
    await here.ask("POST", f"/api/dead-letters/{letter['id']}/discard", json=reason)
    for _ in range(3):
        await here.ended(await here.submit(4))
    return {"dead_letters", "success_rate"}


async def jobs_wait(here: Installation) -> set[str]:
    jobs = await here.submit(60, workMs=500)
    await here.fails({"depth", "oldest_ms"})
    await here.ended(jobs)
    await here.fails(_SLOW_JOBS - {"depth", "oldest_ms"})
    await here.sql(_LATER["jobs"])
    return _SLOW_JOBS


async def rows_are_retried(here: Installation) -> set[str]:
    job = await here.submit(items=40, failEvery=1, failHow="retry", failTimes=1,
                            failCode="API_TIMEOUT")  # fmt: skip
    await here.fails({"retry_rate"})
    await here.ended([*job, *(await here.submit(items=2000))])
    await here.sql(_LATER["jobs"])
    return {"retry_rate"}


async def workers_are_busy(here: Installation) -> set[str]:
    """Two more workers, which claim many rows at once."""
    more = [here.add_worker(claim_max=1000) for _ in range(2)]
    jobs = await here.submit(4, items=200_000)
    await here.fails({"cpu"})
    for job in jobs:
        await here.ask("POST", f"/api/jobs/{job}/cancel")
    await here.ended(jobs)
    for one in more:
        one.end()
    return {"cpu"}


async def workers_are_slow(here: Installation) -> set[str]:
    """Jobs have waited for more than ten minutes, and few have ended in that time."""
    jobs = await here.submit(20, workMs=1000)
    await here.sql(_LATER["waiting"])
    await here.fails({"jobs_per_worker", "oldest_ms"})
    await here.ended(jobs)
    return {"jobs_per_worker", "oldest_ms"}


async def memory_is_short(here: Installation) -> set[str]:
    hungry = here.add_worker(worker_memory_mb=64)
    await here.fails({"memory"})
    hungry.end()
    return {"memory"}


async def a_shop_fails(here: Installation, shopper: Shopper) -> set[str]:
    """Its calls fail or are slow; then it recovers by itself."""
    keys = {"provider_error_rate:shopify", "provider_p95_ms:shopify"}
    shopper.shops.faults.plan = FaultPlan(1.0, ("500", "slow"), ("shopify",))
    jobs = []
    for number in range(40):
        connection = await shopper.connect("shopify", f"s{number}-p1")
        jobs.append(str(await shopper.submit(connection, "shopify", images=False)))
    await here.fails(keys)
    shopper.shops.faults.plan = FaultPlan(0.0)
    await here.ended(jobs)
    await here.sql(_LATER["calls"])
    await here.sql(_LATER["jobs"])
    return keys


async def check_all(here: Installation) -> None:
    """What was decided, posted and mailed is the same, and every alert was resolved."""
    await here.healthy()
    await here.quiet()
    decided = await here.decided()
    assert Counter(here.posted()) == Counter(here.mailed()) == decided
    assert {
        key for key, _ in decided if decided[key, "opened"] != decided[key, "resolved"]
    } == set()


Drive = Callable[[Installation], Awaitable[set[str]]]


async def drive(here: Installation, ways: Sequence[Drive], events: set[str]) -> None:
    for way in ways:
        before = await here.decided()
        changes = len(await here.sql("SELECT 1 FROM events WHERE event = 'health.status_change'"))
        keys = await way(here)
        await here.told(keys, "resolved")
        # On a busy machine other jobs are slow, too.
        await here.sql(_LATER["jobs"])
        await here.healthy()
        await here.quiet()
        found = await here.decided()
        # Once over and once back, whatever else the same work has driven.
        for key in keys:
            for phase in ("opened", "resolved"):
                assert found[key, phase] - before[key, phase] == 1, (way.__name__, key, phase)
        after = await here.sql("SELECT 1 FROM events WHERE event = 'health.status_change'")
        assert len(after) - changes >= 2, way.__name__
    await check_all(here)
    rows = await here.sql("SELECT DISTINCT event FROM events")
    assert events <= {row["event"] for row in rows}


async def test_a_killed_worker_and_a_failed_job_are_told_once(running: Installation) -> None:
    await drive(running, [a_worker_is_killed, a_job_fails], _EVENTS)


@pytest.mark.long
@pytest.mark.timeout(600)
async def test_real_work_drives_thresholds_over_and_back(
    running: Installation, bench: Bench, shops: Sandbox
) -> None:
    """Each of them: `test_thresholds.py` drives the same ones by their figures."""

    async def shop(here: Installation) -> set[str]:
        return await a_shop_fails(here, Shopper(bench, shops))

    ways = [
        a_worker_is_killed, a_job_fails, jobs_wait, rows_are_retried, workers_are_busy,
        workers_are_slow, memory_is_short, shop,
    ]  # fmt: skip
    await drive(running, ways, {*_EVENTS, "health.critical"})
    driven = {key.partition(":")[0] for key, _ in await running.decided()}
    assert driven - {"status"} == set(Thresholds.names())
    leaders = [one for one in running.worker_pool.processes if one not in running.workers]
    assert not any(one.dead for one in leaders)
    print(dict(await running.decided()), f"pid {os.getpid()}")
