"""Undoing imports: exactly, in the reverse order of what was done, and no more than once."""

from __future__ import annotations

from typing import Any

import httpx2
from tests.api.conftest import Caller, refused, shaped
from tests.api.test_products import TOOLS, applied, listed, one
from tests.fixtures import Bench

from penstock.api.jobs.control_schemas import Reprocessed
from penstock.api.jobs.schemas import Undone
from penstock.store.database import Database

DUMP = "SELECT md5(string_agg(to_jsonb(p)::text, '\n' ORDER BY p.id)) FROM products p"


async def dump(db: Database) -> Any:
    async with db.acquire() as conn:
        return await conn.fetchval(DUMP)


async def undone(client: httpx2.AsyncClient, job: str, **query: Any) -> Undone:
    return shaped(Undone, await client.post(f"/api/jobs/{job}/undo", params=query))


def counted(answer: Undone) -> tuple[int, int, int]:
    return (answer.restored, answer.deleted, answer.refused_count)


async def test_what_would_be_undone_is_told_first(
    client: httpx2.AsyncClient, bench: Bench, db: Database
) -> None:
    first = await applied(client, bench, TOOLS)
    before = await dump(db)
    second = await applied(client, bench, b"SKU;Price\nT-1;1\nT-2;2\nN-1;3\n", priceGuard=0)
    await applied(client, bench, b"SKU;Price\nT-2;22\n", priceGuard=0)
    after = await dump(db)
    told = await undone(client, second, dryRun=True)
    assert (counted(told), told.more) == ((1, 1, 1), False)
    assert told.refused[0].source_id == "T-2"
    assert await dump(db) == after
    assert counted(await undone(client, first, dryRun=True)) == (0, 1, 2)
    assert counted(await undone(client, second)) == (1, 1, 1)
    assert await dump(db) not in (before, after)
    async with db.acquire() as conn:
        audited = "SELECT count(*) FROM audit WHERE action = 'job.undo'"
        assert await conn.fetchval(audited) == 1


async def test_an_undone_job_says_so_until_its_rows_run_again(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    job = await applied(client, bench, TOOLS)

    async def undone_at() -> Any:
        single = (await client.get(f"/api/jobs/{job}")).json()["undoneAt"]
        (row,) = (await client.get("/api/jobs")).json()["items"]
        assert row["undoneAt"] == single
        return single

    await undone(client, job, dryRun=True)
    assert await undone_at() is None
    await undone(client, job)
    assert await undone_at() is not None
    again = {"scope": "items", "statuses": ["DONE"], "fromStart": True}
    assert (await client.post(f"/api/jobs/{job}/reprocess", json=again)).status_code == 200
    await bench.work()
    assert await undone_at() is None


async def test_jobs_on_one_product_are_undone_backwards(
    client: httpx2.AsyncClient, bench: Bench, db: Database
) -> None:
    made = await applied(client, bench, TOOLS)
    states, jobs = [await dump(db)], []
    for price in (b"1", b"2", b"3"):
        jobs.append(await applied(client, bench, b"SKU;Price\nT-1;" + price + b"\n", priceGuard=0))
        states.append(await dump(db))
    # An earlier one is refused as long as a later one stands, and possible once that is undone.
    for place in (2, 1, 0):
        for earlier in jobs[:place]:
            assert counted(await undone(client, earlier)) == (0, 0, 1)
        assert await dump(db) == states[place + 1]
        assert counted(await undone(client, jobs[place])) == (1, 0, 0)
        assert await dump(db) == states[place]
    assert counted(await undone(client, made)) == (0, 3, 0)
    assert await listed(client) == []


async def test_an_undo_is_taken_back_by_running_the_rows_again(
    client: httpx2.AsyncClient, bench: Bench, db: Database
) -> None:
    await applied(client, bench, TOOLS)
    before = await dump(db)
    job = await applied(client, bench, b"SKU;Price\nT-1;1\nN-1;3\n", priceGuard=0)
    assert counted(await undone(client, job)) == (1, 1, 0)
    # A second undo finds nothing to do.
    assert counted(await undone(client, job)) == (0, 0, 0)
    order = {"statuses": ["DONE"], "fromStart": True}
    answer = await client.post(f"/api/jobs/{job}/reprocess", json=order)
    assert shaped(Reprocessed, answer).reprocessed == 2
    await bench.work()
    assert (await one(client, sku="T-1")).product["price"]["amount"] == "1.00"
    assert (await one(client, sku="N-1")).status == "published"
    assert counted(await undone(client, job)) == (1, 1, 0)
    assert await dump(db) == before


async def test_a_product_restored_by_one_undo_is_not_taken_for_untouched_by_another(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    """One job is undone, another one changes the product: the version after that must not be
    the one that the first had left."""
    await applied(client, bench, TOOLS)
    first = await applied(client, bench, b"SKU;Price\nT-1;1\n", priceGuard=0)
    seen = (await one(client, sku="T-1")).version
    await undone(client, first)
    second = await applied(client, bench, b"SKU;Price\nT-1;2\n", priceGuard=0)
    now = await one(client, sku="T-1")
    assert now.version > seen
    assert counted(await undone(client, first)) == (0, 0, 0)
    assert (await one(client, sku="T-1")).product["price"]["amount"] == "2.00"
    assert counted(await undone(client, second)) == (1, 0, 0)


async def test_who_may_undo_and_when(caller: Caller, bench: Bench) -> None:
    client, other, viewer = await caller(), await caller("other"), await caller(role="viewer")
    job = await applied(client, bench, TOOLS)
    refused(await other.post(f"/api/jobs/{job}/undo"), 404, "NOT_FOUND")
    refused(await viewer.post(f"/api/jobs/{job}/undo"), 403, "INSUFFICIENT_PERMISSIONS")
    await client.post(f"/api/jobs/{job}/reprocess", json={"statuses": ["DONE"]})
    refused(await client.post(f"/api/jobs/{job}/undo"), 409, "INVALID_STATE")
    assert len(await listed(client)) == 3
