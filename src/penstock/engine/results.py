"""A job's rows in order, page by page, as every export writes them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from penstock.engine.parts import Parts
from penstock.model.export import (
    REASON,
    REPORT_COLUMNS,
    ExportRow,
    Which,
    marks_of,
    problems_of,
    reason_of,
    report_lines,
)
from penstock.model.states import ItemStatus
from penstock.store import items
from penstock.store.database import Connection, from_json

PAGE_ROWS = 2000
OpenConnection = Callable[[], AbstractAsyncContextManager[Connection]]
PROBLEMS = (ItemStatus.ERROR, ItemStatus.NOT_FOUND)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows, and in which shape. No statuses: all with a result, or all with a problem."""

    which: Which = "all"
    statuses: Sequence[str] = ()
    code: str | None = None


async def result_pages(
    opened: OpenConnection, job_id: UUID, wanted: Wanted | None = None
) -> AsyncGenerator[list[Any], None]:
    """Short transactions: one that stays open for a whole export slows every claim down."""
    asked = wanted or Wanted()
    statuses = asked.statuses or (() if asked.which == "all" else PROBLEMS)
    if asked.code is not None and not statuses:
        statuses = tuple(ItemStatus)
    after_row = 0
    while True:
        async with opened() as conn:
            if statuses:
                page = await items.to_export(
                    conn, job_id, statuses, asked.code, after_row, PAGE_ROWS
                )
            else:
                page = await items.results(conn, job_id, after_row, PAGE_ROWS)
        yield page
        if len(page) < PAGE_ROWS:
            return
        after_row = page[-1]["row_no"]


def export_columns(
    parts: Parts, job: Any, wanted: Wanted, first_page: Sequence[Any]
) -> Sequence[str]:
    match wanted.which:
        case "errors":
            return REPORT_COLUMNS
        case "original-with-errors":
            return [*_original_columns(job, first_page), REASON]
        case _:
            return columns_of(parts, job, first_page)


def export_rows(wanted: Wanted, columns: Sequence[str], page: Iterable[Any]) -> Iterable[ExportRow]:
    """The rows of a page as they go into the file."""
    for row in page:
        error = from_json(row["error"])
        noticed = from_json(row["problems"])
        match wanted.which:
            case "errors":
                yield from report_lines(row["row_no"], row["status"], problems_of(error, noticed))
            case "original-with-errors":
                problems = problems_of(error, noticed)
                cells = [*_original(row, columns[:-1]), reason_of(problems)]
                yield ExportRow(cells, marks_of(problems))
            case _ if row["result"] is not None:
                result = from_json(row["result"])
                marks = marks_of(problems_of(error, noticed)) if error or noticed else ()
                yield ExportRow([result.get(column) for column in columns], marks)


def columns_of(parts: Parts, job: Any, first_page: Sequence[Any]) -> list[str]:
    """As the pipeline shows them, else as the file has them, else as the results turn out."""
    pipeline = parts.pipelines.get(job["pipeline"])
    known = None if pipeline is None else pipeline.columns_of(from_json(job["context"]) or {})
    if known is not None:
        return list(known)
    if job["header"] is not None:
        return list(from_json(job["header"]))
    results = [from_json(row["result"]) or {} for row in first_page]
    return list(dict.fromkeys(name for result in results for name in result))


def _original_columns(job: Any, first_page: Sequence[Any]) -> list[str]:
    if job["header"] is not None:
        return list(from_json(job["header"]))
    inputs = [from_json(row["input"]) for row in first_page]
    return list(dict.fromkeys(name for one in inputs if isinstance(one, dict) for name in one))


def _original(row: Any, columns: Sequence[str]) -> list[Any]:
    """The supplier's own cells, as many as there are columns."""
    given = from_json(row["input"])
    if isinstance(given, dict):
        return [given.get(column) for column in columns]
    cells = list(given) if isinstance(given, list) else [given]
    return (cells + [None] * len(columns))[: len(columns)]
