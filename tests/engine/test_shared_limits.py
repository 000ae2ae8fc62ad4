"""Items that must wait for a provider go back with a due time: no attempt, no slot."""

from __future__ import annotations

from itertools import pairwise

import pytest
from tests.fixtures import Bench

from penstock.settings import Settings

pytestmark = pytest.mark.slow

CALLS = {"concurrency": 10, "provider": "shop", "company": "acme"}


@pytest.fixture
def settings(settings: Settings) -> Settings:
    changed = {"limits": ("shop=6/min burst 5",), "circuit_open_ms": 60_000}
    return settings.model_copy(update=changed)


async def test_what_is_over_the_limit_waits_without_an_attempt(bench: Bench) -> None:
    job_id = await bench.submit("noop", {"items": 20, **CALLS})
    await bench.work()
    done = await bench.items(job_id, "status = 'DONE'")
    waiting = await bench.items(job_id, "status = 'PENDING'")
    # The burst, less what calls on their way may need.
    assert 4 <= len(done) <= 5
    assert len(done) + len(waiting) == 20
    assert {item["attempts"] for item in waiting} == {0}
    # They come back one after the other, not all at once.
    due = sorted(item["due_at"] for item in waiting)
    gaps = [(late - soon).total_seconds() for soon, late in pairwise(due)]
    assert all(gap > 5 for gap in gaps[:4])
    async with bench.runtime.db.acquire() as conn:
        assert await conn.fetchval("SELECT count(*) FROM slices") == 0


async def test_a_second_worker_shares_what_is_left(bench: Bench) -> None:
    first = await bench.submit("noop", {"items": 3, **CALLS})
    await bench.work()
    second = await bench.submit("noop", {"items": 5, **CALLS})
    await bench.work()
    assert len(await bench.items(first, "status = 'DONE'")) == 3
    assert 1 <= len(await bench.items(second, "status = 'DONE'")) <= 2


async def test_after_an_outage_everything_completes_by_itself(bench: Bench) -> None:
    # The provider of this pipeline cannot fail: the circuit is opened by hand.
    async with bench.runtime.db.transaction() as conn:
        await conn.execute(
            "INSERT INTO provider_states (org_id, provider, company, domain, tokens, circuit,"
            " failures, opened_at, next_probe_at) VALUES ($1, 'shop', 'acme', '', 5, 'open', 5,"
            " now(), now() + interval '1 minute')",
            bench.who.org_id,
        )
    job_id = await bench.submit("noop", {"items": 4, **CALLS})
    await bench.work()
    items = await bench.items(job_id)
    assert {(item["status"], item["attempts"]) for item in items} == {("PENDING", 0)}
    assert all("CIRCUIT_OPEN" in item["error"] for item in items)
    async with bench.runtime.db.transaction() as conn:
        await conn.execute(
            "UPDATE provider_states SET next_probe_at = now(), tokens = 5, version = version + 1"
        )
        await conn.execute("UPDATE job_items SET due_at = now() WHERE due_at IS NOT NULL")
        await conn.execute("UPDATE job_stages SET ready_at = now() WHERE kind = 'items'")
        await conn.execute("UPDATE jobs SET ready_at = now()")
    for _ in range(3):
        # This process remembers the circuit until its next probe.
        bench.runtime.calls._gate._keys.clear()  # type: ignore[attr-defined]
        await bench.work()
        async with bench.runtime.db.transaction() as conn:
            await conn.execute("UPDATE job_items SET due_at = now() WHERE due_at IS NOT NULL")
            await conn.execute("UPDATE job_stages SET ready_at = now() WHERE kind = 'items'")
            await conn.execute("UPDATE jobs SET ready_at = now() WHERE state = 'running'")
    assert (await bench.job(job_id))["state"] == "done"
    async with bench.runtime.db.acquire() as conn:
        assert await conn.fetchval("SELECT circuit FROM provider_states") == "closed"
