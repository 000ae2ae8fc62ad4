"""Operations over many jobs, and running again what failed."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from pydantic import ValidationError

from penstock.api.http.access import Api, ApiParts, Reader, Writer, address_of, parse_id
from penstock.api.http.answers import answer
from penstock.api.http.bodies import body_of, order_of
from penstock.api.http.cursors import from_cursor, to_cursor
from penstock.api.http.errors import invalid
from penstock.api.http.idempotency import IdempotencyKey, once
from penstock.api.jobs.control_schemas import (
    PARAMS,
    BulkCount,
    BulkOrder,
    BulkReceipt,
    OperationPage,
    OperationShape,
    OperationsQuery,
    RetriedJobs,
    RetryAnyQuery,
    RetryQuery,
)
from penstock.app import bulk
from penstock.app.retry_failed import retry_failed
from penstock.app.shop_imports import PIPELINE
from penstock.model.errors import NotAllowed, NotThere, PermanentError
from penstock.store.accounts import accounts
from penstock.store.accounts.accounts import Principal
from penstock.store.database import Connection
from penstock.store.jobs import bulk as store

router = APIRouter(tags=["bulk"])
_ONE: dict[int | str, dict[str, Any]] = {200: {"model": OperationShape}}


async def _operation_id(
    operation_id: Annotated[str, Path(description="The operation's id.")],
) -> UUID:
    parsed = parse_id(operation_id)
    if parsed is None:
        raise _no_such_operation()
    return parsed


OperationId = Annotated[UUID, Depends(_operation_id)]


@router.post(
    "/bulk",
    status_code=202,
    summary="Change many jobs",
    responses={200: {"model": BulkCount}, 202: {"model": BulkReceipt}},
    openapi_extra=body_of(BulkOrder),
)
async def start_operation(
    request: Request, api: ApiParts, who: Writer, _: IdempotencyKey = None
) -> Response:
    """Apply one action to all matching jobs that you may change and that were created before this
    request. It runs in the background, job by job; jobs to whose state it does not apply are left
    out. With `dryRun` the jobs are only counted."""
    order = await order_of(request, BulkOrder)
    params = _params(order)
    wanted = order.filter.wanted()

    async def act(conn: Connection) -> Response:
        reach = bulk.reach_of(who, await _org_id(conn, who, order.filter.org))
        if order.dry_run:
            counted = await bulk.count(conn, reach, wanted)
            return answer({"count": counted.count, "capped": counted.capped})
        operation_id, counted = await bulk.start(
            conn, who, order.action, wanted, params, reach=reach, ip=address_of(request)
        )
        receipt = {
            "operationId": str(operation_id),
            "matched": counted.count,
            "capped": counted.capped,
        }
        return answer(receipt, 202, {"Location": f"/api/bulk/{operation_id}"})

    return await once(request, api, who, ["bulk", order.model_dump(mode="json")], act)


@router.get("/bulk", summary="List operations", responses={200: {"model": OperationPage}})
async def list_operations(
    api: ApiParts, who: Reader, query: Annotated[OperationsQuery, Query()]
) -> Response:
    """Newest first: your own, your org's where it shares jobs, every org's for an admin."""
    after = None
    if query.after:
        [after] = from_cursor(query.after, "bulk", UUID)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        rows = await store.list_operations(conn, after, query.page_size + 1)
    page = rows[: query.page_size]
    following = to_cursor("bulk", str(page[-1].id)) if len(rows) > len(page) else None
    return answer({"items": [bulk.shape_of(row) for row in page], "next": following})


@router.get("/bulk/{operation_id}", summary="Show an operation", responses=_ONE)
async def show_operation(api: ApiParts, who: Reader, operation_id: OperationId) -> Response:
    """The progress of an operation, and the results of its jobs."""
    return answer(await _load(api, who, operation_id))


@router.post("/bulk/{operation_id}/abort", summary="Abort an operation", responses=_ONE)
async def abort_operation(
    request: Request, api: ApiParts, who: Writer, operation_id: OperationId
) -> Response:
    """Stop before the next job; what was changed stays changed. Repeating this has no further
    effect."""
    before = await _load(api, who, operation_id)
    async with api.db.scoped(who.scope) as conn:
        aborted = await bulk.abort(conn, who, operation_id, address_of(request))
    shown = await _load(api, who, operation_id)
    if not aborted and shown["state"] != "aborted":
        raise PermanentError(
            "INVALID_STATE", f"The operation is {shown['state']}: there is nothing to abort.",
            state=before["state"],
        )  # fmt: skip
    return answer(shown)


@router.post(
    "/jobs/retry-failed",
    summary="Run again what failed",
    responses={200: {"model": RetriedJobs}},
)
async def retry_failed_jobs(
    request: Request, api: ApiParts, who: Writer, query: Annotated[RetryAnyQuery, Query()]
) -> Response:
    """Jobs that failed as a whole, and the failed items of those that are done, if they ended since
    then. Up to 1,000 at once, the oldest first; `more` says whether to ask again."""
    return await _retry_failed(request, api, who, query.since, query.pipeline or None)


@router.post(
    "/products/import/retry-failed",
    summary="Run again imports of shops that failed",
    responses={200: {"model": RetriedJobs}},
)
async def retry_failed_imports(
    request: Request, api: ApiParts, who: Writer, query: Annotated[RetryQuery, Query()]
) -> Response:
    """As `POST /api/jobs/retry-failed`, but imports of shops only."""
    return await _retry_failed(request, api, who, query.since, PIPELINE)


async def _retry_failed(
    request: Request, api: Api, who: Principal, since: datetime | None, pipeline: str | None
) -> Response:
    made = await retry_failed(
        api.runtime, partial(api.db.scoped, who.scope), who, since, address_of(request), pipeline
    )
    jobs = [str(job_id) for job_id in made.jobs]
    return answer({"retriedCount": len(jobs), "jobs": jobs, "more": made.more})


def _params(order: BulkOrder) -> dict[str, Any]:
    """The parameters of the action, as they are stored."""
    try:
        params = PARAMS[order.action].model_validate(order.params)
    except ValidationError as error:
        problems = [
            {**one, "loc": ("params", *one["loc"])} for one in error.errors(include_url=False)
        ]
        raise invalid(problems) from error
    return params.model_dump(by_alias=True, exclude_none=True)


async def _org_id(conn: Connection, who: Principal, org: str | None) -> int | None:
    if org is None:
        return None
    if who.role != "admin":
        raise NotAllowed("INSUFFICIENT_PERMISSIONS", "Only admins choose jobs by their org.")
    return int((await accounts.find_org(conn, org)).id)


async def _load(api: Api, who: Principal, operation_id: UUID) -> dict[str, Any]:
    async with api.db.scoped(who.scope, readonly=True) as conn:
        row = await store.get(conn, operation_id)
    if row is None:
        raise _no_such_operation()
    return bulk.shape_of(row)


def _no_such_operation() -> NotThere:
    return NotThere("NOT_FOUND", "There is no such operation.")
