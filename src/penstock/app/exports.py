"""A job's rows in order, page by page, as every export writes them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from penstock.app.result_rows import first_result
from penstock.engine.runtime import Runtime
from penstock.model.cpu.meter import charge, timed
from penstock.model.errors import BadInput
from penstock.model.export import (
    MISSING_COLUMNS,
    REASON,
    REPORT_COLUMNS,
    STATUS_COLUMNS,
    ExportRow,
    RowWriter,
    Which,
    marks_of,
    problems_of,
    reason_of,
    report_lines,
)
from penstock.model.exports.templates import ExportTemplate
from penstock.model.exports.variants import VariantShape, VariantTable
from penstock.model.rows.lines import Runs, line_of, runs_of
from penstock.model.states import ItemStatus
from penstock.store.catalog import missing
from penstock.store.catalog.missing import MissingProduct
from penstock.store.catalog.ports import row_documents
from penstock.store.database import Connection, from_json
from penstock.store.jobs import export as store
from penstock.store.jobs.export import ExportedRow
from penstock.store.jobs.job_rows import JobDetails

PAGE_ROWS = 2000
# Rows whose cells are counted in one statement.
_MEASURED_AT_ONCE = 20_000
# Rows that one statement looks at, however few of them match.
_WIDEST, _WIDEST_WITH_WORDS = 50_000, 5_000
_threads = ThreadPoolExecutor(4, thread_name_prefix="export")
OpenConnection = Callable[[], AbstractAsyncContextManager[Connection]]
_WITH_VARIANTS: tuple[Which, ...] = ("valid", "all")
PROBLEMS = (ItemStatus.ERROR, ItemStatus.NOT_FOUND)


@dataclass(frozen=True, slots=True)
class ExportFilter:
    """Which rows, and in which shape. Without statuses: all rows, or those that fit the shape."""

    which: Which = "valid"
    statuses: Sequence[str] = ()
    code: str | None = None
    q: str = ""
    # None: as the template says, else as text.
    variants: VariantShape | None = None

    @property
    def has_filter(self) -> bool:
        """Whether the caller chose rows; then failed rows among them are exported, too."""
        return bool(self.statuses or self.code or self.q)


async def export_pieces(
    runtime: Runtime, opened: OpenConnection, job: JobDetails, wanted: ExportFilter,
    kind: type[RowWriter], template: ExportTemplate | None = None,
) -> AsyncGenerator[bytes, None]:  # fmt: skip
    """A job's rows as a file, piece by piece. Pages are written in a thread, since a page of a
    workbook takes long. A template chooses the columns of valid rows."""
    if wanted.which == "missing":
        async for piece in _missing_pieces(opened, job.id, kind(MISSING_COLUMNS, frozenset())):
            yield piece
        return
    writer: RowWriter | None = None
    layout = _Layout((), (), frozenset())
    async with opened() as conn:
        first = await first_result(runtime, conn, job.id, job)
    marks, lines = kind.marks or wanted.which == "all", runs_of(from_json(job.context) or {})
    rows = result_pages(opened, job.id, job.total, wanted, marks=marks, first=first)
    async with aclosing(_one_ahead(rows)) as pages:
        async for page in pages:
            if writer is None:
                widest = await _widest(opened, job, wanted)
                layout = _layout(runtime, job, wanted, template, page, widest)
                writer = kind(layout.names, layout.amounts)
                yield writer.head()
            documents: Mapping[int, str] = {}
            if layout.table is not None:
                async with opened() as conn:
                    documents = await row_documents(conn, job.id, [row.row_no for row in page])
            yield await in_export_thread(_page, writer, wanted, layout, page, lines, documents)
    if writer is not None:
        yield await in_export_thread(writer.end)


@dataclass(frozen=True, slots=True)
class _Layout:
    """The columns of the file. ``table``: how variants become rows or columns; None: as text.
    ``skipped``: the codes of skipped rows that are results; None: all."""

    columns: Sequence[str]
    names: Sequence[str]
    amounts: frozenset[str]
    shape: VariantShape = "text"
    table: VariantTable | None = None
    skipped: frozenset[str] | None = None


def _layout(
    runtime: Runtime, job: JobDetails, wanted: ExportFilter, template: ExportTemplate | None,
    page: Sequence[ExportedRow], widest: int,
) -> _Layout:  # fmt: skip
    columns, amounts = export_columns(runtime, job, wanted, page, widest), amounts_of(runtime, job)
    names, are_chosen = columns, False
    if template is not None and wanted.which == "valid":
        columns, names, are_chosen = template.sources, template.names, True
        amounts = template.amounts(amounts)
    told: VariantShape = template.variants if template is not None else "text"
    shape = wanted.variants or told
    pipeline = runtime.pipelines.get(job.pipeline)
    table = None if pipeline is None else pipeline.variant_table
    skipped = None if pipeline is None else pipeline.skipped_results
    if table is None or shape == "text" or wanted.which not in _WITH_VARIANTS:
        return _Layout(columns, names, amounts, skipped=skipped)
    own = len(columns) - (len(STATUS_COLUMNS) if wanted.which == "all" else 0)
    shaped = table.columns(columns[:own], shape, are_chosen=are_chosen)
    names = [*names, *shaped[own:]] if are_chosen else [*shaped, *columns[own:]]
    return _Layout(shaped, names, amounts, shape, table, skipped)


def check_variants(runtime: Runtime, job: JobDetails, wanted: ExportFilter) -> None:
    """Refuse an export whose rows have no variants to show."""
    if wanted.variants in (None, "text"):
        return
    if wanted.which not in _WITH_VARIANTS:
        raise BadInput(
            "INVALID_PARAMETERS",
            f"Variants as {wanted.variants} are for results; {wanted.which!r} has no variants.",
        )
    pipeline = runtime.pipelines.get(job.pipeline)
    if pipeline is None or pipeline.variant_table is None:
        raise BadInput(
            "INVALID_PARAMETERS", f"Results of the pipeline {job.pipeline!r} have no variants."
        )


async def in_export_thread(write: Callable[..., bytes], *args: Any) -> bytes:
    """Run in the threads of exports, which never take those of uploads."""
    loop = asyncio.get_running_loop()
    written, seconds = await loop.run_in_executor(_threads, timed, write, *args)
    charge(seconds)
    return written


async def _widest(opened: OpenConnection, job: JobDetails, wanted: ExportFilter) -> int:
    """The number of cells of the longest row, so that no cell is left out."""
    if wanted.which != "original-with-errors" or job.header is None:
        return 0
    widest = 0
    for after in range(0, job.total, _MEASURED_AT_ONCE):
        async with opened() as conn:
            last = min(after + _MEASURED_AT_ONCE, job.total)
            widest = max(widest, await store.widest(conn, job.id, after, last))
    return widest


async def _one_ahead(
    pages: AsyncGenerator[Sequence[ExportedRow], None],
) -> AsyncGenerator[Sequence[ExportedRow], None]:
    """The same pages; the next page is read while one is written."""
    async with aclosing(pages):
        coming = asyncio.ensure_future(anext(pages, None))
        try:
            while (page := await coming) is not None:
                coming = asyncio.ensure_future(anext(pages, None))
                yield page
        finally:
            coming.cancel()
            await asyncio.gather(coming, return_exceptions=True)


def _page(
    writer: RowWriter, wanted: ExportFilter, layout: _Layout, page: Sequence[ExportedRow],
    lines: Runs, documents: Mapping[int, str],
) -> bytes:  # fmt: skip
    if wanted.which == "valid" and not wanted.has_filter:
        page = [row for row in page if _is_valid(row, layout.skipped)]
    if layout.table is None:
        return writer.page(export_rows(wanted, layout.columns, page, lines))
    return writer.page(_variant_rows(wanted, layout, layout.table, page, documents))


async def result_pages(
    opened: OpenConnection, job_id: UUID, total: int, wanted: ExportFilter | None = None, *,
    marks: bool = True, first: int = 1,
) -> AsyncGenerator[Sequence[ExportedRow], None]:  # fmt: skip
    """Pages of the rows that exist now, at least one page. Without ``marks`` only cells are read,
    if they are enough. Without a filter, rows before the ``first`` result are left out.
    Transactions are short: one that stays open for a whole export slows down all claims."""
    asked = wanted or ExportFilter()
    statuses = asked.statuses or (() if asked.which in ("valid", "all") else PROBLEMS)
    if not statuses and (asked.code is not None or asked.q):
        statuses = tuple(ItemStatus)
    rows = store.Rows(job_id, statuses, asked.code, asked.q, bare=not marks)
    widest = _WIDEST_WITH_WORDS if asked.q else _WIDEST
    after, width, found = (0 if statuses else first - 1), PAGE_ROWS, False
    while after < total:
        last = min(after + width, total)
        async with opened() as conn:
            page, more = await store.window(conn, rows, after, last, PAGE_ROWS)
        if page:
            found = True
            yield page
        after = page[-1].row_no if more else last
        width = PAGE_ROWS if more else min(width * 2, widest)
    if not found:
        yield []


async def _missing_pieces(
    opened: OpenConnection, job_id: UUID, writer: RowWriter
) -> AsyncGenerator[bytes, None]:
    """The products that the file does not contain."""
    yield writer.head()
    after: str | None = ""
    while after is not None:
        async with opened() as conn:
            page = await missing.page_of_missing(conn, job_id, after, PAGE_ROWS)
        yield await in_export_thread(writer.page, _missing_rows(page))
        after = page[-1].source_id if len(page) == PAGE_ROWS else None
    yield await in_export_thread(writer.end)


def export_columns(
    runtime: Runtime,
    job: JobDetails,
    wanted: ExportFilter,
    first_page: Sequence[ExportedRow],
    widest: int = 0,
) -> Sequence[str]:
    match wanted.which:
        case "errors":
            return REPORT_COLUMNS
        case "original-with-errors":
            columns = _original_columns(job, first_page, widest)
            return [*columns, _free(REASON, columns)]
        case "all":
            columns = columns_of(runtime, job, first_page)
            return [*columns, *(_free(name, columns) for name in STATUS_COLUMNS)]
        case _:
            return columns_of(runtime, job, first_page)


def amounts_of(runtime: Runtime, job: JobDetails) -> frozenset[str]:
    """The columns of the job's results that contain amounts of money."""
    pipeline = runtime.pipelines.get(job.pipeline)
    return frozenset() if pipeline is None else pipeline.amount_columns


def export_rows(
    wanted: ExportFilter, columns: Sequence[str], page: Sequence[ExportedRow], lines: Runs = ()
) -> Iterable[ExportRow]:
    """The rows of a page as they go into the file."""
    match wanted.which:
        case "errors":
            return _report_rows(page, lines)
        case "original-with-errors":
            return _original_rows(columns[:-1], page)
        case "all":
            return _all_rows(columns[: -len(STATUS_COLUMNS)], page)
        case _:
            return _valid_rows(columns, page)


def _is_valid(row: ExportedRow, skipped: frozenset[str] | None) -> bool:
    """Whether the row is a result that did not fail."""
    if row.status == "SKIPPED" and skipped is not None:
        return row.error is None or from_json(row.error).get("code") in skipped
    return row.status != "ERROR"


def _result_of(row: ExportedRow) -> Mapping[str, Any] | None:
    found = row.result
    return None if found is None else from_json(found)


def _all_rows(columns: Sequence[str], page: Iterable[ExportedRow]) -> Iterable[ExportRow]:
    """Every row with its status and problems; one without a result has empty cells."""
    for row in page:
        problems = _problems(row)
        cells = map((_result_of(row) or {}).get, columns)
        told = (row.status, reason_of(problems) or None)
        yield ExportRow([*cells, *told], marks_of(problems))


def _valid_rows(columns: Sequence[str], page: Iterable[ExportedRow]) -> Iterable[ExportRow]:
    for row in page:
        if (result := _result_of(row)) is not None:
            is_marked = row.error is not None or row.problems not in (None, "[]")
            marks = marks_of(_problems(row)) if is_marked else ()
            yield ExportRow(list(map(result.get, columns)), marks)


def _variant_rows(
    wanted: ExportFilter, layout: _Layout, table: VariantTable, page: Iterable[ExportedRow],
    documents: Mapping[int, str],
) -> Iterable[ExportRow]:  # fmt: skip
    """Results with their variants as rows or columns. The problems of a row stand in its first
    line. A row that is part of another's product has a line of its own only if it has problems and
    all rows are exported."""
    is_all = wanted.which == "all"
    for row in page:
        result, problems = _result_of(row), _problems(row)
        if not is_all and result is None:
            continue
        document = from_json(documents.get(row.row_no))
        lines = table.rows(result or {}, document, layout.columns, layout.shape)
        if not lines and is_all and problems:
            lines = [result or {}]
        marks, reason = marks_of(problems), reason_of(problems) or None
        for cells in lines:
            about = (row.status, reason) if is_all else ()
            yield ExportRow([*map(cells.get, layout.columns), *about], marks)
            marks, reason = [], None


def _original_rows(columns: Sequence[str], page: Iterable[ExportedRow]) -> Iterable[ExportRow]:
    for row in page:
        problems = _problems(row)
        yield ExportRow([*_original(row, columns), reason_of(problems)], marks_of(problems))


def _report_rows(page: Iterable[ExportedRow], lines: Runs) -> Iterable[ExportRow]:
    for row in page:
        line = line_of(lines, row.row_no)
        yield from report_lines(row.row_no, line, row.status, _problems(row))


def _missing_rows(page: Iterable[MissingProduct]) -> Iterable[ExportRow]:
    for row in page:
        off = "yes" if row.unpublished else "no"
        yield ExportRow([row.source_id, row.sku, row.gtin, row.title, off])


def _problems(row: ExportedRow) -> list[Mapping[str, Any]]:
    return problems_of(from_json(row.error), from_json(row.problems))


def columns_of(runtime: Runtime, job: JobDetails, first_page: Sequence[ExportedRow]) -> list[str]:
    """The pipeline's columns, else those of the file, else those of the first results."""
    pipeline = runtime.pipelines.get(job.pipeline)
    known = None if pipeline is None else pipeline.columns_of(from_json(job.context) or {})
    if known is not None:
        return list(known)
    if job.header is not None:
        return list(from_json(job.header))
    results = [from_json(row.result) or {} for row in first_page]
    return list(dict.fromkeys(name for result in results for name in result))


def _original_columns(job: JobDetails, first_page: Sequence[ExportedRow], widest: int) -> list[str]:
    """The columns of the file; cells beyond the header are named by their position, as in the
    grid."""
    inputs = [from_json(row.input) for row in first_page]
    if job.header is None:
        return list(dict.fromkeys(name for one in inputs if isinstance(one, dict) for name in one))
    header = list(from_json(job.header))
    longest = max((len(one) for one in inputs if isinstance(one, list)), default=0)
    longest = max(longest, widest)
    return header + [f"Column {place + 1}" for place in range(len(header), longest)]


def _free(name: str, taken: Sequence[str]) -> str:
    """A name that no column has: in JSON, one column would replace the other."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name} {number}"
    return free


def _original(row: ExportedRow, columns: Sequence[str]) -> list[Any]:
    """The cells of the file, as many as there are columns."""
    given = from_json(row.input)
    if isinstance(given, dict):
        return [given.get(column) for column in columns]
    cells = list(given) if isinstance(given, list) else [given]
    return (cells + [None] * len(columns))[: len(columns)]
