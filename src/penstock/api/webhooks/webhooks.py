"""Webhooks: who is told of what happens, and what became of each telling."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from penstock.api.http.access import Api, ApiParts, Reader, Writer, address_of, parse_id
from penstock.api.http.answers import answer
from penstock.api.http.bodies import body_of, order_of
from penstock.api.http.cursors import from_cursor, to_cursor
from penstock.api.http.idempotency import IdempotencyKey, once_in_secret
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
    full_delivery,
    webhook_shape,
)
from penstock.model.errors import NotAllowed
from penstock.model.ticket import Ticket
from penstock.store import webhooks as store
from penstock.store.accounts import accounts
from penstock.store.accounts.accounts import Principal
from penstock.store.database import Connection
from penstock.webhooks import endpoints
from penstock.webhooks.endpoints import no_such_delivery, no_such_webhook

router = APIRouter(tags=["webhooks"])
_ONE: dict[int | str, dict[str, Any]] = {200: {"model": WebhookShape}}


async def _webhook_id(webhook_id: Annotated[str, Path(description="The webhook's id.")]) -> UUID:
    parsed = parse_id(webhook_id)
    if parsed is None:
        raise no_such_webhook()
    return parsed


async def _delivery_id(
    delivery_id: Annotated[str, Path(description="The delivery's id.")],
) -> UUID:
    parsed = parse_id(delivery_id)
    if parsed is None:
        raise no_such_delivery()
    return parsed


WebhookId = Annotated[UUID, Depends(_webhook_id)]
DeliveryId = Annotated[UUID, Depends(_delivery_id)]


@router.get("/webhooks", summary="List webhooks", responses={200: {"model": WebhookPage}})
async def list_webhooks(
    api: ApiParts, who: Reader, query: Annotated[WebhooksQuery, Query()]
) -> Response:
    """Your org's, oldest first; every org's for an admin. Secrets are never shown again."""
    after = None
    if query.after:
        [after] = from_cursor(query.after, "webhooks", UUID)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        rows = await store.list_endpoints(conn, after, query.page_size + 1)
    page = rows[: query.page_size]
    following = to_cursor("webhooks", str(page[-1]["id"])) if len(rows) > len(page) else None
    return answer({"items": [webhook_shape(row, who) for row in page], "next": following})


@router.post(
    "/webhooks",
    status_code=201,
    summary="Create a webhook",
    responses={201: {"model": MadeWebhook}},
    openapi_extra=body_of(NewWebhook),
)
async def create_webhook(
    request: Request, api: ApiParts, who: Writer, _: IdempotencyKey = None
) -> Response:
    """Events of the jobs you may see are posted to its URL from now on, signed with the secret that
    this answer shows, once. The URL must lead to the public internet, or where the operator allows
    it to."""
    order = await order_of(request, NewWebhook)
    wanted = await endpoints.checked(api.runtime, order.wanted())

    async def make(conn: Connection) -> Response:
        made = await endpoints.create(api.runtime, conn, who.org_id, who.user_id, wanted)
        row = await store.get_endpoint(conn, made.id)
        await _audit(conn, request, who, row, "create", after=_audited(row))
        shown = webhook_shape(row, who) | {"secret": made.secret}
        told = {"Location": f"/api/webhooks/{made.id}", "Cache-Control": "no-store"}
        return answer(shown, 201, told)

    meaning = ["webhook", order.model_dump(mode="json")]
    return await once_in_secret(request, api, who, meaning, make)


@router.get("/webhooks/{webhook_id}", summary="Show a webhook", responses=_ONE)
async def show_webhook(api: ApiParts, who: Reader, webhook_id: WebhookId) -> Response:
    """Where it posts to, which events, and how it fares."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        return answer(webhook_shape(await _load(conn, webhook_id), who))


@router.patch(
    "/webhooks/{webhook_id}",
    summary="Change a webhook",
    responses=_ONE,
    openapi_extra=body_of(ChangedWebhook),
)
async def change_webhook(
    request: Request, api: ApiParts, who: Writer, webhook_id: WebhookId
) -> Response:
    """What is on its way goes to the new URL from its next try on. Enabling it takes up no event
    that came while it was disabled."""
    order = await order_of(request, ChangedWebhook)
    await _must_be_allowed(api, who, webhook_id)
    wanted = await endpoints.checked(api.runtime, order.wanted())
    async with api.db.scoped(who.scope) as conn:
        before = await _load(conn, webhook_id)
        if not await endpoints.change(conn, webhook_id, wanted):
            raise no_such_webhook()
        row = await _load(conn, webhook_id)
        await _audit(
            conn, request, who, row, "change", before=_audited(before), after=_audited(row)
        )
    return answer(webhook_shape(row, who))


@router.delete("/webhooks/{webhook_id}", status_code=204, summary="Delete a webhook")
async def delete_webhook(
    request: Request, api: ApiParts, who: Writer, webhook_id: WebhookId
) -> Response:
    """Nothing is sent there any more, what is on its way included; its secret is forgotten."""
    await _must_be_allowed(api, who, webhook_id)
    async with api.db.scoped(who.scope) as conn:
        row = await _load(conn, webhook_id)
        if not await store.delete_endpoint(conn, webhook_id):
            raise no_such_webhook()
        await _audit(conn, request, who, row, "delete", before=_audited(row))
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
    await _must_be_allowed(api, who, webhook_id)
    async with api.db.scoped(who.scope) as conn:
        made = await endpoints.rotate(api.runtime, conn, webhook_id, order.overlap_hours)
        if made is None:
            raise no_such_webhook()
        row = await _load(conn, webhook_id)
        await _audit(conn, request, who, row, "rotate", after={"overlapHours": order.overlap_hours})
    shown = webhook_shape(row, who) | {"secret": made.secret}
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
    """An event `webhook.test` goes the way of every other: signed, tried again, in the log."""
    await _must_be_allowed(api, who, webhook_id)
    async with api.db.scoped(who.scope) as conn:
        row = await _load(conn, webhook_id)
        delivery_id = await endpoints.ask_test(conn, row)
        await _audit(conn, request, who, row, "test", after={"deliveryId": str(delivery_id)})
    return _accepted(delivery_id)


@router.get(
    "/webhooks/{webhook_id}/deliveries",
    summary="List deliveries",
    responses={200: {"model": DeliveryPage}},
)
async def list_deliveries(
    api: ApiParts, who: Reader, webhook_id: WebhookId, query: Annotated[DeliveriesQuery, Query()]
) -> Response:
    """The log, newest first, for who made the webhook, for admins, and for all where an org shares
    its jobs."""
    this_list = f"deliveries {webhook_id} {sorted(query.state)}"
    after = None
    if query.after:
        [after] = from_cursor(query.after, this_list, UUID)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        await _load(conn, webhook_id)
        rows = await store.list_deliveries(
            conn, webhook_id, after, query.state or None, query.page_size + 1
        )
    page = rows[: query.page_size]
    following = to_cursor(this_list, str(page[-1]["id"])) if len(rows) > len(page) else None
    return answer({"items": [delivery_shape(row) for row in page], "next": following})


@router.get(
    "/webhooks/deliveries/{delivery_id}",
    summary="Show a delivery",
    responses={200: {"model": FullDelivery}},
)
async def show_delivery(api: ApiParts, who: Reader, delivery_id: DeliveryId) -> Response:
    """With every try, what the receiver said, and what is posted."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        return answer(full_delivery(await _load_delivery(conn, delivery_id), who))


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
        row = await _load_delivery(conn, delivery_id)
        lane = await endpoints.redeliver(api.runtime, conn, row, who.user_id)
        endpoint = {"org_id": row["org_id"], "id": row["endpoint_id"]}
        after = {"deliveryId": str(delivery_id)}
        await _audit(conn, request, who, endpoint, "redeliver", after=after)
    await api.runtime.broker.send(Ticket(lane))
    return _accepted(delivery_id)


def _accepted(delivery_id: UUID) -> Response:
    location = {"Location": f"/api/webhooks/deliveries/{delivery_id}"}
    return answer({"deliveryId": str(delivery_id)}, 202, location)


async def _load(conn: Connection, webhook_id: UUID) -> Any:
    row = await store.get_endpoint(conn, webhook_id)
    if row is None:
        raise no_such_webhook()
    return row


async def _load_delivery(conn: Connection, delivery_id: UUID) -> Any:
    row = await store.get_delivery(conn, delivery_id)
    if row is None:
        raise no_such_delivery()
    return row


async def _must_be_allowed(api: Api, who: Principal, webhook_id: UUID) -> None:
    """All of an org see its webhooks; who changes one could lead other people's events astray."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        row = await _load(conn, webhook_id)
    if who.scope.owner_id is not None and row["user_id"] != who.user_id:
        raise NotAllowed(
            "INSUFFICIENT_PERMISSIONS", "Only who made this webhook, or an admin, may change it."
        )


def _audited(row: Any) -> dict[str, Any]:
    return {
        "url": row["url"],
        "description": row["description"],
        "events": list(row["events"]),
        "enabled": row["enabled"],
    }


async def _audit(
    conn: Connection,
    request: Request,
    who: Principal,
    row: Any,
    verb: str,
    before: Any = None,
    after: Any = None,
) -> None:
    await accounts.audit(
        conn, row["org_id"], who.user_id, f"webhook.{verb}", f"webhook:{row['id']}",
        ip=address_of(request), before=before, after=after,
    )  # fmt: skip
