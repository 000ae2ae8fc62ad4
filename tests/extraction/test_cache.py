"""The same file with the same configuration is not worked through twice, and only then."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from tests.extraction.support import ended, run_file, send_file
from tests.fixtures import Bench, MakePrincipal

from penstock.app.rows import fix
from penstock.app.undo import undo
from penstock.engine.result_cache import CacheRetention, SharedRows
from penstock.store.catalog import profiles
from penstock.store.database import from_json

FILE = (
    b"sku,title,price\n" + b"".join(b"A%04d,Thing %d,1.50\n" % (n, n) for n in range(2500))
    + b"A0001,Twice,2.00\nB,,much\n"
)  # fmt: skip
CONFIG: dict[str, Any] = {"source": "acme", "currency": "USD", "required": ["title", "price"]}


async def rows(bench: Bench, job_id: Any) -> list[Any]:
    found = await bench.items(job_id)
    return [
        (
            one["row_no"],
            one["status"],
            *(from_json(one[name]) for name in ("input", "normalized", "result", "error")),
        )
        for one in found
    ]


async def counters(job: dict[str, Any]) -> dict[str, int]:
    return {name: job[name] for name in ("total", "done", "error", "skipped", "pending")}


async def test_the_second_time_extract_is_given_at_once(bench: Bench) -> None:
    first = await run_file(bench, FILE, **CONFIG)
    second = await run_file(bench, FILE, **CONFIG)
    assert (first["cached_from"], second["cached_from"]) == (None, first["id"])
    assert await counters(first) == await counters(second)
    assert await rows(bench, second["id"]) == await rows(bench, first["id"])
    assert second["summary"] == first["summary"]
    async with bench.runtime.db.acquire() as conn:
        events = await conn.fetch(
            "SELECT event, data FROM events WHERE job_id = $1 ORDER BY seq", second["id"]
        )
    [told] = [from_json(row["data"]) for row in events if row["event"] == "job.cached"]
    assert told == {"from": str(first["id"]), "rows": 2502}


async def test_what_follows_runs_as_ever(bench: Bench) -> None:
    """A check first, then the real thing: the diff is of the catalog as it is now."""
    checked = await run_file(bench, FILE, **CONFIG)
    merged = await run_file(bench, FILE, intent="merge", **CONFIG)
    again = await run_file(bench, FILE, intent="merge", **CONFIG)
    assert merged["cached_from"] == checked["id"]
    assert (merged["summary"]["new"], again["summary"]["unchanged"]) == (2500, 2500)
    assert again["cached_from"] is not None


async def test_only_the_same_and_only_ones_own(bench: Bench, principal: MakePrincipal) -> None:
    await run_file(bench, FILE, **CONFIG)
    other = await run_file(bench, FILE, **{**CONFIG, "currency": "EUR"})
    assert other["cached_from"] is None
    stranger = await principal("other")
    theirs = await run_file(bench, FILE, stranger, **CONFIG)
    assert theirs["cached_from"] is None
    changed = await run_file(bench, FILE + b"C,New,3.00\n", **CONFIG)
    assert changed["cached_from"] is None


async def test_rates_and_changed_rows_make_it_untrue(bench: Bench) -> None:
    config = {**CONFIG, "currency": "EUR"}
    first = await run_file(bench, FILE, **config)
    async with bench.runtime.db.transaction() as conn:
        rates = [(datetime.now(UTC).date(), "EUR", Decimal("1.1"))]
        await profiles.set_rates(conn, "USD", rates)
    second = await run_file(bench, FILE, **config)
    assert second["cached_from"] is None
    async with bench.runtime.db.transaction() as conn:
        fixed = {"price": "9.90"}
        await fix.fix_item(bench.runtime, conn, bench.who, second["id"], 1, fixed, None)
    await bench.work()
    third = await run_file(bench, FILE, **config)
    assert third["cached_from"] not in (second["id"], first["id"])


async def test_memory_forgets_and_the_database_does_too(bench: Bench) -> None:
    first = await run_file(bench, FILE, **CONFIG)
    remembered = bench.runtime.lookup_cache
    assert (await run_file(bench, FILE, **CONFIG))["cached_from"] is not None
    now = remembered.clock()
    remembered.clock = lambda: now + 301
    async with bench.runtime.db.acquire() as conn:
        await conn.execute("UPDATE result_cache SET made_at = made_at - interval '25 hours'")
    assert await CacheRetention(bench.runtime).run_once() == 1
    last = await run_file(bench, FILE, **CONFIG)
    assert last["cached_from"] is None
    assert first["id"] != last["id"]


async def test_a_source_that_changes_meanwhile_leaves_the_rest_to_the_file(bench: Bench) -> None:
    first = await run_file(bench, FILE, **CONFIG)
    await run_file(bench, FILE, **CONFIG)
    # LookupCache here, and changed there.
    async with bench.runtime.db.acquire() as conn:
        await conn.execute("UPDATE jobs SET generation = 2 WHERE cached_from IS NOT NULL")
        await conn.execute("UPDATE jobs SET generation = 2 WHERE id = $1", first["id"])
    job_id = await send_file(bench, FILE, **CONFIG)
    await bench.work(job_id)
    job = await ended(bench, job_id)
    assert (job["cached_from"], job["total"]) == (None, 2502)


async def keys(bench: Bench, job_id: Any) -> list[Any]:
    async with bench.runtime.db.acquire() as conn:
        found = await conn.fetch(
            "SELECT row_no, key, filled FROM job_keys WHERE job_id = $1 ORDER BY 1, 2", job_id
        )
    return [tuple(row) for row in found]


async def test_all_results_are_copied_while_the_catalog_is_the_same(bench: Bench) -> None:
    """No row is matched again; the names of rows are shared until they are copied."""
    first = await run_file(bench, FILE, **CONFIG)
    second = await run_file(bench, FILE, **CONFIG)
    assert (second["shared_from"], await keys(bench, second["id"])) == (first["id"], [])
    assert await SharedRows(bench.runtime, seconds=0).run_once() == 1
    assert await keys(bench, second["id"]) == await keys(bench, first["id"]) != []
    assert await SharedRows(bench.runtime, seconds=0).run_once() == 0
    # Another catalog: rows are matched with it.
    await run_file(bench, b"sku,title,price\nA0001,Thing 1,1.50\n", intent="merge", **CONFIG)
    third = await run_file(bench, FILE, **CONFIG)
    assert (third["cached_from"], third["shared_from"]) == (second["id"], None)
    assert third["summary"]["new"] == second["summary"]["new"] - 1
    undone = await run_file(bench, FILE, intent="merge", **CONFIG)
    async with bench.runtime.db.acquire() as conn:
        await conn.execute("UPDATE products SET updated_at = now() - interval '1 hour'")
    lookups = bench.runtime.lookup_cache
    lookups.clock = lambda: time.monotonic() + lookups.seconds
    matched = await run_file(bench, FILE, **CONFIG)
    assert matched["summary"]["unchanged"] == 2500
    async with bench.runtime.db.acquire() as conn:
        await conn.execute("UPDATE products SET updated_at = now() - interval '1 hour'")
    assert (await run_file(bench, FILE, **CONFIG))["shared_from"] == matched["id"]
    found = await undo(bench.runtime, bench.runtime.db.transaction, undone["id"], 60)
    assert found["deleted"] == 2499
    assert (await run_file(bench, FILE, **CONFIG))["summary"]["new"] == 2499


@pytest.mark.parametrize("changed", ["source", "copy"])
async def test_a_job_that_runs_again_has_names_of_its_own(bench: Bench, changed: str) -> None:
    first = await run_file(bench, FILE, **CONFIG)
    second = await run_file(bench, FILE, **CONFIG)
    one, other = (first, second) if changed == "source" else (second, first)
    before = await keys(bench, first["id"])
    async with bench.runtime.db.transaction() as conn:
        fixed = {"sku": "A0002"}
        await fix.fix_item(bench.runtime, conn, bench.who, one["id"], 1, fixed, None)
    await bench.work()
    assert await keys(bench, other["id"]) == before
    assert (1, "sku:a0002", 0) in await keys(bench, one["id"])
    again = await ended(bench, one["id"])
    assert (again["shared_from"], (await ended(bench, second["id"]))["shared_from"]) == (None, None)
