"""A product keeps its name: which file a row is from is no change of the product it means."""

from __future__ import annotations

from tests.extraction.support import run_file
from tests.fixtures import Bench

from penstock.store.database import from_json

GOODS = b"SKU;Title;Price\nA-1;Hammer;9.90 EUR\nA-2;Nail;1.00 EUR\n"


async def share_by_sku(bench: Bench) -> None:
    async with bench.runtime.db.transaction() as conn:
        await conn.execute("UPDATE orgs SET catalog_key = 'sku'")


async def test_products_shared_by_sku_are_unchanged_under_another_source(bench: Bench) -> None:
    await share_by_sku(bench)
    first = await run_file(bench, GOODS, intent="merge", source="acme")
    assert first["summary"]["new"] == 2
    for intent in ("check", "merge", "replace"):
        again = await run_file(bench, GOODS, intent=intent)
        told = again["summary"]
        assert (told["new"], told["changed"], told["unchanged"]) == (0, 0, 2), intent
    async with bench.runtime.db.acquire() as conn:
        versions = await conn.fetch("SELECT version, source FROM products")
    assert {(row["version"], row["source"]) for row in versions} == {(1, "acme")}


async def test_only_what_will_be_written_is_told_as_a_change(bench: Bench) -> None:
    await share_by_sku(bench)
    await run_file(bench, b"Id;SKU;Title\n77;A-1;Hammer\n", intent="merge", source="acme")
    changed = b"Id;SKU;Title\n99;A-1;Mallet\n"
    job = await run_file(bench, changed, intent="merge")
    [item] = await bench.items(job["id"])
    [change] = from_json(item["normalized"])["match"]["changes"]
    assert (change["field"], change["before"], change["after"]) == ("title", "Hammer", "Mallet")
    async with bench.runtime.db.acquire() as conn:
        data = from_json(await conn.fetchval("SELECT data FROM products"))
    assert (data["source"], data["sourceId"], data["title"]) == ("acme", "77", "Mallet")
