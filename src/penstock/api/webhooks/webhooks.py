"""Webhooks and their deliveries."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response

from penstock.api.http.access import ApiParts, Reader, Writer, caller_of, id_in_path, org_of
from penstock.api.http.answers import answer
from penstock.api.http.bodies import body_of, order_of
from penstock.api.http.cursors import cut_page, from_cursor
from penstock.api.http.idempotency import IdempotencyKey, once_in_secret
from penstock.api.http.schemas import OrgQuery
from penstock.api.webhooks.schemas import (
    ChangedWebhook,
    DeliveriesQuery,
    DeliveryPage,
    DeliveryReceipt,
    FullDelivery,
    MadeWebhook,
    NewWebhook,
    RotateOrder,
    WebhookPage,
    WebhookShape,
    WebhooksQuery,
    delivery_shape,
    full_delivery_shape,
    webhook_shape,
)
from penstock.model.ticket import Ticket
from penstock.store import webhooks as store
from penstock.store.database import Connection
from penstock.webhooks import endpoints
from penstock.webhooks.endpoints import no_such_delivery, no_such_webhook

router = APIRouter(tags=["webhooks"])
_ONE: dict[int | str, dict[str, Any]] = {200: {"model": WebhookShape}}


WebhookId = Annotated[UUID, Depends(id_in_path("webhook_id", "The webhook's id.", no_such_webhook))]
DeliveryId = Annotated[
    UUID, Depends(id_in_path("delivery_id", "The delivery's id.", no_such_delivery))
]


@router.get("/webhooks", summary="List webhooks", responses={200: {"model": WebhookPage}})
async def list_webhooks(
    api: ApiParts, who: Reader, query: Annotated[WebhooksQuery, Query()]
) -> Response:
    """Your org's, oldest first; for an admin, every org's or those of `org`. Secrets are never
    shown again."""
    after = None
    if query.after:
        [after] = from_cursor(query.after, "webhooks", UUID)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        org_id = await org_of(conn, who, query.org) if query.org else None
        found = await store.list_endpoints(conn, after, query.page_size + 1, org_id)
    page, following = cut_page("webhooks", found, query.page_size)
    return answer({"items": [webhook_shape(one, who) for one in page], "next": following})


@router.post(
    "/webhooks",
    status_code=201,
    summary="Create a webhook",
    responses={201: {"model": MadeWebhook}},
    openapi_extra=body_of(NewWebhook),
)
async def create_webhook(
    request: Request,
    api: ApiParts,
    who: Writer,
    query: Annotated[OrgQuery, Query()],
    _: IdempotencyKey = None,
) -> Response:
    """Events of the jobs you may see are posted to its URL from now on, signed with the secret that
    this answer shows, once. The URL must lead to the public internet, or where the operator allows
    it to."""
    order = await order_of(request, NewWebhook)
    checked = await endpoints.check_settings(api.runtime, order.settings())

    async def make(conn: Connection) -> Response:
        org_id = await org_of(conn, who, query.org)
        made = await endpoints.create(api.runtime, conn, caller_of(request, who), checked, org_id)
        shown = webhook_shape(made.endpoint, who) | {"secret": made.secret}
        told = {"Location": f"/api/webhooks/{made.endpoint.id}", "Cache-Control": "no-store"}
        return answer(shown, 201, told)

    meaning = ["webhook", order.model_dump(mode="json"), *([query.org] if query.org else [])]
    return await once_in_secret(request, api, who, meaning, make)


@router.get("/webhooks/{webhook_id}", summary="Show a webhook", responses=_ONE)
async def show_webhook(api: ApiParts, who: Reader, webhook_id: WebhookId) -> Response:
    """Its URL, its events and its state."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        return answer(webhook_shape(await endpoints.get_endpoint(conn, webhook_id), who))


@router.patch(
    "/webhooks/{webhook_id}",
    summary="Change a webhook",
    responses=_ONE,
    openapi_extra=body_of(ChangedWebhook),
)
async def change_webhook(
    request: Request, api: ApiParts, who: Writer, webhook_id: WebhookId
) -> Response:
    """Deliveries under way go to the new URL from their next try on. Events that happened while it
    was disabled are not sent after it is enabled."""
    order = await order_of(request, ChangedWebhook)
    changed = await endpoints.change(
        api.runtime, lambda: api.db.scoped(who.scope), caller_of(request, who), webhook_id,
        order.settings(),
    )  # fmt: skip
    return answer(webhook_shape(changed, who))


@router.delete("/webhooks/{webhook_id}", status_code=204, summary="Delete a webhook")
async def delete_webhook(
    request: Request, api: ApiParts, who: Writer, webhook_id: WebhookId
) -> Response:
    """Nothing more is sent there, deliveries under way included; its secret is deleted."""
    async with api.db.scoped(who.scope) as conn:
        await endpoints.delete(conn, caller_of(request, who), webhook_id)
    return Response(status_code=204)


@router.post(
    "/webhooks/{webhook_id}/rotate",
    summary="Give a webhook a new secret",
    responses={200: {"model": MadeWebhook}},
    openapi_extra=body_of(RotateOrder),
)
async def rotate_secret(
    request: Request, api: ApiParts, who: Writer, webhook_id: WebhookId
) -> Response:
    """The new secret is shown this once. Until the overlap ends, requests carry a signature of
    each, so that receivers can change over without missing any."""
    order = await order_of(request, RotateOrder)
    async with api.db.scoped(who.scope) as conn:
        made = await endpoints.rotate(
            api.runtime, conn, caller_of(request, who), webhook_id, order.overlap_hours
        )
    shown = webhook_shape(made.endpoint, who) | {"secret": made.secret}
    return answer(shown, headers={"Cache-Control": "no-store"})


@router.post(
    "/webhooks/{webhook_id}/test",
    status_code=202,
    summary="Send a test",
    responses={202: {"model": DeliveryReceipt}},
)
async def test_webhook(
    request: Request, api: ApiParts, who: Writer, webhook_id: WebhookId
) -> Response:
    """The event `webhook.test` is delivered as every other: signed, retried, logged."""
    async with api.db.scoped(who.scope) as conn:
        delivery_id = await endpoints.send_test(conn, caller_of(request, who), webhook_id)
    return _accepted(delivery_id)


@router.get(
    "/webhooks/{webhook_id}/deliveries",
    summary="List deliveries",
    responses={200: {"model": DeliveryPage}},
)
async def list_deliveries(
    api: ApiParts, who: Reader, webhook_id: WebhookId, query: Annotated[DeliveriesQuery, Query()]
) -> Response:
    """The log, newest first: for the user who created the webhook, for admins, and for all users of
    an org that shares its jobs."""
    this_list = f"deliveries {webhook_id} {sorted(query.state)}"
    after = None
    if query.after:
        [after] = from_cursor(query.after, this_list, UUID)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        await endpoints.get_endpoint(conn, webhook_id)
        found = await store.list_deliveries(
            conn, webhook_id, after, query.state or None, query.page_size + 1
        )
    page, following = cut_page(this_list, found, query.page_size)
    return answer({"items": [delivery_shape(one) for one in page], "next": following})


@router.get(
    "/webhooks/deliveries/{delivery_id}",
    summary="Show a delivery",
    responses={200: {"model": FullDelivery}},
)
async def show_delivery(api: ApiParts, who: Reader, delivery_id: DeliveryId) -> Response:
    """With every try, the answers of the receiver, and the message."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        return answer(full_delivery_shape(await endpoints.get_delivery(conn, delivery_id), who))


@router.post(
    "/webhooks/deliveries/{delivery_id}/redeliver",
    status_code=202,
    summary="Deliver again",
    responses={202: {"model": DeliveryReceipt}},
)
async def redeliver(
    request: Request, api: ApiParts, who: Writer, delivery_id: DeliveryId
) -> Response:
    """The same message under the same id, with all its tries; its dead letter is closed."""
    async with api.db.scoped(who.scope) as conn:
        lane = await endpoints.redeliver(api.runtime, conn, caller_of(request, who), delivery_id)
    await api.runtime.broker.send(Ticket(lane))
    return _accepted(delivery_id)


def _accepted(delivery_id: UUID) -> Response:
    location = {"Location": f"/api/webhooks/deliveries/{delivery_id}"}
    return answer({"deliveryId": str(delivery_id)}, 202, location)
