from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest
import pytest_asyncio
from pydantic import ValidationError
from tests.pipelines.context import TrialContext, batches_of, job_of, trial_context

from penstock.model.errors import BadInput, ItemError
from penstock.model.outcomes import Done, Fail
from penstock.model.pipeline import Item, Job
from penstock.pipelines.extraction import Extraction, ExtractionConfig, column_fields, extract

PIPELINE = Extraction()


@pytest_asyncio.fixture
async def ctx(tmp_path: Path) -> AsyncIterator[TrialContext]:
    async with trial_context(tmp_path) as made:
        yield made


def item(header: list[str], cells: list[str], mapping: dict[str, str] | None = None) -> Item:
    config = ExtractionConfig(mapping=mapping)
    return Item(Job(uuid4(), 1, "extraction", config, header=header), 1, cells)


def test_columns_find_their_fields_by_name() -> None:
    header = ["SKU", "Source ID", "lead_time_days", "Min-Order", "Farbe", "sku"]
    assert column_fields(header, None) == {
        "SKU": "sku",
        "Source ID": "sourceId",
        "lead_time_days": "leadTimeDays",
        "Min-Order": "minOrder",
    }


def test_the_mapping_goes_before_equal_names() -> None:
    header = ["Artikelnummer", "SKU", "Price"]
    mapping = {"Artikelnummer": "sku", "Price": "quantity"}
    assert column_fields(header, mapping) == {"Artikelnummer": "sku", "Price": "quantity"}


def test_rows_are_cleaned_and_all_columns_kept() -> None:
    decomposed, composed = "Ku\u0308hler", "K\u00fchler"
    [outcome] = extract([item(["Title", "Price", "Farbe"], [f" {decomposed}\u00a0", "", " rot"])])
    assert isinstance(outcome, Done)
    assert list(outcome.result.items()) == [("Title", composed), ("Price", ""), ("Farbe", "rot")]
    assert outcome.normalized == {"title": composed}


def test_a_row_with_too_many_cells_fails_and_still_shows_what_it_has() -> None:
    [outcome] = extract([item(["a", "b"], ["1", "2", "3"])])
    assert isinstance(outcome, Fail)
    assert outcome.error == ItemError(
        "VALIDATION_ERROR",
        "Row has 3 cells, the header has 2",
        details={"cells": 3, "columns": 2},
    )
    assert outcome.result == {"a": "1", "b": "2"}


def test_a_batch_may_hold_rows_of_several_jobs() -> None:
    first, second = item(["sku"], ["1"]), item(["x"], ["2"], {"x": "title"})
    results = [outcome.normalized for outcome in extract([first, second]) if type(outcome) is Done]
    assert results == [{"sku": "1"}, {"title": "2"}]


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
    job = await job_of(PIPELINE, ctx, {}, b"SKU,Farbe\n1,rot\n")
    counters = {"total": 5, "done": 3, "error": 2}
    summary = await PIPELINE.summarize(replace(job, header=["SKU"], counters=counters), ctx)
    assert summary == {
        "total": 5,
        "valid": 3,
        "invalid": 2,
        "duplicates": None,
        "new": None,
        "existing": None,
        "mapping": {"SKU": "sku"},
    }
