"""Import products of a connected shop."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from penstock.api.files.job_requests import receipt_answer
from penstock.api.http.access import ApiParts, Writer, caller_of
from penstock.api.http.bodies import body_of, order_of
from penstock.api.http.idempotency import IdempotencyKey, idempotency_key
from penstock.api.jobs.schemas import Receipt
from penstock.api.providers.import_schemas import ImportOrder
from penstock.app.shop_imports import ShopImport, import_order
from penstock.model.ticket import Ticket

router = APIRouter(tags=["products"])


@router.post(
    "/products/import",
    status_code=202,
    summary="Import from a shop",
    responses={202: {"model": Receipt, "headers": {"Location": {"schema": {"type": "string"}}}}},
    openapi_extra=body_of(ImportOrder),
)
async def import_products(
    request: Request, api: ApiParts, who: Writer, _: IdempotencyKey = None
) -> Response:
    """A job that brings the products of a connected shop into the catalog, with their pictures.
    `GET /api/jobs/{id}` shows its `phase`."""
    asked = await order_of(request, ImportOrder)
    wanted = ShopImport(
        asked.connection_id, bool(asked.all), asked.product_ids, asked.since, asked.config,
        asked.priority, asked.name, asked.due_at,
    )  # fmt: skip
    caller = caller_of(request, who)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        order = await import_order(
            conn, caller, wanted, api.runtime.settings, idempotency_key(request)
        )
    receipt = await api.submissions.submit(caller, order, None)
    if not receipt.replayed:
        await api.runtime.broker.send(Ticket(receipt.lane))
    return receipt_answer(receipt)
