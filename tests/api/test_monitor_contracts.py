"""Members and types of the answers that monitoring systems rely on."""

from __future__ import annotations

import itertools
from typing import Any

from tests.api.conftest import Caller, client_of, refused, shaped, submit_noop
from tests.fixtures import Bench
from tests.monitor.test_service import monitor_of

from penstock.api.app import create_app
from penstock.api.monitor.history import History
from penstock.engine.runtime import Runtime
from penstock.store.database import Database

NUMBER = (int, float)
WORKER = {
    "workers": {"active": int, "idle": int, "total": int},
    "queue": {"waiting": int, "active": int, "completed": int, "failed": int},
    "performance": {"avgProcessingTime": NUMBER, "successRate": NUMBER, "throughput": NUMBER},
}
QUEUE = {
    "status": str,
    "paused": bool,
    "metrics": dict.fromkeys(("waiting", "active", "completed", "failed", "delayed", "total"), int),
    "timestamp": str,
}


def holds(contract: Any, shown: Any) -> None:
    """Every member is there with its type; more may follow."""
    if isinstance(contract, dict):
        assert isinstance(shown, dict)
        for name, inner in contract.items():
            assert name in shown
            holds(inner, shown[name])
    else:
        assert isinstance(shown, contract), (contract, shown)


async def test_the_answers_have_the_members_and_figures(bench: Bench, caller: Caller) -> None:
    admin, member = await caller(role="admin"), await caller()
    await submit_noop(member, items=7)
    await bench.submit("noop", {"items": 2, "failEvery": 1})
    async with bench.worker() as worker:
        while await worker.run_once():
            pass
        await submit_noop(member, items=1)
        bench.runtime.queue._fresh_until = 0.0
        page = (await admin.get("/metrics/worker")).json()
        queue = (await member.get("/health/queue")).json()
    holds(WORKER, page)
    holds(QUEUE, queue)
    # A job all of whose rows failed is not a success.
    assert page["queue"] == {"waiting": 1, "active": 0, "completed": 1, "failed": 1}
    assert (page["performance"]["successRate"], page["performance"]["throughput"]) == (50, 2 / 60)
    assert page["workers"] == {"active": 0, "idle": 1, "total": 1}
    assert [one["id"] for one in page["instances"]] == [worker.id]
    assert page["window"] == queue["window"] == "1h"
    assert (queue["status"], queue["metrics"]["completed"]) == ("healthy", 1)
    assert (queue["metrics"]["failed"], queue["metrics"]["total"]) == (1, 1)


async def test_liveness_and_readiness_are_apart(
    caller: Caller, runtime: Runtime, api_db: Database
) -> None:
    app = create_app(runtime, api_db)
    async with client_of(app, None) as probe:
        for path in ("/health/live", "/health/ready"):
            assert ((await probe.get(path)).json()) == {"status": "ok"}
        app.state.pulse._away_until = float("inf")
        live, ready = await probe.get("/health/live"), await probe.get("/health/ready")
        assert (live.status_code, ready.status_code) == (200, 503)


async def test_the_dashboard_shows_what_the_monitor_stored(bench: Bench, caller: Caller) -> None:
    admin = await caller(role="admin")
    await admin.post("/api/jobs", files={"file": ("a.csv", b"sku,title\n1,Hammer\n")})
    await bench.work()
    await monitor_of(bench.runtime).run_once()
    async with bench.runtime.db.transaction() as conn:
        await conn.execute("DELETE FROM job_metrics")
    shown = (await admin.get("/api/extraction/monitor", params={"view": "dashboard"})).json()
    assert (shown["performance"]["jobsLastHour"], shown["performance"]["successRate"]) == (1, 1.0)


async def test_history_has_a_point_for_every_step(bench: Bench, caller: Caller) -> None:
    admin = await caller(role="admin")
    await bench.submit("noop", {"items": 5})
    await bench.work()
    await monitor_of(bench.runtime).run_once()
    for name, points, step in (
        ("1h", 60, 60), ("24h", 96, 900), ("7d", 168, 3600), ("30d", 30, 86_400),
    ):  # fmt: skip
        answer = await admin.get("/api/monitor/history", params={"range": name})
        shown = shaped(History, answer)
        assert (shown.range, shown.step_seconds) == (name, step)
        assert points <= len(shown.points) <= points + 1
        assert (sum(one.succeeded for one in shown.points), shown.points[-1].rows) == (1, 5)
        assert shown.points[-1].p50_ms is not None
        assert (shown.points[-1].status, shown.points[0].depth) == ("healthy", None)
        times = [one.at.timestamp() for one in shown.points]
        assert {late - early for early, late in itertools.pairwise(times)} == {step}
    for narrow in ({"pipeline": "crawl"}, {"org": "nobody"}):
        answer = await admin.get("/api/monitor/history", params={"range": "1h", **narrow})
        assert sum(one.succeeded for one in shaped(History, answer).points) == 0
    refused(await admin.get("/api/monitor/history?range=2h"), 422, "INVALID_PARAMETERS")
    refused(await (await caller()).get("/api/monitor/history"), 403, "INSUFFICIENT_PERMISSIONS")
