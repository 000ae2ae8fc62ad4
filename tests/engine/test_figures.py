"""Sizes follow what a worker measures, and what it measures can be seen."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from tests.checker.benches import Tried
from tests.checker.polling import until
from tests.checker.scenarios import claim
from tests.checker.scripted import Scripted

from penstock.engine.worker import heartbeat
from penstock.engine.worker.figures import Figures, Rate, Tally
from penstock.model.errors import ItemError
from penstock.model.outcomes import Done, Fail, NotFound, Retry
from penstock.model.policy import RetryPolicy, RetryRule

pytestmark = pytest.mark.slow

_BAD = ItemError("API_TIMEOUT", "no")
LATER = RetryPolicy({"API_TIMEOUT": RetryRule(3, base_ms=100_000, cap_ms=100_000)})


async def test_claims_halve_amid_errors_and_recover_after_them(
    tried: Tried, scripted: dict[str, Scripted]
) -> None:
    failing = True
    scripted["scripted"].policy = LATER
    scripted["scripted"].work = lambda item, stage, ctx: Retry(_BAD) if failing else Done({})
    await tried.send({"rows": 2000, "inline": False})
    sizes: list[int] = []
    async with tried.by_hand() as worker:
        await worker.run_once()
        for _ in range(5):
            claimed = await claim(worker)
            sizes.append(len(claimed.items))
            await tried.run(worker, claimed)
            failing = len(sizes) < 2
    # Unknown yet: 64. Then half of that, and after a hundred good ones as much as they allow.
    assert sizes[:3] == [64, 32, 32]
    assert sizes[3] > 64
    assert tried.runtime.figures.claim_factor("scripted", "s0") == 1.0


async def test_retries_stand_twice_as_far_apart_amid_errors(
    tried: Tried, scripted: dict[str, Scripted]
) -> None:
    scripted["scripted"].policy = LATER
    scripted["scripted"].work = lambda item, stage, ctx: Retry(_BAD)
    waits = []
    for _ in range(2):
        job_id = await tried.send({"rows": 30})
        async with tried.by_hand() as worker:
            await tried.run(worker, await claim(worker))
        for item in await tried.items(job_id):
            waits.append((item["due_at"] - item["updated_at"]).total_seconds())
    assert all(100 <= wait <= 120.1 for wait in waits[:30])
    assert all(200 <= wait <= 240.1 for wait in waits[30:])


@pytest.mark.parametrize(
    ("outcome", "errors"),
    [
        (Retry(_BAD), True),
        (Fail(_BAD), True),
        (Retry(_BAD, counted=False), False),
        (NotFound(), False),
        (Done({}), False),
    ],
)
async def test_what_counts_as_an_error(
    tried: Tried, scripted: dict[str, Scripted], outcome: Any, errors: bool
) -> None:
    scripted["scripted"].work = lambda item, stage, ctx: outcome
    await tried.send({"rows": 30})
    async with tried.by_hand() as worker:
        await tried.run(worker, await claim(worker))
    assert (tried.runtime.figures.spacing("scripted", "s0") == 2.0) is errors


def test_a_worker_short_of_memory_claims_half() -> None:
    figures = Figures(memory_bytes=100)
    figures.rss = 10
    assert figures.claim_factor("p", "s") == 1.0
    figures.rss = 81
    assert figures.claim_factor("p", "s") == 0.5
    figures.settled("p", "s", Tally(items=100, error=100))
    assert figures.claim_factor("p", "s") == 0.25
    assert figures.claim_factor("p", "other") == 0.5


def test_a_rate_forgets_after_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    rate = Rate()
    for _ in range(30):
        rate.add(5)
        now += 1
    assert rate.per_second() == pytest.approx(5)
    now += 61
    assert (rate.per_second(), rate.total) == (0, 150)


async def test_a_worker_tells_of_itself_with_its_heartbeat(tried: Tried) -> None:
    job_id = await tried.send({"rows": 30, "inline": False})
    shown: dict[str, Any] = {}

    async def told() -> bool:
        async with tried.runtime.db.acquire() as conn:
            text = await conn.fetchval("SELECT figures FROM workers")
        shown.update(orjson.loads(text))
        return bool(shown.get("totals", {}).get("done") == 30)

    async with tried.worker() as worker:
        while await worker.run_once():
            pass
        await until(told, "the figures to be told")
    assert (await tried.job(job_id))["state"] == "done"
    assert (shown["slots"], shown["busy"]) == (5, 0)
    assert shown["rssBytes"] > 1_000_000
    assert shown["itemsPerSecond"] > 0
    assert shown["totals"]["rows"] == 30
    assert shown["ingest"]["batchRows"] >= 64
    names = [(stage["pipeline"], stage["stage"], stage["claim"]) for stage in shown["stages"]]
    assert ("scripted", "s0", 30) in names


async def test_a_worker_without_room_says_so_once_a_minute(
    tried: Tried, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heartbeat, "_BEAT_SECONDS", 0.05)
    beats = 0

    async def complaints() -> list[Any]:
        async with tried.runtime.db.acquire() as conn:
            return await conn.fetch("SELECT * FROM events WHERE event = 'queue.backpressure'")

    async with tried.worker() as worker:
        report = worker._heartbeat._report

        def full() -> heartbeat.Report:
            nonlocal beats
            beats += 1
            return heartbeat.Report(5, 5, report().figures)

        worker._heartbeat._report = full

        async def beaten() -> bool:
            return beats >= 10

        await until(beaten, "some beats")
    (complaint,) = await complaints()
    assert complaint["worker"] == worker.id
    assert orjson.loads(complaint["data"]) == {"slots": 5, "busy": 5}
