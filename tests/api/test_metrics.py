"""What Prometheus reads: well-formed, true, and for admins only."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from tests.api.conftest import Caller, client_of, refused, shaped
from tests.checker.polling import until
from tests.fixtures import Bench
from tests.monitor.test_service import monitor_of

from penstock.api.monitor.prometheus import Exposition
from penstock.api.monitor.schemas import WorkerPage

PROMTOOL = shutil.which("promtool")
_LABELS = r'([a-z_]+="([^"\\\n]|\\.)*",?)+'
LINE = re.compile(rf"(?P<name>[a-z_:]+)(\{{{_LABELS}\}})? (?P<value>-?[0-9.e+-]+)")


def samples(text: str) -> dict[str, float]:
    """Every line, held to the format: help and type first, then samples, each only once."""
    assert text.endswith("\n")
    found: dict[str, float] = {}
    described = ""
    for line in text.splitlines():
        if line.startswith("# HELP "):
            described = line.split()[2]
            continue
        if line.startswith("# TYPE "):
            kinds = ("gauge", "counter", "histogram")
            assert line.split()[2:] in [[described, kind] for kind in kinds]
            continue
        match = LINE.fullmatch(line)
        assert match is not None, line
        assert re.sub("_(bucket|sum|count)$", "", match["name"]) == described
        key = line.rpartition(" ")[0]
        assert key not in found
        found[key] = float(match["value"])
    return found


async def scrape(admin: httpx2.AsyncClient) -> dict[str, float]:
    answer = await admin.get("/metrics")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    return samples(answer.text)


@pytest.mark.parametrize("path", ["/metrics", "/metrics/worker"])
async def test_only_admins_may_read(app: FastAPI, caller: Caller, path: str) -> None:
    async with client_of(app, None) as nobody:
        refused(await nobody.get(path), 401, "AUTHENTICATION_FAILED")
    member = await caller()
    refused(await member.get(path), 403, "INSUFFICIENT_PERMISSIONS")
    assert (await (await caller(role="admin")).get(path)).status_code == 200


async def test_the_queue_and_the_workers_are_measured(caller: Caller, bench: Bench) -> None:
    admin = await caller(role="admin")
    await bench.submit("noop", {"items": 30, "provider": "shop", "domain": 'a"b\\c'})
    found: dict[str, float] = {}
    async with bench.worker() as worker:
        while await worker.run_once():
            pass
        await bench.submit("noop", {"items": 3})

        async def told() -> bool:
            found.clear()
            found.update(await scrape(admin))
            ended = f'penstock_worker_items_ended_total{{worker="{worker.id}",status="done"}}'
            return found.get(ended) == 30 and found.get("penstock_workers") == 1

        await until(told, "the worker's figures")
        page = shaped(WorkerPage, await admin.get("/metrics/worker"))
        workers = page.instances
    assert found["penstock_queue_depth"] == found['penstock_jobs{state="waiting"}'] == 1
    assert found['penstock_queue_level{level="healthy"}'] == 1
    assert found['penstock_queue_level{level="overload"}'] == 0
    assert found['penstock_slices{kind="items"}'] == 0
    mine = f'worker="{worker.id}"'
    stage = f'{mine},pipeline="noop",stage="stage1"'
    assert found[f"penstock_worker_stage_claim_items{{{stage}}}"] == 30
    assert found[f"penstock_worker_stage_item_seconds{{{stage}}}"] >= 0
    assert found[f'penstock_worker_calls_limit{{{mine},provider="shop",domain="a\\"b\\\\c"}}'] >= 4
    assert found[f"penstock_worker_resident_memory_bytes{{{mine}}}"] > 1_000_000
    assert page.workers.total == 1
    assert (page.queue.waiting, page.queue.completed, page.queue.failed) == (1, 1, 0)
    assert page.performance.success_rate == 100
    assert page.performance.throughput == pytest.approx(1 / 60)
    (shown,) = workers
    assert (shown.id, shown.slots) == (worker.id, 5)
    assert shown.figures["totals"]["done"] == 30


@pytest.mark.skipif(PROMTOOL is None, reason="promtool is missing: Debian's package `prometheus`")
async def test_promtool_accepts_the_metrics(caller: Caller, bench: Bench) -> None:
    """Prometheus' own checker, over figures of every kind: jobs, workers, histograms, calls."""
    admin = await caller(role="admin")
    await bench.submit("noop", {"items": 5, "failEvery": 2, "failHow": "retry", "failTimes": 1})
    await bench.submit("noop", {"items": 30, "provider": "shop", "domain": 'a"b\\c'})
    async with bench.worker() as worker:
        while await worker.run_once():
            pass
        await bench.submit("noop", {"items": 3})
        await monitor_of(bench.runtime, depth=0).run_once()

        async def told() -> str:
            text = (await admin.get("/metrics")).text
            return text if "penstock_worker_provider_call_duration_seconds" in text else ""

        text = await until(told, "the worker's histograms")
    found = subprocess.run(
        [str(PROMTOOL), "check", "metrics"], input=text, capture_output=True, text=True, timeout=60
    )
    assert (found.returncode, found.stdout + found.stderr) == (0, "")


async def test_a_worker_that_says_nothing_yet_is_left_out(caller: Caller, db: Any) -> None:
    async with db.acquire() as conn:
        await conn.execute("INSERT INTO workers (id, host, pid, slots) VALUES ('w', 'h', 1, 5)")
    found = await scrape(await caller(role="admin"))
    assert found['penstock_worker_slots{worker="w"}'] == 5
    assert not [name for name in found if "cpu_share" in name]


def test_counters_are_not_rounded_and_labels_are_escaped() -> None:
    page = Exposition()
    page.add("penstock_worker_claims_total", [({"worker": 'q"\\\n'}, 123_456_789)])
    page.add("penstock_workers", [])
    name = "penstock_worker_claims_total"
    assert page.text() == (
        f'# HELP {name} Claims.\n# TYPE {name} counter\n{name}{{worker="q\\"\\\\\\n"}} 123456789\n'
    )


async def test_ended_jobs_checks_and_alerts_are_measured(caller: Caller, bench: Bench) -> None:
    admin = await caller(role="admin")
    await bench.submit("noop", {"items": 5})
    await bench.submit("noop", {"items": 2, "failEvery": 1})
    await bench.work()
    await bench.submit("noop", {"items": 3})
    await monitor_of(bench.runtime, depth=0, least_jobs=1).run_once()
    found = await scrape(admin)
    assert found['penstock_jobs_ended_total{pipeline="noop",status="succeeded"}'] == 1
    assert found['penstock_jobs_ended_total{pipeline="noop",status="failed"}'] == 1
    assert found['penstock_job_duration_seconds_count{pipeline="noop"}'] == 2
    assert found['penstock_job_duration_seconds_bucket{pipeline="noop",le="+Inf"}'] == 2
    buckets = [n for name, n in found.items() if name.startswith("penstock_job_duration_seconds_b")]
    assert buckets == sorted(buckets)
    assert found['penstock_jobs_waiting{lane="standard",pipeline="noop"}'] == 1
    assert found['penstock_items_pending{pipeline="noop"}'] == 3
    assert found['penstock_check_ok{check="successRate",scope=""}'] == 0
    assert found['penstock_alerts_open{severity="warning"}'] == 2
    assert found['penstock_health_status{status="degraded"}'] == 1
