"""Lookups of lists in the catalog: what is found, what is a question, and what was tried."""

from __future__ import annotations

from typing import Any

import pytest
from tests.fixtures import Bench
from tests.lookup.support import TOOLS, Catalog

from penstock.app.lookup.choose import choose_candidate
from penstock.model.errors import BadInput, PermanentError
from penstock.model.text.json_text import from_json
from penstock.store.accounts.audit_log import Caller

pytestmark = pytest.mark.slow


@pytest.fixture
async def catalog(bench: Bench) -> Catalog:
    made = Catalog(bench)
    await made.add(TOOLS)
    return made


# What is asked, which product it is, by which variant.
FOUND: list[tuple[dict[str, Any], str, str]] = [
    ({"EAN": "4006381333931"}, "T-1", "gtin"),
    ({"EAN": "04006381333931", "Name": "Hammer"}, "T-1", "gtin"),
    ({"Brand": "hultafors", "MPN": "HF-820"}, "T-1", "mpnBrand"),
    ({"SKU": "T-2"}, "T-2", "sku"),
    ({"EAN": "4006381333948", "SKU": "T-2"}, "T-2", "sku"),
    ({"Brand": "Knipex", "Title": "Round-nose pliers, 160 mm"}, "T-2", "brandTitle"),
    ({"Title": "hex bolt STAINLESS A2 m8x20"}, "T-3", "title"),
    ({"Title": "Hex bolt M8x30 stainles A2"}, "T-4", "title"),
    ({"Brand": "würth", "Title": "WÜRTH Hex bolt M8x20 A2 stainless"}, "T-3", "brandTitle"),
]


@pytest.mark.parametrize(("row", "source_id", "variant"), FOUND)
async def test_a_row_is_found_by_what_it_has(
    catalog: Catalog, row: dict[str, Any], source_id: str, variant: str
) -> None:
    job_id = await catalog.look_up([row])
    [result] = await catalog.results(job_id)
    assert (result["status"], result.get("sourceId")) == ("DONE", source_id), result
    assert (result["match"], result["matchedBy"]) == ("found", variant)
    assert result["confidence"] >= 0.8
    searches = await catalog.searches(job_id)
    assert (searches[-1]["variant"], searches[-1]["outcome"]) == (variant, "found")
    assert all(one["outcome"] == "notFound" for one in searches[:-1])
    assert all(one["latency_ms"] > 0 for one in searches)


async def test_what_is_not_found_says_what_was_tried(catalog: Catalog) -> None:
    row = {"EAN": "4006381333948", "SKU": "X-99", "Brand": "Bosch", "Title": "Cordless drill 12V"}
    job_id = await catalog.look_up([row, {"EAN": "1"}])
    first, second = await catalog.results(job_id)
    assert (first["status"], first["match"]) == ("NOT_FOUND", "notFound")
    assert first["error"]["details"]["tried"] == {"catalog": ["gtin", "sku", "brandTitle", "title"]}
    assert first["tried"] == "catalog: gtin, sku, brandTitle, title"
    # What the list says stays in the result.
    assert (first["EAN"], first["Title"]) == ("4006381333948", "Cordless drill 12V")
    assert (second["status"], second["error"]["code"]) == ("ERROR", "NOTHING_TO_LOOK_UP")
    job = await catalog.bench.job(job_id)
    assert job["state"] == "done"
    counted = {"total": 2, "found": 0, "ambiguous": 0, "notFound": 1, "errors": 1}
    assert from_json(job["summary"]) == counted


@pytest.mark.parametrize(
    "row",
    [
        {"Title": "Hex bolt M8x25 stainless A2"},
        {"Title": "Hex bolt M6x20 stainless A2"},
        {"EAN": "4006381333948", "Brand": "Hultafors", "MPN": "HF-820"},
        {"SKU": "T-2", "Brand": "Makita", "Title": "Planer blade 82 mm"},
    ],
)
async def test_no_row_is_matched_with_another_product(
    catalog: Catalog, row: dict[str, Any]
) -> None:
    """Other numbers in the title, another GTIN, or another brand are another product."""
    [result] = await catalog.results(await catalog.look_up([row]))
    assert result["match"] in ("notFound", "ambiguous"), result


async def test_the_same_gtin_of_two_suppliers_is_no_question(catalog: Catalog) -> None:
    await catalog.add(TOOLS[:1], source="other")
    [result] = await catalog.results(await catalog.look_up([{"EAN": "4006381333931"}]))
    assert (result["match"], result["candidates"]) == ("found", 2)


async def ambiguous(catalog: Catalog) -> Any:
    await catalog.add([{**TOOLS[1], "title": "Round nose pliers", "brand": "NWS"}], source="other")
    job_id = await catalog.look_up([{"SKU": "T-2"}])
    [item] = await catalog.bench.items(job_id)
    assert (item["status"], from_json(item["error"])["code"]) == ("SKIPPED", "AMBIGUOUS_MATCH")
    candidates = from_json(item["normalized"])["candidates"]
    assert {one["source"] for one in candidates} == {"tools", "other"}
    return job_id, candidates


async def choose(catalog: Catalog, job_id: Any, key: str | None) -> None:
    bench = catalog.bench
    async with bench.runtime.db.transaction() as conn:
        await choose_candidate(bench.runtime, conn, Caller(bench.who, None), job_id, 1, key)
    await bench.work()


async def test_a_person_chooses_among_candidates(catalog: Catalog) -> None:
    job_id, candidates = await ambiguous(catalog)
    searched = len(await catalog.searches(job_id))
    other = next(one for one in candidates if one["source"] == "other")
    await choose(catalog, job_id, other["key"])
    [result] = await catalog.results(job_id)
    assert (result["status"], result["match"], result["matchedBy"]) == ("DONE", "found", "person")
    assert (result["source"], result["title"]) == ("other", "Round nose pliers")
    # It was not searched again, and another choice is still possible.
    assert len(await catalog.searches(job_id)) == searched
    await choose(catalog, job_id, None)
    [result] = await catalog.results(job_id)
    assert (result["status"], result["match"]) == ("NOT_FOUND", "notFound")
    assert from_json((await catalog.bench.job(job_id))["summary"])["notFound"] == 1


async def test_a_choice_that_is_none_is_refused(catalog: Catalog) -> None:
    job_id, _ = await ambiguous(catalog)
    with pytest.raises(BadInput, match="no candidate"):
        await choose(catalog, job_id, "somewhere else")
    found = await catalog.look_up([{"SKU": "unknown"}])
    with pytest.raises(PermanentError, match="no candidates"):
        await choose(catalog, found, None)


async def test_a_product_of_another_org_is_not_found(catalog: Catalog) -> None:
    async with catalog.bench.runtime.db.transaction() as conn:
        other = await conn.fetchval("INSERT INTO orgs (name) VALUES ('other') RETURNING id")
        await conn.execute("UPDATE products SET org_id = $1", other)
    rows = [row for row, _, _ in FOUND]
    results = await catalog.results(await catalog.look_up(rows))
    assert {one["status"] for one in results} == {"NOT_FOUND"}


async def test_a_lookup_of_one_source(catalog: Catalog) -> None:
    await catalog.add(TOOLS, source="other")
    rows = [{"SKU": "T-2"}, {"Title": "Hex bolt M8x20 stainless A2"}]
    results = await catalog.results(await catalog.look_up(rows, catalogSource="other"))
    assert [one["source"] for one in results] == ["other", "other"]


async def test_rows_or_a_file_but_not_both(catalog: Catalog) -> None:
    with pytest.raises(BadInput, match="needs either files"):
        await catalog.bench.submit("lookup", {})
