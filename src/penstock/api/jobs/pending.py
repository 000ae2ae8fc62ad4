"""Open rows of all jobs of a user in one list, if the installation allows it."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from pydantic import BeforeValidator, Field, StringConstraints, model_validator
from structlog import get_logger
from structlog.contextvars import bound_contextvars

from penstock.api.http.access import Api, ApiParts, JobId, Reader, Writer, caller_of, parse_id
from penstock.api.http.answers import answer
from penstock.api.http.bodies import body_of, order_of
from penstock.api.http.cursors import from_cursor, to_cursor
from penstock.api.http.schemas import Moment, Shape, split_commas
from penstock.app.job_control import no_such_job, state_of
from penstock.app.retry_now import audit_retry, retry_matching, retry_rows
from penstock.model.errors import NotAllowed, NotThere
from penstock.model.states import ItemStatus
from penstock.model.ticket import Ticket
from penstock.store.accounts.accounts import Principal
from penstock.store.catalog.job_tables import table_of
from penstock.store.database import Connection, from_json
from penstock.store.jobs import pending
from penstock.store.jobs.items import OPEN
from penstock.store.jobs.pending import START, OpenRow, OpenRowCursor, OpenRowFilter

router = APIRouter(tags=["pending"])
_log = get_logger("penstock.api")
MOST_NAMED = 1000
_RETRY_SECONDS = 1.0
_RowId = Annotated[str, StringConstraints(pattern=r"^[0-9A-Fa-f-]{36}:[1-9][0-9]{0,8}$")]
OpenStatus = Literal[ItemStatus.PENDING, ItemStatus.PROCESSING]


class InputSummary(Shape):
    title: str | None
    brand: str | None
    sku: str | None


class RowProgress(Shape):
    percent: float
    rows_done: int
    rows_total: int


class PendingRow(Shape):
    id: str = Field(description="`<jobId>:<rowNo>`")
    job_id: UUID
    job_name: str
    job_state: str
    job_type: str
    row_no: int
    org: str
    user_id: int
    status: OpenStatus
    attempts: int
    error_code: str | None = Field(description="Of the try before.")
    due_at: datetime | None = Field(description="Waits until then, after a retry or for a limit.")
    locked_by: str | None
    locked_at: datetime | None
    input_summary: InputSummary
    updated_at: datetime
    progress: RowProgress = Field(description="Of its job.")


class OpenCounts(Shape):
    """From the counters of the jobs."""

    pending: int
    processing: int


class OldestRow(Shape):
    job_id: UUID
    job_name: str
    job_type: str
    updated_at: datetime
    age_ms: int = Field(description="How long its oldest open row was not touched.")


class PendingPage(Shape):
    items: list[PendingRow]
    next: str | None = Field(description="Pass as `after` for the next page; null on the last.")
    counts: OpenCounts | None = Field(description="On the first page.")
    oldest: list[OldestRow] | None = Field(
        description="On the first page: the ten jobs whose rows have waited longest."
    )


class OpenFilter(Shape):
    """Which jobs' rows are meant."""

    user_id: Literal["me", "all"] = Field("me", description="`all` is for admins.")
    job_type: str = Field("", pattern=r"^[A-Za-z0-9_.-]*$", max_length=64)
    job_id: UUID | None = None
    since: Moment | None = Field(None, alias="from", description="Changed then or later.")
    until: Moment | None = Field(None, alias="to", description="Changed before.")


class JobPendingQuery(Shape):
    statuses: Annotated[list[OpenStatus], BeforeValidator(split_commas)] = Field(
        default_factory=list, description="PENDING, PROCESSING or, without it, both."
    )
    page_size: int = Field(100, ge=1, le=500)
    after: str = Field("", description="`next` of the page before.")


class JobPendingSearch(JobPendingQuery):
    q: str = Field(
        "", max_length=200,
        description="Text in title, brand or SKU of the row, capitals or not, or the row's number."
        " A page may then have few rows, or none, and still a `next`.",
    )  # fmt: skip


class PendingQuery(OpenFilter, JobPendingQuery):
    pass


class RetryOrder(OpenFilter):
    """Which rows to try now: those named, or with `all` every one that matches the filter."""

    item_ids: list[_RowId] = Field(
        default_factory=list, max_length=MOST_NAMED, description="Ids as the list has them."
    )
    all: bool = Field(False, description="All that wait and match, not only those named.")

    @model_validator(mode="after")
    def _one_or_the_other(self) -> RetryOrder:
        if self.all == bool(self.item_ids):
            raise ValueError("name rows in `itemIds`, or ask for `all` that match")
        return self


class Retried(Shape):
    retried: int = Field(description="So many rows were waiting, and are due now.")
    left_out: int = Field(
        description="Of those named: they run, are in line already, have ended, or are not yours."
    )
    more: bool = Field(description="Of `all`, some are left: ask again.")


@router.get("/pending", summary="List open rows", responses={200: {"model": PendingPage}})
async def list_pending(
    api: ApiParts, who: Reader, query: Annotated[PendingQuery, Query()]
) -> Response:
    """Rows of all your jobs that wait or run (of all users, for an admin who asks for it), longest
    unchanged first. Only if `PENSTOCK_GLOBAL_PENDING` is on."""
    _refuse_if_off(api)
    wanted = _wanted(who, query, query.statuses)
    span = f"{query.since} {query.until}"
    this_list = f"pending {who.user_id} {sorted(wanted.statuses)} {wanted.jobs} {span}"
    after = START
    if query.after:
        after = OpenRowCursor(*from_cursor(query.after, this_list, datetime, UUID, int))
    counts, oldest = None, None
    with bound_contextvars(after=f"{after.updated_at.isoformat()} {after.job_id} {after.row_no}"):
        async with api.db.scoped(who.scope, readonly=True) as conn:
            rows, more = await pending.page(conn, wanted, after, query.page_size)
            if not query.after:
                counts = asdict(await pending.counts(conn, wanted))
                oldest = [oldest_shape(row) for row in await pending.oldest(conn, wanted)]
    log_page("open rows", after, rows)
    following = None
    if more is not None:
        following = to_cursor(this_list, more.updated_at, str(more.job_id), more.row_no)
    return answer(
        {
            "items": [row_shape(row) for row in rows],
            "next": following,
            "counts": counts,
            "oldest": oldest,
        }
    )


@router.get(
    "/jobs/{job_id}/pending",
    summary="List open rows of a job",
    responses={200: {"model": PendingPage}},
)
async def list_open_rows(
    api: ApiParts, who: Reader, job_id: JobId, query: Annotated[JobPendingSearch, Query()]
) -> Response:
    """Rows of one job that wait or run, longest unchanged first, with a short summary of each row's
    input."""
    wanted = OpenRowFilter(statuses=frozenset(query.statuses) or OPEN, job_id=job_id)
    text = query.q.strip()
    this_list = f"pending {job_id} {sorted(wanted.statuses)} {text}"
    after = START
    if query.after:
        after = OpenRowCursor(*from_cursor(query.after, this_list, datetime, UUID, int))
    async with api.db.scoped(who.scope, readonly=True) as conn:
        if await table_of(conn, job_id) is None:
            raise no_such_job()
        if text:
            statuses = sorted(wanted.statuses)
            rows, more = await pending.search(conn, job_id, statuses, text, after, query.page_size)
        else:
            rows, more = await pending.page(conn, wanted, after, query.page_size)
        counts = None if query.after else asdict(await pending.counts(conn, wanted))
    log_page("open rows of a job", after, rows, job=str(job_id))
    following = None
    if more is not None:
        following = to_cursor(this_list, more.updated_at, str(more.job_id), more.row_no)
    shown = [row_shape(row) for row in rows]
    return answer({"items": shown, "next": following, "counts": counts, "oldest": None})


def log_page(event: str, after: OpenRowCursor, rows: Sequence[OpenRow], **fields: Any) -> None:
    """Log the bounds of a page, to investigate its order."""
    bounds = [f"{row.updated_at.isoformat()} {row.row_no}" for row in (*rows[:1], *rows[-1:])]
    _log.debug(
        event, after=f"{after.updated_at.isoformat()} {after.row_no}", rows=len(rows),
        first=bounds[0] if bounds else None, last=bounds[-1] if bounds else None, **fields,
    )  # fmt: skip


def _refuse_if_off(api: Api) -> None:
    if not api.runtime.settings.global_pending:
        raise NotThere(
            "FEATURE_DISABLED",
            "This list is switched off here: PENSTOCK_GLOBAL_PENDING. The items of one job are at "
            "/api/jobs/{id}/items.",
        )


@router.post(
    "/pending/retry",
    summary="Try waiting rows now",
    responses={200: {"model": Retried}},
    openapi_extra=body_of(RetryOrder),
)
async def retry_waiting(request: Request, api: ApiParts, who: Writer) -> Response:
    """Rows that wait for their next try are due at once; the number of their tries continues. Rows
    that run or are due already are left as they are, and so are rows of other users. All rows of
    several jobs only if `PENSTOCK_GLOBAL_PENDING` is on."""
    order = await order_of(request, RetryOrder)
    if order.all and order.job_id is None:
        _refuse_if_off(api)
    wanted = _wanted(who, order)
    deadline = time.monotonic() + _RETRY_SECONDS

    def transaction() -> AbstractAsyncContextManager[Connection]:
        return api.db.scoped(who.scope)

    if order.item_ids:
        made = await retry_rows(transaction, _by_job(order.item_ids))
    else:
        made = await retry_matching(transaction, wanted, lambda: time.monotonic() > deadline)
    await audit_retry(transaction, caller_of(request, who), _audited(order), made)
    for lane in made.lanes:
        await api.runtime.broker.send(Ticket(lane))
    left_out = max(0, len(set(order.item_ids)) - made.rows)
    return answer({"retried": made.rows, "leftOut": left_out, "more": made.more})


def _by_job(item_ids: list[str]) -> dict[UUID, list[int]]:
    rows: dict[UUID, list[int]] = defaultdict(list)
    for one in set(item_ids):
        job, _, row = one.partition(":")
        job_id = parse_id(job)
        # A text that is no id is left out, like an unknown id.
        if job_id is not None:
            rows[job_id].append(int(row))
    return rows


def _audited(order: RetryOrder) -> dict[str, Any]:
    asked = order.model_dump(
        mode="json", by_alias=True, exclude_defaults=True, exclude={"item_ids"}
    )
    return {**asked, "named": len(order.item_ids)}


def _wanted(
    who: Principal, query: OpenFilter, statuses: Iterable[ItemStatus] = ()
) -> OpenRowFilter:
    if query.user_id == "all" and who.role != "admin":
        raise NotAllowed("INSUFFICIENT_PERMISSIONS", "Only admins may list the rows of all users.")
    return OpenRowFilter(
        user_id=None if query.user_id == "all" else who.user_id,
        statuses=frozenset(statuses) or OPEN,
        job_type=query.job_type or None,
        job_id=query.job_id,
        since=query.since,
        until=query.until,
    )


def row_shape(row: OpenRow) -> dict[str, Any]:
    return {
        "id": f"{row.job_id}:{row.row_no}",
        "jobId": str(row.job_id),
        "jobName": row.job_name,
        "jobState": state_of(row),
        "jobType": row.job_type,
        "rowNo": row.row_no,
        "org": row.org,
        "userId": row.user_id,
        "status": row.status,
        "attempts": row.attempts,
        "errorCode": row.code,
        "dueAt": row.due_at,
        "lockedBy": row.locked_by,
        "lockedAt": row.locked_at,
        "inputSummary": from_json(row.labels),
        "updatedAt": row.updated_at,
        "progress": {
            "percent": round(row.percent, 1),
            "rowsDone": row.total - row.pending - row.processing,
            "rowsTotal": row.total,
        },
    }


def oldest_shape(row: pending.OldestRow) -> dict[str, Any]:
    return {
        "jobId": str(row.id),
        "jobName": row.name,
        "jobType": row.pipeline,
        "updatedAt": row.updated_at,
        "ageMs": row.age_ms,
    }
