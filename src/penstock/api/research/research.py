"""Research: one query to many sources."""

from __future__ import annotations

from typing import Annotated

import orjson
from fastapi import APIRouter, Query, Request, Response

from penstock.api.http.access import Admin, ApiParts, Reader, Writer, caller_of, org_of
from penstock.api.http.answers import answer
from penstock.api.http.bodies import body_of, order_of
from penstock.api.http.idempotency import REPLAYED, IdempotencyKey, idempotency_key
from penstock.api.http.schemas import OrgQuery
from penstock.api.research.schemas import (
    NewQuota,
    NewResearch,
    QuotaList,
    ResearchReceipt,
    SecretOrder,
    SecretShape,
    quota_shape,
)
from penstock.app.research import requests
from penstock.model.ticket import Ticket

router = APIRouter(tags=["research"])


@router.post(
    "/research",
    status_code=202,
    summary="Ask all sources",
    responses={
        202: {"model": ResearchReceipt, "headers": {"Location": {"schema": {"type": "string"}}}}
    },
    openapi_extra=body_of(NewResearch),
)
async def create_research(
    request: Request, api: ApiParts, who: Writer, _: IdempotencyKey = None
) -> Response:
    """One job that asks every source at the same time. `GET /api/jobs/{id}/items` lists the merged
    products by rank, each with its `sources`; the job's summary says what each source found, cost,
    or why it failed."""
    asked = await order_of(request, NewResearch)
    await requests.check_webhook(api.runtime, asked.webhook_url)
    caller = caller_of(request, who)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        order = await requests.research_order(conn, caller, asked.order(), idempotency_key(request))
    receipt = await api.submissions.submit(caller, order, None)
    if not receipt.replayed:
        await api.runtime.broker.send(Ticket(receipt.lane))
    told = orjson.loads(receipt.body)
    told["requestId"] = asked.request_id or told["jobId"]
    headers = {"Location": f"/api/jobs/{receipt.job_id}"}
    return answer(told, 202, headers | (REPLAYED if receipt.replayed else {}))


@router.get(
    "/research/quota", summary="Show research quotas", responses={200: {"model": QuotaList}}
)
async def show_quota(request: Request, api: ApiParts, who: Reader) -> Response:
    """Requests of this day and month, of you and of your org."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        found = await requests.quota_uses(api.runtime, conn, caller_of(request, who))
        own = await requests.own_quota(conn, who.org_id)
    return answer({"items": [quota_shape(one, own) for one in found]})


@router.put(
    "/research/quota",
    summary="Set the research quotas of an org",
    responses={200: {"model": NewQuota}},
    openapi_extra=body_of(NewQuota),
)
async def change_quota(
    request: Request, api: ApiParts, who: Admin, query: Annotated[OrgQuery, Query()]
) -> Response:
    """All four at once; what is left out is as the settings say."""
    order = await order_of(request, NewQuota)
    async with api.db.scoped(who.scope) as conn:
        org_id = await org_of(conn, who, query.org)
        await requests.set_quota(conn, caller_of(request, who), org_id, order.quota())
    return answer(order.model_dump(by_alias=True))


@router.post(
    "/webhooks/request-secret",
    summary="Show the secret of requests' webhooks",
    responses={200: {"model": SecretShape}},
    openapi_extra=body_of(SecretOrder),
)
async def show_request_secret(request: Request, api: ApiParts, who: Writer) -> Response:
    """The secret that signs what is posted to a `webhookUrl` of your org, in the form that the
    libraries of Standard Webhooks take."""
    order = await order_of(request, SecretOrder)
    async with api.db.scoped(who.scope) as conn:
        secret = await requests.request_secret(
            api.runtime, conn, caller_of(request, who), rotate=order.rotate
        )
    return answer({"secret": secret}, headers={"Cache-Control": "no-store"})
