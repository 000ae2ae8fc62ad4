"""A provider that refuses is called less, and no item pays for it with a try of its own."""

from __future__ import annotations

import pytest
from tests.fixtures import Bench

pytestmark = pytest.mark.slow


async def test_a_job_gets_through_a_provider_that_refuses(bench: Bench) -> None:
    job_id = await bench.submit(
        "noop",
        {
            **{"items": 60, "concurrency": 20, "provider": "shop", "domain": "eu"},
            **{"throttleEvery": 20, "throttleMs": 30},
        },
    )
    await bench.work()
    limit = bench.runtime.calls.limits()["shop", "eu"]
    assert limit.delay_ms > 0
    # Refused ones wait as their policy says; the others have not been held up by them.
    waiting = await bench.items(job_id, "status = 'PENDING'")
    assert [item["row_no"] for item in waiting] == [20, 40, 60]
    async with bench.runtime.db.acquire() as conn:
        await conn.execute("UPDATE job_items SET due_at = now() WHERE due_at IS NOT NULL")
        await conn.execute("UPDATE job_stages SET ready_at = now() WHERE kind = 'items'")
        await conn.execute("UPDATE jobs SET ready_at = now()")
    await bench.work()
    assert (await bench.job(job_id))["state"] == "done"


async def test_waiting_for_a_provider_is_no_try(bench: Bench) -> None:
    async with bench.runtime.calls.call("shop", "", until=1e12, time_is_up=lambda: False) as call:
        call.throttled(3_600_000)
    job_id = await bench.submit("noop", {"items": 5, "provider": "shop"})
    await bench.work()
    for item in await bench.items(job_id):
        assert (item["status"], item["attempts"]) == ("PENDING", 0)
        assert "API_RATE_LIMIT" in item["error"]
    job = await bench.job(job_id)
    # Nobody looks again before the provider said.
    assert (job["ready_at"] - job["created_at"]).total_seconds() > 3000
