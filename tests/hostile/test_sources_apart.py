"""One supplier's file never writes to another supplier's products."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.extraction.support import ended, run_file
from tests.fixtures import Bench

from penstock.app import bulk
from penstock.app.undo import undo
from penstock.model.reprocess import Selection
from penstock.model.states import ItemStatus
from penstock.store.database import from_json

ACME = b"SKU;Title;GTIN;Price\n000780;Lamp;4006381333931;10.00 EUR\n000781;Bulb;;2.00 EUR\n"
BOLT = b"SKU;Title;GTIN;Price\n000780;Anvil;4012345678901;99.00 EUR\n000781;Rope;;5.00 EUR\n"


async def stored(bench: Bench) -> dict[tuple[str, str], dict[str, Any]]:
    async with bench.runtime.db.acquire() as conn:
        rows = await conn.fetch("SELECT source, source_id, data, version, id FROM products")
    return {
        (row["source"], row["source_id"]): {**row, "data": from_json(row["data"])} for row in rows
    }


async def share(bench: Bench, key: str) -> None:
    async with bench.runtime.db.transaction() as conn:
        await conn.execute("UPDATE orgs SET catalog_key = $1", key)


async def test_the_same_sku_of_two_suppliers_is_two_products(bench: Bench) -> None:
    await run_file(bench, ACME, intent="merge", source="acme")
    before = await stored(bench)
    for intent in ("update", "merge", "replace", "create"):
        await run_file(bench, BOLT, intent=intent, source="bolt")
    after = await stored(bench)
    assert {key: one for key, one in after.items() if key[0] == "acme"} == before
    assert after["bolt", "000780"]["data"]["title"] == "Anvil"
    assert after["bolt", "000781"]["data"]["title"] == "Rope"


async def test_a_shared_gtin_proposes_a_link_and_writes_nothing(bench: Bench) -> None:
    await run_file(bench, ACME, intent="merge", source="acme")
    same = b"SKU;Title;GTIN\nZ-9;Desk lamp;4006381333931\nZ-8;Chair;\n"
    for intent, state in (("check", "new"), ("merge", "new"), ("merge", "unchanged")):
        job = await run_file(bench, same, intent=intent, source="bolt")
        items = await bench.items(job["id"])
        told = from_json(items[0]["normalized"])["match"]
        assert told["state"] == state
        [link] = told["links"]
        assert (link["source"], link["sourceId"], link["by"]) == ("acme", "000780", "gtin")
        assert from_json(items[0]["result"])["links"] == 1
        assert "links" not in from_json(items[1]["result"])
        assert job["summary"]["linked"] == 1
    assert (await stored(bench))["acme", "000780"]["version"] == 1


async def test_links_that_are_no_more_are_not_shown(bench: Bench) -> None:
    first = await run_file(bench, ACME, intent="merge", source="acme")
    same = b"SKU;Title;GTIN;links\nZ-9;Desk lamp;4006381333931;own\n"
    job = await run_file(bench, same, intent="merge", source="bolt")
    assert job["summary"]["linked"] == 1
    await undo(bench.runtime, bench.runtime.db.transaction, first["id"], 30)
    # The same rows again, and the same file, whose results are used again.
    async with bench.runtime.db.transaction() as conn:
        again = Selection(statuses=(ItemStatus.DONE,))
        await bulk.reprocess_job(bench.runtime, conn, bench.who, job["id"], again)
    await bench.work(job["id"])
    other = await run_file(bench, same, intent="merge", source="bolt")
    for one in (await ended(bench, job["id"]), other):
        assert one["summary"]["linked"] == 0
        [item] = await bench.items(one["id"])
        result = from_json(item["result"])
        assert result.get("links") is None
        assert result["specifications.customFields.links"] == "own"


async def test_brand_and_mpn_propose_a_link_unless_gtins_contradict(bench: Bench) -> None:
    acme = (
        b"SKU;Title;Brand;MPN;GTIN\nA;Drill;BOSCH;gsr-12;\n"
        b"B;Saw;Bosch;pst-1;4006381333931\nC;Axe;Bosch;X;\n"
    )
    bolt = (
        b"SKU;Title;Brand;MPN;GTIN\n1;Drill;Bosch;GSR-12;4012345678901\n"
        b"2;Saw;Bosch;PST-1;4012345678901\n3;Axe;Makita;X;\n"
    )
    await run_file(bench, acme, intent="merge", source="acme")
    job = await run_file(bench, bolt, intent="check", source="bolt")
    links = [
        (from_json(item["normalized"]).get("match") or {}).get("links", [])
        for item in await bench.items(job["id"])
    ]
    assert [[(one["sourceId"], one["by"]) for one in row] for row in links] == [
        [("A", "mpn")], [], [],
    ]  # fmt: skip


@pytest.mark.parametrize("key", ["sku", "gtin"])
async def test_a_shared_catalog_key_is_one_catalog(bench: Bench, key: str) -> None:
    await share(bench, key)
    await run_file(bench, ACME, intent="merge", source="acme")
    more = (
        b"SKU;Title;GTIN\n000781;Bulb E27;\nZ-1;Lamp XL;4006381333931\n000780;Other;4012345678901\n"
    )
    await run_file(bench, more, intent="merge", source="bolt")
    titles = {key: one["data"]["title"] for key, one in (await stored(bench)).items()}
    by_sku = {("acme", "000780"): "Lamp", ("acme", "000781"): "Bulb E27",
              ("bolt", "Z-1"): "Lamp XL", ("bolt", "000780"): "Other"}  # fmt: skip
    by_gtin = {("acme", "000780"): "Lamp XL", ("acme", "000781"): "Bulb",
               ("bolt", "000781"): "Bulb E27", ("bolt", "000780"): "Other"}  # fmt: skip
    assert titles == (by_sku if key == "sku" else by_gtin)


async def test_an_id_that_changes_its_gtin_is_asked_about(bench: Bench) -> None:
    await run_file(bench, ACME, intent="merge", source="acme")
    changed = b"SKU;Title;GTIN;Price\n000780;Anvil;4012345678901;10.00 EUR\n"
    job = await run_file(bench, changed, intent="merge", source="acme")
    [item] = await bench.items(job["id"])
    assert item["status"] == "SKIPPED"
    error = from_json(item["error"])
    assert error["code"] == "GTIN_CHANGE_HELD"
    assert error["details"]["before"] == "4006381333931"
    assert error["details"]["after"] == "4012345678901"
    assert job["summary"]["held"] == 1
    assert (await stored(bench))["acme", "000780"]["data"]["title"] == "Lamp"


async def test_another_row_id_with_the_same_sku_and_another_gtin_is_new(bench: Bench) -> None:
    first = b"Id;SKU;Title;GTIN\n1;000780;Lamp;4006381333931\n"
    then = b"Id;SKU;Title;GTIN\n2;000780;Anvil;4012345678901\n"
    await run_file(bench, first, intent="merge", source="acme")
    await run_file(bench, then, intent="merge", source="acme")
    titles = {key[1]: one["data"]["title"] for key, one in (await stored(bench)).items()}
    assert titles == {"1": "Lamp", "2": "Anvil"}


async def test_another_org_is_neither_matched_nor_linked(bench: Bench, principal: Any) -> None:
    other = await principal("globex")
    await run_file(bench, ACME, other, intent="merge", source="acme")
    same = b"SKU;Title;GTIN\nZ-9;Lamp;4006381333931\n"
    job = await run_file(bench, same, intent="merge", source="bolt")
    assert (job["summary"]["new"], job["summary"]["linked"]) == (1, 0)


@pytest.mark.parametrize("seed", range(4))
async def test_random_files_of_several_suppliers_stay_apart(bench: Bench, seed: int) -> None:
    """Any rows, any intents, in any order: products of other sources are as they were, and no
    product's GTIN is replaced by another one."""
    chance = random.Random(seed)
    gtins = ("", "4006381333931", "4012345678901", "9783161484100")
    for _ in range(8):
        source, before = chance.choice(("acme", "bolt", "coil")), await stored(bench)
        lines = [
            f"{chance.randint(1, 4)};{chance.choice('XYZ')};{chance.choice(gtins)};"
            f"T{chance.randint(1, 9)};Bosch;{chance.choice(('', 'M-1', 'M-2'))};"
            f"{chance.randint(90, 99)}"
            for _ in range(chance.randint(1, 6))
        ]
        content = "\n".join(("Id;SKU;GTIN;Title;Brand;MPN;Price", *lines, "")).encode()
        intent = chance.choice(("create", "update", "merge", "replace", "ignoreExisting"))
        await run_file(bench, content, intent=intent, source=source, key="sourceId")
        after = await stored(bench)
        others = {key: one for key, one in after.items() if key[0] != source}
        assert others == {key: one for key, one in before.items() if key[0] != source}
        for key, one in before.items():
            was = one["data"].get("identifiers", {}).get("gtin")
            now = after[key]["data"].get("identifiers", {}).get("gtin")
            assert was is None or now in (was, None), (key, intent)
