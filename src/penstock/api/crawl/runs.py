"""Crawl runs: start, list, show and abort."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

import orjson
from fastapi import APIRouter, Depends, Query, Request, Response

from penstock.api.crawl.schemas import (
    RunOrderShape,
    RunPage,
    RunReceipt,
    RunShape,
    RunsQuery,
    run_shape,
    summary_shape,
)
from penstock.api.http.access import ApiParts, Reader, Writer, caller_of, id_in_path
from penstock.api.http.answers import answer
from penstock.api.http.bodies import body_of, order_of
from penstock.api.http.cursors import from_cursor, to_cursor
from penstock.api.http.idempotency import REPLAYED, IdempotencyKey, idempotency_key
from penstock.app.crawl import runs
from penstock.app.crawl.runs import RunOrder, no_such_run
from penstock.app.job_control import change_job
from penstock.engine.submit import Receipt
from penstock.model.bulk import BulkAction
from penstock.store.crawl import runs as store

router = APIRouter(tags=["runs"])
_ONE: dict[int | str, dict[str, Any]] = {200: {"model": RunShape}}


RunId = Annotated[UUID, Depends(id_in_path("run_id", "The run's id.", no_such_run))]


@router.post(
    "/runs",
    status_code=202,
    summary="Start a crawl",
    responses={202: {"model": RunReceipt, "headers": {"Location": {"schema": {"type": "string"}}}}},
    openapi_extra=body_of(RunOrderShape),
)
async def create_run(
    request: Request, api: ApiParts, who: Writer, _: IdempotencyKey = None
) -> Response:
    """Pages of companies become products and job postings: by a list of URLs, a sitemap, or a start
    page whose links are followed. A run is a job of the pipeline `crawl`, and its items are shown,
    exported and run again as those of any job."""
    asked = await order_of(request, RunOrderShape)
    order = RunOrder(asked.plan(), asked.config(), asked.name, asked.priority)
    caller = caller_of(request, who)
    key = idempotency_key(request)
    async with runs.run_upload(api.runtime, caller, order, key) as (job, pages):
        receipt = await api.submissions.submit(caller, job, pages)
    return _receipt(receipt)


def _receipt(receipt: Receipt) -> Response:
    headers = {"Location": f"/api/runs/{receipt.job_id}"}
    if receipt.replayed:
        headers |= REPLAYED
    return answer({"runId": str(receipt.job_id), **orjson.loads(receipt.body)}, 202, headers)


@router.get("/runs", summary="List crawls", responses={200: {"model": RunPage}})
async def list_runs(api: ApiParts, who: Reader, query: Annotated[RunsQuery, Query()]) -> Response:
    """Newest first: your own, your org's where it shares them, every org's for an admin."""
    text = query.q.lower() or None
    this_list = f"runs {text}"
    after = None
    if query.after:
        [after] = from_cursor(query.after, this_list, UUID)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        rows, more = await store.list_runs(conn, text, after, query.page_size)
        counts = await runs.counts_of_runs(conn, rows)
    following = None if more is None else to_cursor(this_list, str(more))
    items = [summary_shape(row, counts[row.id]) for row in rows]
    return answer({"items": items, "next": following})


@router.get("/runs/{run_id}", summary="Show a crawl", responses=_ONE)
async def show_run(api: ApiParts, who: Reader, run_id: RunId) -> Response:
    """One run with its pages by company. It is finished when no page is pending or crawled."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        return answer(run_shape(await runs.get_run(conn, run_id)))


@router.post("/runs/{run_id}/abort", summary="Abort a crawl", responses=_ONE)
async def abort_run(request: Request, api: ApiParts, who: Writer, run_id: RunId) -> Response:
    """From this answer on no page is requested. What was extracted stays."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        await runs.get_run(conn, run_id)
    await change_job(
        api.runtime, lambda: api.db.scoped(who.scope), caller_of(request, who), run_id,
        BulkAction.CANCEL,
    )  # fmt: skip
    async with api.db.scoped(who.scope, readonly=True) as conn:
        return answer(run_shape(await runs.get_run(conn, run_id)))
