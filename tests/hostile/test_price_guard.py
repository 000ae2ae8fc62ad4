"""Prices that changed too much are not written before a person has accepted them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from tests.extraction.support import ended, run_file
from tests.fixtures import Bench

from penstock.app import bulk, undo
from penstock.app.rows import fix
from penstock.model.reprocess import Selection
from penstock.store.database import from_json

GOODS = b"SKU;Title;Price\nA;Lamp;10.00 EUR\nB;Bulb;2.00 EUR\nC;Cord;4.00 EUR\n"
# Cents for euros, a small change, and half.
AGAIN = b"SKU;Title;Price\nA;Lamp XL;1000.00 EUR\nB;Bulb XL;2.20 EUR\nC;Cord XL;1.99 EUR\n"


async def prices(bench: Bench) -> dict[str, tuple[str, str]]:
    async with bench.runtime.db.acquire() as conn:
        rows = await conn.fetch("SELECT source_id, data FROM products")
    read = {row["source_id"]: from_json(row["data"]) for row in rows}
    return {sku: (one["title"], one["price"]["amount"]) for sku, one in read.items()}


async def accept(bench: Bench, job_id: UUID, **selection: Any) -> dict[str, Any]:
    async with bench.runtime.db.transaction() as conn:
        chosen = Selection(accept=True, **selection)
        await bulk.reprocess_job(bench.runtime, conn, bench.who, job_id, chosen)
    await bench.work(job_id)
    return await ended(bench, job_id)


BEFORE = {"A": ("Lamp", "10.00"), "B": ("Bulb", "2.00"), "C": ("Cord", "4.00")}
AFTER = {"A": ("Lamp XL", "1000.00"), "B": ("Bulb XL", "2.20"), "C": ("Cord XL", "1.99")}


@pytest.mark.parametrize("intent", ["merge", "update", "replace"])
async def test_the_row_is_held_whole_until_it_is_accepted(bench: Bench, intent: str) -> None:
    await run_file(bench, GOODS, intent="merge")
    job = await run_file(bench, AGAIN, intent=intent)
    assert await prices(bench) == BEFORE | {"B": AFTER["B"]}
    told = job["summary"]
    assert (told["held"], told["changed"], told["valid"], told["existing"]) == (2, 1, 3, 3)
    items = await bench.items(job["id"])
    assert [item["status"] for item in items] == ["SKIPPED", "DONE", "SKIPPED"]
    error = from_json(items[0]["error"])
    assert (error["code"], error["column"]) == ("PRICE_CHANGE_HELD", "Price")
    details = error["details"]
    assert (details["before"], details["after"], details["percent"]) == ("10.00", "1000.00", 9900.0)
    assert from_json(items[0]["result"])["match"] == "held"
    # One row, then all that are left.
    await accept(bench, job["id"], rows=(3,))
    assert await prices(bench) == AFTER | {"A": BEFORE["A"]}
    done = await accept(bench, job["id"])
    assert await prices(bench) == AFTER
    assert (done["summary"]["held"], done["summary"]["changed"]) == (0, 3)
    assert {item["status"] for item in await bench.items(job["id"])} == {"DONE"}


async def test_running_held_rows_again_without_accepting_holds_them_again(bench: Bench) -> None:
    await run_file(bench, GOODS, intent="merge")
    job = await run_file(bench, AGAIN, intent="merge")
    async with bench.runtime.db.transaction() as conn:
        again = Selection(statuses=("SKIPPED",))  # type: ignore[arg-type]
        await bulk.reprocess_job(bench.runtime, conn, bench.who, job["id"], again)
    await bench.work(job["id"])
    assert (await ended(bench, job["id"]))["summary"]["held"] == 2
    assert await prices(bench) == BEFORE | {"B": AFTER["B"]}


async def test_accepting_takes_only_what_was_held(bench: Bench) -> None:
    await run_file(bench, GOODS, intent="merge")
    doubled = AGAIN + b"A;Another lamp;11.00 EUR\n"
    job = await run_file(bench, doubled, intent="merge")
    await accept(bench, job["id"], rows=(1, 2, 4))
    assert await prices(bench) == AFTER | {"C": BEFORE["C"]}
    codes = [(from_json(item["error"]) or {}).get("code") for item in await bench.items(job["id"])]
    assert codes == [None, None, "PRICE_CHANGE_HELD", "DUPLICATE_IN_FILE"]


async def test_an_accepted_change_can_be_undone(bench: Bench) -> None:
    await run_file(bench, GOODS, intent="merge")
    job = await run_file(bench, AGAIN, intent="merge")
    await accept(bench, job["id"])
    await undo.undo(bench.runtime, bench.runtime.db.transaction, job["id"], 30)
    assert await prices(bench) == BEFORE


@pytest.mark.parametrize(("guard", "held"), [(None, 2), (20, 2), (5, 3), (60, 1), (0, 0)])
async def test_the_limit_is_the_jobs_or_the_profiles(
    bench: Bench, guard: float | None, held: int
) -> None:
    await run_file(bench, GOODS, intent="merge")
    config: dict[str, Any] = {} if guard is None else {"priceGuard": guard}
    job = await run_file(bench, AGAIN, intent="merge", **config)
    assert job["summary"]["held"] == held


async def test_intents_that_leave_known_products_alone_ask_nothing(bench: Bench) -> None:
    await run_file(bench, GOODS, intent="merge")
    for intent in ("create", "ignoreExisting"):
        job = await run_file(bench, AGAIN, intent=intent)
        assert job["summary"]["held"] == 0
        codes = {from_json(item["error"])["code"] for item in await bench.items(job["id"])}
        assert codes == {"EXISTS_ALREADY"}


async def test_a_check_tells_what_would_be_held(bench: Bench) -> None:
    await run_file(bench, GOODS, intent="merge")
    job = await run_file(bench, AGAIN)
    assert job["summary"]["held"] == 2
    assert {item["status"] for item in await bench.items(job["id"])} == {"DONE"}


async def test_mapping_a_job_anew_corrects_its_own_prices(bench: Bench) -> None:
    content = b"SKU;Title;Price\nA;Lamp;10,000\nB;Bulb;2,000\n"
    job = await run_file(bench, content, intent="merge", decimal="point")
    assert (await prices(bench))["A"] == ("Lamp", "10000.00")
    async with bench.runtime.db.transaction() as conn:
        await fix.remap(bench.runtime, conn, bench.who, job["id"], {"decimal": "comma"}, None)
    await bench.work(job["id"])
    assert (await ended(bench, job["id"]))["summary"]["held"] == 0
    assert Decimal((await prices(bench))["A"][1]) == 10
