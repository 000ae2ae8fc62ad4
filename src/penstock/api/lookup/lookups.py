"""What was searched for an item, and which candidate it is."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from penstock.api.http.access import ApiParts, JobId, Reader, Writer, caller_of
from penstock.api.http.answers import answer
from penstock.api.http.bodies import body_of, order_of
from penstock.api.http.cursors import from_cursor, to_cursor
from penstock.api.jobs.fix import REPROCESSED, ItemName, reprocessed_answer, row_no_of
from penstock.api.lookup.schemas import ChoiceOrder, SearchesQuery, SearchPage
from penstock.app.job_control import get_job
from penstock.app.lookup.choose import choose_candidate
from penstock.model.errors import NotThere
from penstock.store.jobs import reprocess
from penstock.store.lookup import searches
from penstock.store.lookup.searches import SearchEvent

router = APIRouter(tags=["items"])


@router.get(
    "/jobs/{job_id}/items/{item}/searches",
    summary="List searches of an item",
    responses={200: {"model": SearchPage}},
)
async def list_searches(
    api: ApiParts,
    who: Reader,
    job_id: JobId,
    item: ItemName,
    query: Annotated[SearchesQuery, Query()],
) -> Response:
    """Every search that was made for the item, the oldest first: where, by which variant, how long
    it took and the result."""
    row_no = row_no_of(job_id, item)
    this_list = f"searches {job_id} {row_no}"
    after = from_cursor(query.after, this_list, int)[0] if query.after else 0
    async with api.db.scoped(who.scope, readonly=True) as conn:
        await get_job(conn, job_id)
        if await reprocess.input_of(conn, job_id, row_no) is None:
            raise NotThere("NOT_FOUND", f"The job has no row {row_no}.")
        found = await searches.of_item(conn, job_id, row_no, after, query.page_size + 1)
    page = found[: query.page_size]
    more = to_cursor(this_list, page[-1].id) if len(found) > len(page) else None
    return answer({"searches": [_shape(one) for one in page], "next": more})


def _shape(one: SearchEvent) -> dict[str, Any]:
    return {
        "id": one.id,
        "attempt": one.attempt + 1,
        "provider": one.provider,
        "variant": one.variant,
        "query": one.query,
        "outcome": one.outcome,
        "score": None if one.score is None else round(one.score, 3),
        "candidates": one.candidates,
        "latencyMs": round(one.latency_ms, 3),
        "error": one.error,
        "createdAt": one.created_at,
    }


@router.post(
    "/jobs/{job_id}/items/{item}/choose",
    summary="Choose a candidate",
    responses=REPROCESSED,
    openapi_extra=body_of(ChoiceOrder),
)
async def choose_item_candidate(
    request: Request, api: ApiParts, who: Writer, job_id: JobId, item: ItemName
) -> Response:
    """Say which of the candidates in `normalized.candidates` the row means, or that it is none of
    them. The row runs again with that, without searching."""
    order = await order_of(request, ChoiceOrder)
    row_no = row_no_of(job_id, item)
    async with api.db.scoped(who.scope) as conn:
        made = await choose_candidate(
            api.runtime, conn, caller_of(request, who), job_id, row_no, order.candidate
        )
    return await reprocessed_answer(api, who, job_id, made)
