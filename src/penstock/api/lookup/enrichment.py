"""Enrichment: look up the products of a job, and decide about proposals."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from penstock.api.files.job_requests import receipt_answer
from penstock.api.http.access import Api, ApiParts, JobId, Writer, caller_of
from penstock.api.http.bodies import body_of, order_of
from penstock.api.http.idempotency import IdempotencyKey, idempotency_key
from penstock.api.jobs.fix import REPROCESSED, reprocessed_answer
from penstock.api.jobs.schemas import Receipt
from penstock.api.lookup.schemas import DecisionOrder, EnrichRequest
from penstock.app.lookup.enrich import EnrichOrder, decide_proposals, enrich_job
from penstock.model.ticket import Ticket
from penstock.store.accounts.accounts import Principal

router = APIRouter(tags=["control"])


@router.post(
    "/jobs/{job_id}/enrich",
    status_code=202,
    summary="Enrich products of a job",
    responses={202: {"model": Receipt, "headers": {"Location": {"schema": {"type": "string"}}}}},
    openapi_extra=body_of(EnrichRequest),
)
async def enrich_products(
    request: Request, api: ApiParts, who: Writer, job_id: JobId, _: IdempotencyKey = None
) -> Response:
    """Look up the products that the job wrote, in the rest of the catalog and in the sources, and
    propose values for what they lack. Answers the lookup job; its rows with the code
    `ENRICHMENT_PROPOSED` have the changes in `normalized.proposal`. Nothing is written until they
    are accepted. The body may be left out."""
    asked = await order_of(request, EnrichRequest)
    order = EnrichOrder(asked.fields, asked.sources, idempotency_key(request))
    async with api.db.scoped(who.scope) as conn:
        receipt = await enrich_job(api.runtime, conn, caller_of(request, who), job_id, order)
    if not receipt.replayed:
        await api.runtime.broker.send(Ticket(receipt.lane))
    return receipt_answer(receipt)


@router.post(
    "/jobs/{job_id}/proposals/accept",
    summary="Accept proposals",
    responses=REPROCESSED,
    openapi_extra=body_of(DecisionOrder),
)
async def accept_proposals(request: Request, api: ApiParts, who: Writer, job_id: JobId) -> Response:
    """Write the proposals of these rows, or all of the job, into fields that the products still
    lack. Undo the job to take them back. The body may be left out."""
    return await _decide(request, api, who, job_id, accept=True)


@router.post(
    "/jobs/{job_id}/proposals/refuse",
    summary="Refuse proposals",
    responses=REPROCESSED,
    openapi_extra=body_of(DecisionOrder),
)
async def refuse_proposals(request: Request, api: ApiParts, who: Writer, job_id: JobId) -> Response:
    """Refuse the proposals of these rows, or all of the job. Nothing is written."""
    return await _decide(request, api, who, job_id, accept=False)


async def _decide(
    request: Request, api: Api, who: Principal, job_id: JobId, *, accept: bool
) -> Response:
    order = await order_of(request, DecisionOrder)
    async with api.db.scoped(who.scope) as conn:
        made = await decide_proposals(
            api.runtime, conn, caller_of(request, who), job_id, order.item_ids or (),
            accept=accept, fields=order.fields,
        )  # fmt: skip
    return await reprocessed_answer(api, who, job_id, made)
