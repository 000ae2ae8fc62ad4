"""Rows of a lookup: read, mapped like supplier files, and turned into what is searched for."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, cast

from penstock.catalog.lookup.queries import WantedProduct, queries_of, wanted_of
from penstock.catalog.mapping.column_stats import ColumnStats, add_rows, new_stats
from penstock.catalog.products.normalise import normalise
from penstock.model.errors import ChildCrashed, ItemError
from penstock.model.outcomes import Advance, Fail, Outcome
from penstock.model.pipeline import Item, Job, Row, RowBatch
from penstock.model.ports import Context, Profiles
from penstock.pipelines.extraction.file_rows import batches_of_file, reading_context
from penstock.pipelines.extraction.plan import (
    build_context,
    check_mapping,
    choose_profile,
    plan_of,
    require_naming,
)
from penstock.pipelines.lookup.result import RESULT_COLUMNS

# Members of an item's checkpoint.
WANTED, GIVEN = "wanted", "given"
NOTHING_TO_SEARCH = ItemError(
    "NOTHING_TO_LOOK_UP",
    "The row has no readable GTIN, part number, SKU or title to look a product up by",
)
_MAX_PROBLEMS = 20
_IN_CHILD = 500


@dataclass(frozen=True, slots=True)
class PlanSettings:
    """What the plan of a supplier file asks of a config, with the settings of a lookup."""

    profile: str | None
    mapping: Mapping[str, str | None] | None
    base_currency: str = "USD"
    # A row that lacks a field is looked up by what it has.
    required: Sequence[str] = ()
    strict: Sequence[str] | None = None
    source: None = None
    decimal: None = None
    dates: None = None
    currency: None = None
    contract: None = None
    winner: None = None
    key: None = None
    rules: None = None
    price_guard: None = None


def _with_plan_settings(job: Job) -> Job:
    return replace(job, config=PlanSettings(job.config.profile, job.config.mapping))


async def row_batches(
    job: Job, ctx: Context, cursor: Mapping[str, Any] | None
) -> AsyncGenerator[RowBatch, None]:
    if job.config.rows is not None:
        for batch in _given_batches(job.config.header(), job.config.cells(), ctx, cursor):
            yield batch
        return
    batches = batches_of_file(
        job, ctx, cursor, lambda names: check_mapping(names, job.config.mapping)
    )
    async with aclosing(batches):
        async for batch in batches:
            yield batch


def _given_batches(
    header: Sequence[str], cells: Sequence[Sequence[str]], ctx: Context,
    cursor: Mapping[str, Any] | None,
) -> Any:  # fmt: skip
    """Rows of the config. The last cursor has the statistics of the columns, as that of a file."""
    start: int = cursor["rows"] if cursor else 0
    while start < len(cells):
        stop = min(start + ctx.batch_rows, len(cells))
        told: dict[str, Any] = {"rows": stop}
        if stop == len(cells):
            stats = new_stats(len(header))
            add_rows(stats, cells)
            told["columns"] = [one.as_json() for one in stats]
        rows = [Row(list(one)) for one in cells[start:stop]]
        yield RowBatch(rows, told, stop, len(cells), header)
        start = stop


async def row_context(job: Job, cursor: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
    """Map the columns by all of their cells, as for a supplier file."""
    header = job.header or ()
    stats = [ColumnStats.from_json(one) for one in cursor["columns"]]
    planned = _with_plan_settings(job)
    profile, proposal, origin = await choose_profile(planned, header, stats, ctx.port(Profiles))
    reading = cursor.get("reading", {})
    found = build_context(header, stats, profile, proposal, origin, (), "USD", reading)
    require_naming(found)
    given = given_columns(header)
    columns = [*given, *RESULT_COLUMNS]
    return reading_context(cursor) | found | {"columns": columns, "warnings": [], GIVEN: given}


def given_columns(header: Sequence[str]) -> list[str]:
    """The names under which results show the columns of the list itself."""
    return [f"{name} (given)" if name in RESULT_COLUMNS else name for name in header]


async def read_rows(batch: Sequence[Item], ctx: Context) -> Sequence[Outcome | None]:
    """Read the rows in a child process, in pieces, so that a lost lease is noticed."""
    outcomes: list[Outcome | None] = []
    for start in range(0, len(batch), _IN_CHILD):
        piece = batch[start : start + _IN_CHILD]
        if ctx.time_is_up():
            outcomes += [None] * len(piece)
            continue
        try:
            outcomes += await ctx.children.call(parse_rows, list(piece))
        except ChildCrashed:
            outcomes += [await _read_alone(item, ctx) for item in piece]
    return outcomes


async def _read_alone(item: Item, ctx: Context) -> Outcome:
    try:
        [outcome] = await ctx.children.call(parse_rows, [item])
    except ChildCrashed:
        return Fail(ItemError("ROW_UNREADABLE", "The process that read this row died"))
    return cast(Outcome, outcome)


def parse_rows(batch: Sequence[Item]) -> Sequence[Outcome]:
    """What each row asks for."""
    jobs = {item.job.id: item.job for item in batch}
    plans = {job_id: plan_of(_with_plan_settings(job))[0] for job_id, job in jobs.items()}
    return [_read_row(item, plans[item.job.id]) for item in batch]


def _read_row(item: Item, plan: Any) -> Outcome:
    row = normalise(plan, item.input)
    given = item.job.context[GIVEN]
    cells = {name: cell for name, cell in zip(given, item.input, strict=False) if cell}
    problems = [one.as_json() for one in row.problems[:_MAX_PROBLEMS]]
    wanted: WantedProduct = wanted_of(row.product)
    told = {WANTED: wanted.as_json(), "problems": problems}
    if not queries_of(wanted):
        return Fail(NOTHING_TO_SEARCH, cells, told)
    return Advance(told, cells)
