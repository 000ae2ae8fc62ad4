"""Links between products of two sources: those a job proposes, and those that were decided."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from penstock.api.catalog.product_link_schemas import (
    DecidedLinkPage,
    DecidedLinksQuery,
    DecideJobLinks,
    DecideLinks,
    JobLinkPage,
    JobLinksDecided,
    JobLinksQuery,
    LinksDecided,
    decided_link,
    job_link,
)
from penstock.api.http.access import ApiParts, JobId, Reader, Writer, caller_of, org_of
from penstock.api.http.answers import answer
from penstock.api.http.bodies import body_of, order_of
from penstock.api.http.cursors import from_cursor, to_cursor
from penstock.app.job_control import get_job
from penstock.app.rows import product_links as app
from penstock.model.products import LinkReason, LinkState, ProductName, ProductPair
from penstock.store.catalog import product_links as store
from penstock.store.catalog.catalog import FAR_AHEAD, LAST_ID

router = APIRouter(tags=["products"])
_SECONDS = 10.0
_DECIDED: tuple[LinkState, ...] = ("accepted", "refused")


@router.get(
    "/jobs/{job_id}/links",
    summary="List proposed links",
    responses={200: {"model": JobLinkPage}},
)
async def list_job_links(
    api: ApiParts, who: Reader, job_id: JobId, query: Annotated[JobLinksQuery, Query()]
) -> Response:
    """Pairs of a product that the job wrote, or of a check would write, and a product of another
    source that may be the same article. Pairs that were decided are left out."""
    this_list = f"links {job_id} {query.by}"
    after = from_cursor(query.after, this_list, int)[0] if query.after else 0
    async with api.db.scoped(who.scope, readonly=True) as conn:
        job = await get_job(conn, job_id)
        page = await app.proposed_page(conn, job, query.by, after, query.page_size)
    items = [job_link(one, page.org_id) for one in page.pairs]
    following = None if page.after is None else to_cursor(this_list, page.after)
    return answer({"items": items, "next": following})


@router.post(
    "/jobs/{job_id}/links",
    summary="Decide all proposed links",
    responses={200: {"model": JobLinksDecided}},
    openapi_extra=body_of(DecideJobLinks),
)
async def decide_job_links(request: Request, api: ApiParts, who: Writer, job_id: JobId) -> Response:
    """Accept or refuse all links that the job proposes. A large job is decided in several calls:
    repeat while `next` is not null. `POST /api/product-links` decides single pairs."""
    order = await order_of(request, DecideJobLinks)
    this_list = f"decide {job_id} {order.decision} {order.by}"
    after = from_cursor(order.after, this_list, int)[0] if order.after else 0
    async with api.db.scoped(who.scope, readonly=True) as conn:
        job = await get_job(conn, job_id)
    done = await app.decide_all(
        lambda: api.db.scoped(who.scope), caller_of(request, who), job, order.decision, order.by,
        after, _SECONDS,
    )  # fmt: skip
    following = None if done.after is None else to_cursor(this_list, done.after)
    return answer({"decided": done.decided, "skipped": done.skipped, "next": following})


@router.get(
    "/product-links",
    summary="List links that were decided",
    responses={200: {"model": DecidedLinkPage}},
)
async def list_links(
    api: ApiParts, who: Reader, query: Annotated[DecidedLinksQuery, Query()]
) -> Response:
    """Pairs of products of two sources that are the same article, and pairs that are not."""
    this_list = f"product links {query.org} {query.state} {query.source}"
    before = (FAR_AHEAD, LAST_ID)
    if query.after:
        moment, place = from_cursor(query.after, this_list, datetime, UUID)
        before = (moment, place)
    states = _DECIDED if query.state is None else (query.state,)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        org_id = await org_of(conn, who, query.org)
        found = await store.decided_page(
            conn, org_id, states, query.source or None, before, query.page_size + 1
        )
    page = found[: query.page_size]
    following = None
    if len(found) > len(page):
        following = to_cursor(this_list, page[-1].decided_at, str(page[-1].id))
    return answer({"items": [decided_link(one) for one in page], "next": following})


@router.post(
    "/product-links",
    summary="Decide links",
    responses={200: {"model": LinksDecided}},
    openapi_extra=body_of(DecideLinks),
)
async def decide_links(request: Request, api: ApiParts, who: Writer) -> Response:
    """Accept or refuse links between products of two sources, or undo such a decision. Neither
    product changes. A refused pair is not proposed again. With `namedPairs` a link is decided
    before the import creates one of its products."""
    order = await order_of(request, DecideLinks)
    pairs = [(one.product_id, one.other_id) for one in order.pairs]
    named: dict[ProductPair, LinkReason] = {
        ProductPair.of(
            ProductName(one.product.source, one.product.source_id),
            ProductName(one.other.source, one.other.source_id),
        ): one.by or "manual"
        for one in order.named_pairs
    }
    caller = caller_of(request, who)
    async with api.db.scoped(who.scope) as conn:
        decided = await app.decide_pairs(conn, caller, order.decision, pairs)
        decided += await app.decide_named(conn, caller, order.decision, named)
    return answer({"decided": decided})
