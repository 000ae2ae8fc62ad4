"""The items of a job, page by page."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

import orjson
from fastapi import APIRouter, Query, Response
from structlog.contextvars import bound_contextvars

from penstock.api.http.access import ApiParts, JobId, Reader
from penstock.api.http.answers import answer, shaped
from penstock.api.http.cursors import from_cursor, to_cursor
from penstock.api.jobs.column_values import by_value
from penstock.api.jobs.schemas import ItemPage, ItemsQuery
from penstock.api.jobs.shapes import item_context, item_shape
from penstock.app.job_control import no_such_job
from penstock.app.result_rows import first_result
from penstock.model.errors import BadInput
from penstock.model.states import ItemStatus
from penstock.store.catalog.job_tables import table_of
from penstock.store.jobs import items
from penstock.store.jobs.items import OPEN, PROBLEMS, ItemFilter, Key, Page

router = APIRouter(tags=["items"])
_MOST_HITS = 100


@router.get("/jobs/{job_id}/items", summary="List items", responses={200: {"model": ItemPage}})
async def list_items(
    api: ApiParts, who: Reader, job_id: JobId, query: Annotated[ItemsQuery, Query()]
) -> Response:
    """In row order; open items and items with problems in the order of their last change. A search
    may end a page early, even without items: continue while there is a `next`."""
    wanted, size = wanted_of(query), query.page_size
    if query.sort in ("value", "-value"):
        return await by_value(api, who, job_id, query, wanted)
    if wanted.text is not None:
        size = min(size, _MOST_HITS)
    this_list = list_of(job_id, wanted)
    after = _start(query, wanted)
    if query.after:
        after = Key(*from_cursor(query.after, this_list, datetime, int))
    with bound_contextvars(after=f"{after.updated_at.isoformat()} {after.row_no}"):
        async with api.db.scoped(who.scope, readonly=True) as conn:
            job = await table_of(conn, job_id)
            if job is None:
                raise no_such_job()
            if not _wants_steps(query):
                first = await first_result(api.runtime, conn, job_id, job)
                after = _not_before(after, wanted, first)
            page = await items.page(conn, job_id, job.total, wanted, after, size)
            if not _wants_steps(query) and wanted.down:
                page = _without_steps(page, first)
    context = item_context(api.runtime, job)
    following = None if page.next is None else to_cursor(this_list, *page.next)
    shown = await shaped(page.rows, lambda row: item_shape(row, context))
    return answer({"items": shown, "next": following})


def _wants_steps(query: ItemsQuery) -> bool:
    return query.steps or bool(query.statuses or query.code) or query.from_row is not None


def _not_before(after: Key, wanted: ItemFilter, first: int) -> Key:
    """Where the list begins, after the rows before the first result."""
    if wanted.down or after.row_no >= first - 1:
        return after
    return Key(after.updated_at, first - 1)


def _without_steps(page: Page, first: int) -> Page:
    """The end of a list from the last row to the first one."""
    rows = items.rows_from(page.rows, first)
    return page if len(rows) == len(page.rows) else Page(rows, None)


def list_of(job_id: UUID, wanted: ItemFilter) -> str:
    """The list that a cursor belongs to."""
    order = "-" * wanted.down + ("updated" if wanted.by_age else "row")
    finer = [wanted.code, wanted.problem, wanted.text, str(wanted.since), str(wanted.until)]
    return f"items {job_id} {order} {sorted(wanted.statuses)} {finer}"


def wanted_of(query: ItemsQuery) -> ItemFilter:
    statuses = frozenset(query.statuses)
    if statuses == frozenset(ItemStatus):
        statuses = frozenset()
    sort = query.sort or _usual_sort(query, statuses)
    by_age = sort.endswith("updated")
    if query.code and not statuses:
        statuses = PROBLEMS
    if by_age:
        statuses = statuses or OPEN
        if ItemStatus.DONE in statuses:
            raise BadInput(
                "INVALID_SORT",
                "What is done is shown in the order of rows: use sort=row or sort=-row, or leave "
                "DONE out of the statuses.",
            )
        if query.from_row is not None:
            raise BadInput("INVALID_SORT", "fromRow goes with sort=row and sort=-row only.")
    return ItemFilter(
        statuses=statuses,
        code=query.code or None,
        problem=query.problem or None,
        # As in the stored JSON, where quotes are escaped.
        text=orjson.dumps(query.q.lower()).decode()[1:-1] if query.q else None,
        since=query.since,
        until=query.until,
        by_age=by_age,
        down=sort.startswith("-"),
    )


def _usual_sort(query: ItemsQuery, statuses: frozenset[ItemStatus]) -> str:
    is_open = bool(statuses) and statuses <= OPEN and query.from_row is None
    return "updated" if is_open else "row"


def _start(query: ItemsQuery, wanted: ItemFilter) -> Key:
    if query.from_row is None:
        return wanted.start
    return Key(wanted.start.updated_at, query.from_row + (1 if wanted.down else -1))
