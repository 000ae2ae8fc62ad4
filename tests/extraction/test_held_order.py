"""Held rows in the order of their change."""

from __future__ import annotations

from tests.extraction.support import run_file
from tests.fixtures import Bench

from penstock.store.catalog.held_rows import held_rows

HEAD = b"SKU;Title;GTIN;Price\n"


async def test_the_largest_change_comes_first(bench: Bench) -> None:
    before = (
        HEAD
        + b"A;Lamp;4006381333931;10.00 EUR\nB;Bulb;;2.00 EUR\nC;Saw;;100.00 EUR\nD;Axe;;5 EUR\n"
    )
    after = (
        HEAD + b"A;Lamp;4012345678901;10.00 EUR\nB;Bulb;;20.00 EUR\nC;Saw;;1.00 EUR\nD;Axe;;5 EUR\n"
    )
    await run_file(bench, before, intent="merge", source="acme")
    job = await run_file(bench, after, intent="merge", source="acme")
    async with bench.runtime.db.acquire() as conn:
        found = await held_rows(conn, job["id"], 10)
        [first] = await held_rows(conn, job["id"], 1)
    # Another GTIN, a hundredth of the price, ten times the price; the axe is as before.
    assert [(one.row_no, one.sku, one.percent) for one in found] == [
        (1, "A", None), (3, "C", -99.0), (2, "B", 900.0)
    ]  # fmt: skip
    assert first == found[0]
    assert (found[1].before, found[1].after, found[1].currency) == ("100.00", "1.00", "EUR")


async def test_a_check_tells_what_its_import_would_hold_back(bench: Bench) -> None:
    before = HEAD + b"A;Lamp;;10.00 EUR\nB;Bulb;;2.00 EUR\nC;Saw;;100.00 EUR\n"
    after = HEAD + b"A;Lamp;;30.00 EUR\nB;Bulb;;2000.00 EUR\nC;Saw;;101.00 EUR\n"
    await run_file(bench, before, intent="merge", source="acme")
    job = await run_file(bench, after, intent="check", source="acme")
    async with bench.runtime.db.acquire() as conn:
        found = await held_rows(conn, job["id"], 10, is_check=True)
        held_back = await held_rows(conn, job["id"], 10)
    assert [(one.row_no, one.before, one.after) for one in found] == [
        (2, "2.00", "2000.00"), (1, "10.00", "30.00")
    ]  # fmt: skip
    assert found[0].code == "PRICE_CHANGE_HELD"
    assert held_back == []
