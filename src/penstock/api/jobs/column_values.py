"""Items of a job by the values of a column, and the values that a column has."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response
from pydantic.alias_generators import to_camel

from penstock.api.http.access import Api, ApiParts, JobId, Reader
from penstock.api.http.answers import answer, shaped
from penstock.api.http.cursors import from_cursor, to_cursor
from penstock.api.jobs.schemas import (
    ColumnFigure,
    ColumnFigures,
    ColumnQuery,
    ColumnValues,
    ItemsQuery,
    View,
)
from penstock.api.jobs.shapes import item_context, item_shape
from penstock.app.job_control import get_job
from penstock.app.result_rows import first_result
from penstock.app.rows.column_figures import column_figures
from penstock.model.errors import BadInput
from penstock.model.states import ItemStatus
from penstock.store.accounts.accounts import Principal
from penstock.store.database import Connection, from_json
from penstock.store.jobs import column_values, reprocess
from penstock.store.jobs.column_values import MOST_SORTED, Cell, ValueKey
from penstock.store.jobs.items import PROBLEMS, ItemFilter
from penstock.store.jobs.job_rows import JobDetails

router = APIRouter(tags=["items"])
_MOST_VALUES = 20


@router.get(
    "/jobs/{job_id}/column-values",
    summary="Show the values of a column",
    responses={200: {"model": ColumnValues}},
)
async def show_column_values(
    api: ApiParts, who: Reader, job_id: JobId, query: Annotated[ColumnQuery, Query()]
) -> Response:
    """The most frequent values of a column, how many rows have none, and the range of its numbers.
    Of a job with more than 50,000 rows so many are read, evenly spread: then `isSample` is true."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        job = await get_job(conn, job_id)
        cell = await _cell_of(conn, job, query.column, query.view)
        found = await column_values.distribution(conn, job_id, job.total, cell, _MOST_VALUES)
    body = {
        "column": query.column,
        "view": query.view,
        "total": job.total,
        "rows": found.rows,
        "isSample": found.rows < job.total,
        "empty": found.empty,
        "distinct": found.distinct,
        "numbers": found.numbers,
        "min": found.least,
        "max": found.most,
        "top": [{"value": value, "rows": rows} for value, rows in found.top],
    }
    return answer(body)


@router.get(
    "/jobs/{job_id}/columns",
    summary="Show figures per column",
    responses={200: {"model": ColumnFigures}},
)
async def show_column_figures(api: ApiParts, who: Reader, job_id: JobId) -> Response:
    """Of each column of the file: cells that are filled and empty, values with warnings and errors,
    and rows that change the field. Also while the job runs. Changes are counted for checks, which
    write nothing, and for jobs that run."""

    def opened() -> AbstractAsyncContextManager[Connection]:
        return api.db.scoped(who.scope, readonly=True)

    async with opened() as conn:
        job = await get_job(conn, job_id)
    found = await column_figures(api.runtime, opened, job)
    names = [to_camel(name) for name in ColumnFigure.model_fields]
    items = [{name: one[name] for name in names} for one in found.columns]
    return answer({"items": items, "rows": found.rows, "total": job.total})


async def by_value(
    api: Api, who: Principal, job_id: UUID, query: ItemsQuery, wanted: ItemFilter
) -> Response:
    """A page of items by the values of a column."""
    if query.from_row is not None or query.since is not None or query.until is not None:
        raise BadInput("INVALID_SORT", "fromRow, from and to do not go with sort=value.")
    if not query.column:
        raise BadInput("INVALID_SORT", "sort=value needs a column.")
    this_list = f"items by value {job_id} {query.model_dump(exclude={'after', 'page_size'})}"
    after = None
    if query.after:
        after = ValueKey(*from_cursor(query.after, this_list, int, str, str, int))
    async with api.db.scoped(who.scope, readonly=True) as conn:
        job = await get_job(conn, job_id)
        _require_few(job, wanted)
        cell = await _cell_of(conn, job, query.column, query.view)
        shows_steps = query.steps or wanted.statuses or wanted.code
        first = 1 if shows_steps else await first_result(api.runtime, conn, job_id, job)
        page = await column_values.page_by_value(
            conn, job_id, wanted, cell, first, after, query.page_size
        )
    context = item_context(api.runtime, job)
    following = None if page.next is None else to_cursor(this_list, *page.next)
    shown = await shaped(page.rows, lambda row: item_shape(row, context))
    return answer({"items": shown, "next": following})


def _require_few(job: JobDetails, wanted: ItemFilter) -> None:
    """Every page reads all rows that the list may contain."""
    rows = job.total
    if wanted.statuses and wanted.statuses <= PROBLEMS:
        counters = {
            ItemStatus.ERROR: job.error,
            ItemStatus.NOT_FOUND: job.not_found,
            ItemStatus.SKIPPED: job.skipped,
        }
        rows = sum(counters[status] for status in wanted.statuses)
    if rows > MOST_SORTED:
        raise BadInput(
            "INVALID_SORT",
            f"These are {rows:,} rows, and at most {MOST_SORTED:,} can be sorted by a column. Show"
            " only rows with errors, or export the rows and sort them there.",
            rows=rows,
        )


async def _cell_of(conn: Connection, job: JobDetails, column: str, view: View) -> Cell:
    """Where a column is in the stored rows."""
    if view == "results":
        return Cell(False, column)
    header: list[str] = from_json(job.header) or []
    sample = await reprocess.input_of(conn, job.id, 1)
    is_named = not isinstance(sample, list)
    if not is_named and column not in header:
        raise BadInput("UNKNOWN_FIELD", f"The file has no column {column!r}.", field=column)
    return Cell(True, column if is_named else str(header.index(column)))
