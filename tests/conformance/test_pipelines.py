"""What every pipeline must hold, over the registry: registering one enrols it here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path
from typing import Any
from uuid import uuid4

import orjson
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

from penstock.model.outcomes import Advance, Done, Fail, Outcome
from penstock.model.pipeline import MAX_INLINE_ROWS, Item, Job, Pipeline, Row
from penstock.model.states import ItemStatus
from penstock.model.text.json_text import JsonText
from penstock.pipelines.registry import PIPELINES, TEST_PIPELINES

EXAMPLE = Path(__file__).parents[2] / "examples" / "supplier.csv"
PAGES = Path(__file__).parents[1] / "crawl" / "pages.json"


@dataclass(frozen=True)
class Sample:
    """A small job of a pipeline; a pipeline without one cannot be judged and fails."""

    config: Mapping[str, Any]
    rows: int
    file: Path | None = None


SAMPLES = {
    "extraction": Sample({"mapping": {"Bemerkung": "tags"}}, 60, EXAMPLE),
    "shop_import": Sample(
        {"connectionId": str(uuid4()), "productIds": [str(one) for one in range(150)]}, 150
    ),
    "lookup": Sample(
        {"rows": [{"ean": f"{n:013}", "name": f"Bolt no {n}"} for n in range(150)]}, 150
    ),
    "crawl": Sample({"rate": 2}, 40, PAGES),
    "research": Sample({"query": "M8 bolt", "priceRange": {"max": "0.2"}, "sources": ["one"]}, 1),
    "research-process": Sample({"requestId": "r-1", "query": "M8 bolt"}, 1),
    "research-retry": Sample({"originalRequestId": "r-1"}, 1),
    "webhook-dispatch": Sample(
        {"webhookId": "w-1", "url": "https://10.0.0.1/hook", "event": "job.completed"}, 1
    ),
    "noop": Sample({"items": 150, "stages": 3, "payloadBytes": 20, "groups": 4}, 150),
}

# Those that somebody may submit: what the system makes itself has its own tests.
SUBMITTED = [one for one in (*PIPELINES, *TEST_PIPELINES) if not one.internal]
every_pipeline = pytest.mark.parametrize("pipeline", SUBMITTED, ids=lambda one: one.name)


@pytest_asyncio.fixture
async def ctx(tmp_path: Path) -> AsyncIterator[TrialContext]:
    async with trial_context(tmp_path) as made:
        yield made


async def sample_job(pipeline: Pipeline, ctx: TrialContext) -> Job:
    sample = SAMPLES[pipeline.name]
    content = sample.file.read_bytes() if sample.file else None
    return await job_of(pipeline, ctx, sample.config, content)


def test_names_are_unique() -> None:
    names = [pipeline.name for pipeline in (*PIPELINES, *TEST_PIPELINES)]
    assert len(names) == len(set(names))


def test_other_packages_add_pipelines_by_entry_point(tmp_path: Path) -> None:
    (tmp_path / "guest.py").write_text(
        "from penstock.model.pipeline import Pipeline\nclass Guest(Pipeline):\n    name = 'guest'\n"
    )
    package = tmp_path / "guest-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: guest\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[penstock.pipelines]\nguest = guest:Guest\n")
    run = subprocess.run(
        [
            sys.executable,
            "-c",
            "from penstock.pipelines.registry import PIPELINES; print(PIPELINES[-1].name)",
        ],
        env={**os.environ, "PYTHONPATH": ":".join([str(tmp_path), *sys.path])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == "guest"


@every_pipeline
def test_the_config_refuses_what_it_does_not_know(pipeline: Pipeline) -> None:
    config = SAMPLES[pipeline.name].config
    with pytest.raises(ValidationError):
        pipeline.Config.model_validate({**config, "nobodyKnowsThis": 1})


@every_pipeline
def test_the_config_survives_storage(pipeline: Pipeline) -> None:
    config = pipeline.Config.model_validate(SAMPLES[pipeline.name].config)
    stored = orjson.dumps(config.model_dump(mode="json"))
    assert pipeline.Config.model_validate(orjson.loads(stored)) == config
    for name in orjson.loads(stored):
        assert "_" not in name, f"{name} is not camelCase"


@every_pipeline
def test_stages_have_names_and_shares(pipeline: Pipeline) -> None:
    config = pipeline.Config.model_validate(SAMPLES[pipeline.name].config)
    stages = pipeline.stages(config)
    assert stages
    assert len({stage.name for stage in stages}) == len(stages)
    assert all(stage.share > 0 for stage in stages)


@every_pipeline
def test_inline_rows_are_few(pipeline: Pipeline) -> None:
    config = pipeline.Config.model_validate(SAMPLES[pipeline.name].config)
    assert len(pipeline.inline(config) or ()) <= MAX_INLINE_ROWS


@every_pipeline
@pytest.mark.parametrize("size", [1, 7, 64, 5000])
async def test_rows_resume_from_every_cursor(
    pipeline: Pipeline, size: int, ctx: TrialContext
) -> None:
    job = await sample_job(pipeline, ctx)
    ctx.batch_rows = size
    batches = await batches_of(pipeline, job, ctx)
    rows = [row for batch in batches for row in batch.rows]
    assert len(rows) == SAMPLES[pipeline.name].rows
    ctx.batch_rows = 11
    done = 0
    # Of many cursors every few: each one starts the reading anew.
    for number, batch in enumerate(batches):
        assert len(batch.rows) <= size
        done += len(batch.rows)
        if number % max(1, len(batches) // 10) == 0 or batch is batches[-1]:
            cursor = orjson.loads(orjson.dumps(dict(batch.cursor)))
            rest = await batches_of(pipeline, job, ctx, cursor)
            assert [row for more in rest for row in more.rows] == rows[done:]


@every_pipeline
async def test_batches_follow_the_size_asked_for(pipeline: Pipeline, ctx: TrialContext) -> None:
    job = await sample_job(pipeline, ctx)
    left = SAMPLES[pipeline.name].rows
    sizes = cycle([3, 20, 1, 8])
    ctx.batch_rows = next(sizes)
    async with aclosing(pipeline.rows(job, ctx, None)) as batches:
        async for batch in batches:
            assert len(batch.rows) == min(ctx.batch_rows, left)
            left -= len(batch.rows)
            ctx.batch_rows = next(sizes)
    assert left == 0


@every_pipeline
async def test_bytes_read_rise_to_the_total(pipeline: Pipeline, ctx: TrialContext) -> None:
    job = await sample_job(pipeline, ctx)
    ctx.batch_rows = 10
    batches = await batches_of(pipeline, job, ctx)
    read = [batch.bytes_read for batch in batches]
    assert read == sorted(read)
    assert len({batch.bytes_total for batch in batches}) == 1
    assert read[-1] == batches[-1].bytes_total


@every_pipeline
async def test_every_item_has_an_outcome_in_every_stage(
    pipeline: Pipeline, ctx: TrialContext
) -> None:
    job = await sample_job(pipeline, ctx)
    batches = await batches_of(pipeline, job, ctx)
    job = replace(job, header=batches[0].header)
    context = await pipeline.after_ingest(job, batches[-1].cursor, ctx)
    job = replace(job, context=orjson.loads(orjson.dumps(dict(context))))
    rows = [stored(row) for batch in batches for row in batch.rows]
    items = [
        Item(job, number, row.input, key=row.key, group=row.group)
        for number, row in enumerate(rows, start=1)
    ]
    stages = pipeline.stages(job.config)
    catalog = ctx.catalog
    assert isinstance(catalog, TrialCatalog)
    for place, stage in enumerate(stages):
        outcomes = await outcomes_of(stage, items, ctx)
        assert len(outcomes) == len(items)
        for outcome in outcomes:
            assert outcome is not None
            orjson.dumps(shown(outcome))
            if isinstance(outcome, Advance):
                assert stage is not stages[-1]
        going = []
        for item, outcome in zip(items, outcomes, strict=True):
            if isinstance(outcome, Advance):
                known = outcome.normalized or catalog.rows.get(item.row_no, {})
                catalog.rows[item.row_no] = known
                going.append(loaded(pipeline, stages[place + 1], item, known))
        items = going


@every_pipeline
async def test_what_is_learnt_and_summed_up_can_be_stored(
    pipeline: Pipeline, ctx: TrialContext
) -> None:
    job = await sample_job(pipeline, ctx)
    batches = await batches_of(pipeline, job, ctx)
    job = replace(job, header=batches[-1].header)
    context = await pipeline.after_ingest(job, batches[-1].cursor, ctx)
    orjson.dumps(dict(context))
    ended = replace(job, context=context, counters={"total": 3})
    summary = await pipeline.summarize(ended, ctx)
    orjson.dumps(dict(summary))
    assert summary or not pipeline.traits(job.config).summarizes


def stored(row: Row) -> Row:
    """As it comes back from the database."""
    if isinstance(row.input, JsonText):
        return replace(row, input=json.loads(row.input))
    return replace(row, input=orjson.loads(orjson.dumps(row.input)))


def shown(outcome: Outcome) -> list[Any]:
    """All of an outcome that is stored."""
    parts: list[Any] = [(child.key, child.input) for child in outcome.spawn]
    if isinstance(outcome, (Done, Advance, Fail)):
        parts += [outcome.result, outcome.normalized]
    error = getattr(outcome, "error", None)
    return [*parts, error.as_json() if error else None]


@every_pipeline
def test_words_for_a_status_fit_into_a_cell(pipeline: Pipeline) -> None:
    codes = [None, "NO_SUCH_CODE", "WORKER_CRASHED", "PRICE_CHANGE_HELD", "DUPLICATE_IN_FILE"]
    for status in ItemStatus:
        for code in codes:
            words = pipeline.shown(status, None, code)
            assert words is None or 0 < len(words.strip()) <= 20, (status, code, words)
        # What is open or done, and every code that a pipeline does not know, has the usual words.
        assert pipeline.shown(status, "no such stage", "NO_SUCH_CODE") is None


def test_extraction_has_words_for_rows_it_holds_back() -> None:
    (extraction,) = (one for one in PIPELINES if one.name == "extraction")
    words = {
        code: extraction.shown(ItemStatus.SKIPPED, "match", code)
        for code in ("PRICE_CHANGE_HELD", "GTIN_CHANGE_HELD", "DUPLICATE_IN_FILE")
    }
    assert list(words.values()) == ["Price held", "GTIN held", "Duplicate"]
    assert extraction.shown(ItemStatus.DONE, "apply", "PRICE_CHANGE_HELD") is None
