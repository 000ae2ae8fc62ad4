"""Supplier files to products, stage by stage."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from pydantic import ValidationError
from tests.pipelines.context import (
    TrialCatalog,
    TrialContext,
    batches_of,
    job_of,
    loaded,
    outcomes_of,
    trial_context,
)

from penstock.catalog.mapping.proposal import fingerprint
from penstock.model.effects import NameRow, UpsertProduct
from penstock.model.errors import BadInput
from penstock.model.outcomes import AddedCells, Advance, Done, Fail, Outcome, Shown, Skip
from penstock.model.pipeline import Item, Job
from penstock.model.products import KnownProduct
from penstock.pipelines.extraction.pipeline import Extraction, ExtractionConfig

PIPELINE = Extraction()


@pytest_asyncio.fixture
async def ctx(tmp_path: Path) -> AsyncIterator[TrialContext]:
    async with trial_context(tmp_path) as made:
        yield made


async def learnt_job(ctx: TrialContext, content: bytes, **config: Any) -> tuple[Job, list[Item]]:
    """A job as its stages see it, and its items."""
    job = await job_of(PIPELINE, ctx, config, content)
    batches = await batches_of(PIPELINE, job, ctx)
    job = replace(job, header=batches[-1].header)
    context = await PIPELINE.after_ingest(job, batches[-1].cursor, ctx)
    job = replace(job, context=context)
    rows = [row for batch in batches for row in batch.rows]
    return job, [Item(job, number, json.loads(row.input)) for number, row in enumerate(rows, 1)]


async def through(ctx: TrialContext, items: list[Item]) -> list[Outcome]:
    """All stages in turn, as the engine takes items through them; each outcome with all that is
    stored of its item in the end."""
    ended: dict[int, Outcome] = {}
    shown: dict[int, Mapping[str, Any]] = {item.row_no: {} for item in items}
    catalog = ctx.catalog
    assert isinstance(catalog, TrialCatalog)
    stages = PIPELINE.stages(items[0].job.config)
    for stage, following in zip(stages, (*stages[1:], None), strict=True):
        outcomes = await outcomes_of(stage, items, ctx)
        going = []
        for item, outcome in zip(items, outcomes, strict=True):
            assert isinstance(outcome, Advance | Done | Skip | Fail)
            for effect in outcome.effects:
                if isinstance(effect, NameRow):
                    for key in effect.keys:
                        catalog.named.setdefault(key, {})[item.row_no] = effect.filled
            row = item.row_no
            shown[row] = _shown_after(shown[row], outcome.result)
            catalog.rows[row] = outcome.normalized or catalog.rows.get(row, {})
            if isinstance(outcome, Advance):
                assert following is not None
                going.append(loaded(PIPELINE, following, item, catalog.rows[row]))
            else:
                ended[row] = replace(outcome, result=shown[row], normalized=catalog.rows[row])
        items = going
        if not items:
            break
    return [ended[row] for row in sorted(ended)]


def _shown_after(before: Mapping[str, Any], result: Shown | None) -> Mapping[str, Any]:
    if result is None:
        return before
    return {**before, **result.cells} if isinstance(result, AddedCells) else result


def cells(outcome: Done | Skip | Fail) -> Mapping[str, Any]:
    assert isinstance(outcome.result, Mapping)
    return outcome.result


GOODS = """Artikelnr;EAN;Bezeichnung;Preis;Bestand;Farbe
A-1;4006381333931;Füller;1.234,50 €;7;blau
A-2;;Stift;0,99 €;12;rot
A-3;4006381333930;;abc;;
""".encode("cp1252", "replace")


async def test_a_suppliers_file_becomes_products(ctx: TrialContext) -> None:
    job, items = await learnt_job(ctx, GOODS)
    assert job.context["columns"][:4] == ["sourceId", "sku", "gtin", "title"]
    first, second, third = await through(ctx, items)
    assert isinstance(first, Done)
    assert cells(first)["sku"] == "A-1"
    assert (cells(first)["price"], cells(first)["currency"]) == ("1234.50", "EUR")
    assert (cells(first)["color"], cells(first)["match"]) == ("blau", "new")
    assert isinstance(second, Done)
    assert cells(second)["quantity"] == 12
    assert isinstance(third, Fail)
    problems = (third.normalized or {})["problems"]
    codes = {problem["code"] for problem in problems}
    assert "REQUIRED_MISSING" in codes
    assert {problem["column"] for problem in problems} >= {"EAN", "Preis"}
    assert third.error.column in {"EAN", "Preis", "Bezeichnung"}


async def test_where_each_value_came_from(ctx: TrialContext) -> None:
    _, items = await learnt_job(ctx, GOODS)
    first = (await through(ctx, items))[0]
    assert isinstance(first, Done)
    column, raw, rule, confidence = (first.normalized or {})["lineage"]["price.amount"]
    assert (column, raw) == ("Preis", "1.234,50 €")
    assert rule
    assert 0 < confidence <= 1


async def test_the_same_product_twice_in_a_file(ctx: TrialContext) -> None:
    content = b"sku,title\n1,A\n2,B\n1,A again\n"
    for winner, kept in (("first", "A"), ("last", "A again")):
        ctx.catalog = TrialCatalog()
        _, items = await learnt_job(ctx, content, winner=winner)
        outcomes = await through(ctx, items)
        losers = [one for one in outcomes if isinstance(one, Skip)]
        assert [one.code for one in losers] == ["DUPLICATE_IN_FILE"]
        assert kept in {cells(one)["title"] for one in outcomes if isinstance(one, Done)}


def known(sku: str, version: int = 3, **data: Any) -> KnownProduct:
    stored = {"id": f"file:{sku}", "source": "file", "sourceId": sku, "identifiers": {"sku": sku}}
    stored |= data
    return KnownProduct(uuid4(), "file", sku, sku, None, version, True, stored)


@pytest.mark.parametrize(
    ("intent", "expected"),
    [
        ("create", ["EXISTS_ALREADY", "EXISTS_ALREADY", "new"]),
        ("ignoreExisting", ["EXISTS_ALREADY", "EXISTS_ALREADY", "new"]),
        ("update", ["changed", "unchanged", "NOT_IN_CATALOG"]),
        ("merge", ["changed", "unchanged", "new"]),
        ("replace", ["changed", "changed", "new"]),
    ],
)
async def test_what_each_intent_writes(ctx: TrialContext, intent: str, expected: list[str]) -> None:
    ctx.catalog = TrialCatalog(
        [known("1", title="Old", brand="Acme"), known("2", title="Same", brand="Acme")]
    )
    _, items = await learnt_job(ctx, b"sku,title\n1,New\n2,Same\n3,Fresh\n", intent=intent)
    outcomes = await through(ctx, items)
    assert [
        one.code if isinstance(one, Skip) else cells(one)["match"]
        for one in outcomes
        if isinstance(one, Skip | Done)
    ] == expected
    written = {
        effect.source_id: effect
        for one in outcomes
        for effect in one.effects
        if isinstance(effect, UpsertProduct)
    }
    data = (written["1"].data if "1" in written else None) or {}
    if intent in ("merge", "update"):
        assert data["brand"] == "Acme"
        assert (data["title"], written["1"].seen_version) == ("New", 3)
    if intent == "replace":
        assert data["title"] == "New"
        assert "brand" not in data
    if intent not in ("update",):
        assert written["3"].seen_version is None


async def test_variants_of_one_handle_are_one_product(ctx: TrialContext) -> None:
    content = (
        b"Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Price\n"
        b"shirt,Shirt,Size,S,SH-S,9.90\nshirt,,,M,SH-M,9.90\nmug,Mug,,,MUG,4.00\n"
    )
    _, items = await learnt_job(ctx, content)
    outcomes = await through(ctx, items)
    assert [type(one).__name__ for one in outcomes] == ["Done", "Skip", "Done"]
    assert isinstance(outcomes[0], Done)
    assert len((outcomes[0].normalized or {})["product"]["variants"]) == 2
    assert isinstance(outcomes[1], Skip)
    assert outcomes[1].code == "PART_OF_PRODUCT"


async def test_a_parent_in_another_slice_is_found(ctx: TrialContext) -> None:
    """Variants name their parent's SKU; the parent names nobody. Each row is matched alone."""
    content = (
        b"SKU,Title,Parent SKU,Size,Price\nP,Shirt,,,9.90\nP-S,Shirt S,P,S,9.90\n"
        b"P-M,Shirt M,P,M,9.90\nQ,Mug,,,4.00\n"
    )
    job, items = await learnt_job(ctx, content)
    assert "variants.group" in {one["target"] for one in job.context["mapping"]}
    extract, match = PIPELINE.stages(job.config)[:2]
    await through(ctx, items)
    catalog = ctx.catalog
    assert isinstance(catalog, TrialCatalog)
    for item, outcome in zip(items, await outcomes_of(extract, items, ctx), strict=True):
        assert isinstance(outcome, Advance)
        catalog.rows[item.row_no] = outcome.normalized or {}
    ended: list[Outcome | None] = []
    for item in items:
        ended += await outcomes_of(match, [replace(item, input=None)], ctx)
    assert [type(one).__name__ for one in ended] == ["Done", "Skip", "Skip", "Done"]
    parent = ended[0]
    assert isinstance(parent, Done)
    assert len((parent.normalized or {})["product"]["variants"]) == 2


async def test_a_list_of_something_else_is_asked_about(ctx: TrialContext) -> None:
    with pytest.raises(BadInput) as asked:
        await learnt_job(ctx, b"when,what\nmonday,heavy rain\ntuesday,sun\n")
    assert asked.value.code == "MAPPING_NEEDED"
    suggested = {one["column"]: one["suggested"] for one in asked.value.details["candidates"]}
    assert suggested == {"when": "sku", "what": "title"}


async def test_a_preview_shows_what_a_job_would_do(ctx: TrialContext) -> None:
    job = await job_of(PIPELINE, ctx, {}, GOODS)
    shown = await PIPELINE.preview(job, ctx)
    assert (shown["rowsSampled"], shown["rowsEstimated"]) == (3, 3)
    assert shown["reading"]["encoding"]
    targets = {one["column"]: one["target"] for one in shown["mapping"]}
    assert targets["Preis"] == "price.amount"
    assert [row["verdict"] for row in shown["rows"]] == ["valid", "valid", "invalid"]
    assert shown["summary"]["new"] == 2


async def test_a_saved_profile_is_found_by_the_columns(ctx: TrialContext) -> None:
    header = ["Code", "Wert"]
    profile = {"name": "acme", "version": 4, "columns": {"Code": {"target": "sku"},
               "Wert": {"target": "price", "currency": "CHF"}}}  # fmt: skip
    ctx.catalog = TrialCatalog(profiles={fingerprint(header): profile, "acme": profile})
    for config in ({}, {"profile": "acme"}):
        job, items = await learnt_job(ctx, b"Code,Wert\n1,2.50\n", **config)
        assert job.context["profile"]["name"] == "acme"
        (outcome,) = await through(ctx, items)
        assert isinstance(outcome, Done)
        assert (cells(outcome)["sku"], cells(outcome)["currency"]) == ("1", "CHF")
    with pytest.raises(BadInput, match="no profile"):
        await learnt_job(ctx, b"Code,Wert\n1,2.50\n", profile="other")


@pytest.mark.parametrize("mapping", [{"a": "nothing"}, {"a": "sku", "b": "sku"}])
def test_a_mapping_must_name_each_field_once(mapping: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        ExtractionConfig(mapping=mapping)


async def test_a_mapping_of_unknown_columns_is_refused(ctx: TrialContext) -> None:
    job = await job_of(PIPELINE, ctx, {"mapping": {"nope": "sku"}}, b"a,b\n1,2\n")
    with pytest.raises(BadInput, match="nope") as refused:
        await batches_of(PIPELINE, job, ctx)
    assert refused.value.code == "INVALID_CONFIG"


async def test_a_header_alone_gives_one_empty_batch(ctx: TrialContext) -> None:
    job = await job_of(PIPELINE, ctx, {}, b"a,b\n")
    [batch] = await batches_of(PIPELINE, job, ctx)
    assert (batch.rows, batch.header, batch.cursor["rows"]) == ([], ["a", "b"], 0)


async def test_small_batches_merge_chunks_and_large_rows_bound_them(ctx: TrialContext) -> None:
    lines = b"".join(b"%d,%s\n" % (number, b"x" * 1000) for number in range(5000))
    job = await job_of(PIPELINE, ctx, {}, b"id,text\n" + lines)
    ctx.batch_rows = 5000
    assert [len(batch.rows) for batch in await batches_of(PIPELINE, job, ctx)] == [5000]
    ctx.limits = {**ctx.limits, "batch_bytes": 500_000}
    batches = await batches_of(PIPELINE, job, ctx)
    assert [batch.cursor["rows"] for batch in batches][-1] == 5000
    assert max(len(batch.rows) for batch in batches) < 500


async def test_one_row_larger_than_a_batch_passes_alone(ctx: TrialContext) -> None:
    job = await job_of(PIPELINE, ctx, {}, b"id,text\n1,a\n2," + b"x" * 5000 + b"\n3,b\n")
    ctx.limits = {**ctx.limits, "batch_bytes": 1000}
    batches = await batches_of(PIPELINE, job, ctx)
    assert [len(batch.rows) for batch in batches] == [1, 1, 1]


async def test_leaving_early_frees_the_child(ctx: TrialContext) -> None:
    job = await job_of(PIPELINE, ctx, {}, b"id\n" + b"1\n" * 100_000)
    for _ in range(3):
        async with aclosing(PIPELINE.rows(job, ctx, None)) as batches:
            assert len((await anext(batches)).rows) == ctx.batch_rows


async def test_the_summary_counts_and_tells_the_mapping(ctx: TrialContext) -> None:
    job, _ = await learnt_job(ctx, b"SKU,Notiz\n1,rot\n")
    counters = {"total": 5, "done": 2, "skipped": 1, "error": 2}
    ctx.catalog = TrialCatalog(states={"new": 2, "duplicate": 1})
    summary = await PIPELINE.summarize(replace(job, counters=counters), ctx)
    assert (summary["total"], summary["valid"], summary["invalid"]) == (5, 3, 2)
    assert summary["mapping"] == {"SKU": "identifiers.sku"}
    assert [one["fill"] for one in summary["columns"]] == [1.0, 1.0]
