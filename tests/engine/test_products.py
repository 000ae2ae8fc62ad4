"""Products are written under the fence, with before-images, and can be put back exactly."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, get_args
from uuid import UUID

import pytest
from tests.checker.benches import Tried
from tests.checker.scenarios import claim
from tests.checker.scripted import Scripted

from penstock.app import bulk
from penstock.app.undo import undo
from penstock.model.effects import NameRow, UpsertProduct
from penstock.model.errors import PermanentError
from penstock.model.outcomes import Done, Outcome
from penstock.model.pipeline import Item
from penstock.model.ports import Context, Products, Winner
from penstock.model.reprocess import Selection
from penstock.model.states import ItemStatus
from penstock.store.catalog.ports import StoredJobRows
from penstock.store.database import Connection, from_json

CATALOG = "SELECT md5(string_agg(to_jsonb(p)::text, '\n' ORDER BY p.id)) FROM products p"


def product(row_no: int, seen: int | None, **data: Any) -> UpsertProduct:
    return UpsertProduct(
        "test", f"id-{row_no}", {"title": f"Product {row_no}", **data}, {"title": {"column": "t"}},
        sku=f"S-{row_no}", seen_version=seen,
    )  # fmt: skip


def writes(script: Scripted, versions: Mapping[int, int | None], **data: Any) -> None:
    """Each row writes the product of its number, as it saw it."""

    def work(item: Item, stage: int, ctx: Context) -> Outcome:
        effect = product(item.row_no, versions.get(item.row_no), **data)
        return Done({}, effects=[effect])

    script.work = work


async def products(tried: Tried) -> list[Any]:
    async with tried.runtime.db.acquire() as conn:
        return await conn.fetch("SELECT * FROM products ORDER BY source_id")


async def value(tried: Tried, sql: str, *args: Any) -> Any:
    async with tried.runtime.db.acquire() as conn:
        return await conn.fetchval(sql, *args)


async def undone(tried: Tried, job_id: UUID) -> dict[str, Any]:
    return await undo(tried.runtime, tried.runtime.db.transaction, job_id, 30)


async def test_products_are_new_then_changed_and_images_kept(
    tried: Tried, script: Scripted
) -> None:
    writes(script, {})
    first = await tried.send({"rows": 3})
    await tried.finish(first)
    writes(script, {1: 1, 2: 1, 3: 1}, color="red")
    second = await tried.send({"rows": 3})
    await tried.finish(second)
    rows = await products(tried)
    assert [(row["source_id"], row["version"]) for row in rows] == [
        ("id-1", 2), ("id-2", 2), ("id-3", 2),
    ]  # fmt: skip
    assert {row["job_id"] for row in rows} == {second}
    images = "SELECT count(*) FROM product_changes WHERE job_id = $1 AND before IS NULL = $2"
    assert await value(tried, images, first, True) == 3
    assert await value(tried, images, second, False) == 3
    await tried.is_clean()


async def test_a_stage_that_saw_an_old_version_runs_again(tried: Tried, script: Scripted) -> None:
    """Two jobs change one product: the second one sees what the first one wrote."""
    seen: list[int | None] = []

    def work(item: Item, stage: int, ctx: Context) -> Outcome:
        # The first time as if it had looked before the other job.
        version = None if len(seen) < 1 else 1
        seen.append(version)
        return Done({"version": version}, effects=[product(item.row_no, version)])

    writes(script, {})
    await tried.finish(await tried.send({"rows": 1}))
    script.work = work
    job_id = await tried.send({"rows": 1})
    (job,) = await tried.finish(job_id)
    assert (job["done"], seen) == (1, [None, 1])
    (item,) = await tried.items(job_id)
    assert (item["attempts"], from_json(item["result"])) == (1, {"version": 1})
    assert [row["version"] for row in await products(tried)] == [2]
    await tried.is_clean()


async def test_rows_of_one_name_in_one_slice_write_one_after_the_other(
    tried: Tried, script: Scripted
) -> None:
    async def work(item: Item, stage: int, ctx: Context) -> Outcome:
        found = (await ctx.port(Products).find(item.job.org_id, "test", ["id-1"], [], [])).products
        version = found[0].version if found else None
        return Done({}, effects=[product(1, version, row=item.row_no)])

    script.work = work
    (job,) = await tried.finish(await tried.send({"rows": 4}))
    assert job["done"] == 4
    (row,) = await products(tried)
    assert row["version"] == 4
    await tried.is_clean()


async def test_a_late_settle_writes_no_product(tried: Tried, script: Scripted) -> None:
    writes(script, {})
    job_id = await tried.send({"rows": 2})
    async with tried.by_hand() as worker:
        claimed = await claim(worker)
        await tried.expire()
        assert not (await tried.run(worker, claimed)).held
    assert await products(tried) == []
    await tried.finish(job_id)
    assert len(await products(tried)) == 2


async def test_undo_puts_everything_back_but_what_was_changed_since(
    tried: Tried, script: Scripted
) -> None:
    rows = 1200
    writes(script, {})
    await tried.finish(await tried.send({"rows": rows, "inline": False}))
    before = await value(tried, CATALOG)
    writes(script, dict.fromkeys(range(1, rows + 1), 1), color="red")
    job_id = await tried.send({"rows": rows + 100, "inline": False})
    await tried.finish(job_id)
    assert await value(tried, CATALOG) != before
    async with tried.runtime.db.acquire() as conn:
        await _someone_changes(conn, 20)
        changed = [row["id"] for row in await conn.fetch("SELECT id FROM products WHERE sku = 'x'")]
    answer = await undone(tried, job_id)
    assert (answer["restored"], answer["deleted"], answer["more"]) == (rows - 20, 100, False)
    assert {UUID(one["productId"]) for one in answer["refused"]} == set(changed)
    assert answer["refused"][0]["reason"] == "It was changed since."
    same = CATALOG.replace("FROM products p", "FROM products p WHERE p.id <> ALL ($1)")
    async with tried.runtime.db.acquire() as conn:
        left = await conn.fetchval(same, changed)
        await conn.execute("DELETE FROM products WHERE sku = 'x'")
        assert left == await conn.fetchval(CATALOG)
    # Nothing is undone twice.
    again = await undone(tried, job_id)
    assert (again["restored"], again["deleted"], again["refusedCount"]) == (0, 0, 20)


async def _someone_changes(conn: Connection, count: int) -> None:
    await conn.execute(
        "UPDATE products SET sku = 'x', version = version + 1 WHERE id IN"
        " (SELECT id FROM products WHERE version = 2 ORDER BY id LIMIT $1)",
        count,
    )


async def test_an_undo_is_exact(tried: Tried, script: Scripted) -> None:
    writes(script, {}, price={"amount": "1.10"}, odd='quote " and \\ and ünï')
    await tried.finish(await tried.send({"rows": 50}))
    before = await value(tried, CATALOG)
    writes(script, dict.fromkeys(range(1, 51), 1), price={"amount": "2.00"})
    job_id = await tried.send({"rows": 60})
    await tried.finish(job_id)
    answers = await asyncio.gather(*(undone(tried, job_id) for _ in range(3)))
    assert sum(answer["restored"] for answer in answers) == 50
    assert sum(answer["deleted"] for answer in answers) == 10
    assert all(not answer["refused"] for answer in answers)
    assert await value(tried, CATALOG) == before


async def test_an_undo_brings_back_what_others_did_in_between(
    tried: Tried, script: Scripted
) -> None:
    """A job writes a product, another one does, the first one does again."""
    writes(script, {}, by="first")
    first = await tried.send({"rows": 1})
    await tried.finish(first)
    at_first = await value(tried, CATALOG)
    writes(script, {1: 1}, by="second")
    second = await tried.send({"rows": 1})
    await tried.finish(second)
    between = await value(tried, CATALOG)
    writes(script, {1: 2}, by="first again")
    async with tried.runtime.db.transaction() as conn:
        again = Selection(statuses=(ItemStatus.DONE,))
        await bulk.reprocess_job(tried.runtime, conn, tried.who, first, again)
    await tried.finish(first)
    assert await value(tried, CATALOG) != between
    answer = await undone(tried, first)
    assert (answer["restored"], answer["refusedCount"]) == (1, 1)
    assert "An earlier run of this job changed it" in answer["refused"][0]["reason"]
    assert await value(tried, CATALOG) == between
    # What the first run did comes back only after what the other job did to it.
    answer = await undone(tried, first)
    assert (answer["restored"], answer["deleted"]) == (0, 0)
    assert answer["refused"][0]["reason"] == "It was changed since."
    assert await value(tried, CATALOG) == between
    assert (await undone(tried, second))["restored"] == 1
    assert await value(tried, CATALOG) == at_first
    told = await undo(tried.runtime, tried.runtime.db.transaction, first, 30, dry_run=True)
    assert (told["deleted"], told["refusedCount"]) == (1, 0)
    assert (await undone(tried, first))["deleted"] == 1
    assert await products(tried) == []
    assert (await undone(tried, first))["deleted"] == 0


async def test_a_version_that_was_undone_is_not_taken_for_another(
    tried: Tried, script: Scripted
) -> None:
    """A stage looks at what one job wrote; that is undone, and another job writes. What the stage
    saw is gone, and what it would write must not cover the other's."""
    writes(script, {}, by="first")
    await tried.finish(await tried.send({"rows": 1}))
    writes(script, {1: 1}, by="second")
    second = await tried.send({"rows": 1})
    await tried.finish(second)
    assert [row["version"] for row in await products(tried)] == [2]
    assert (await undone(tried, second))["restored"] == 1
    writes(script, {1: 1}, by="third")
    await tried.finish(await tried.send({"rows": 1}))
    seen = [2, 3]

    def work(item: Item, stage: int, ctx: Context) -> Outcome:
        return Done({}, effects=[product(1, seen.pop(0), by="late")])

    script.work = work
    await tried.finish(await tried.send({"rows": 1}))
    assert seen == []
    assert [row["version"] for row in await products(tried)] == [4]


async def test_a_job_that_was_taken_up_again_is_not_undone_under_it(
    tried: Tried, script: Scripted
) -> None:
    writes(script, {})
    job_id = await tried.send({"rows": 1})
    await tried.finish(job_id)
    writes(script, {1: 1}, by="again")
    async with tried.runtime.db.transaction() as conn:
        again = Selection(statuses=(ItemStatus.DONE,))
        await bulk.reprocess_job(tried.runtime, conn, tried.who, job_id, again)
    with pytest.raises(PermanentError, match="let it end"):
        await undone(tried, job_id)
    assert len(await products(tried)) == 1


async def test_rows_find_each_other_by_name(tried: Tried, script: Scripted) -> None:
    def work(item: Item, stage: int, ctx: Context) -> Outcome:
        keys = [f"sku:{item.row_no % 3}", f"gtin:{item.row_no}"]
        return Done({}, effects=[NameRow(keys, filled=item.row_no)])

    script.work = work
    job_id = await tried.send({"rows": 7})
    async with tried.by_hand() as worker:
        await tried.run(worker, await claim(worker))
    catalog = StoredJobRows(tried.runtime.db)
    keys = ["sku:1", "gtin:2", "sku:9"]
    assert await catalog.rows_named(job_id, keys, 2) == {"sku:1": [1, 4], "gtin:2": [2]}
    winners = {
        winner: (await catalog.row_to_keep(job_id, keys, winner))["sku:1"]
        for winner in get_args(Winner)
    }
    assert winners == {"first": 1, "last": 7, "most_complete": 7}
    named = await catalog.rows_named(job_id, keys, 9)
    assert named == {
        "sku:1": [1, 4, 7], "gtin:2": [2],
    }  # fmt: skip


@pytest.fixture
def script(scripted: dict[str, Scripted]) -> Scripted:
    return scripted["scripted"]
