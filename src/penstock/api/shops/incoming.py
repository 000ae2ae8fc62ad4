"""Messages of shops. They carry no key: the shop signs them with the webhook secret."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Path, Request, Response

from penstock.api.http.access import ApiParts, parse_id
from penstock.api.http.bodies import read_bytes
from penstock.app.shops import incoming
from penstock.model.errors import PenstockError, Unavailable

router = APIRouter(tags=["connections"])
# Bodies of callers that are not known yet occupy memory, so only a few are read at once.
_AT_ONCE = 8
_SECONDS = 10.0
_reading: list[int] = []
# Another message of the same minute has asked for the same import.
_ASKED_ALREADY = frozenset({"IDEMPOTENCY_CONFLICT", "IDEMPOTENCY_MISMATCH"})


@router.post(
    "/connections/{connection_id}/webhook",
    status_code=204,
    summary="Receive a message of a shop",
    openapi_extra={
        "requestBody": {"content": {"application/json": {"schema": {"type": "object"}}}}
    },
)
async def receive_shop_webhook(
    request: Request,
    api: ApiParts,
    connection_id: Annotated[str, Path(description="The connection's id.")],
) -> Response:
    """For Shopify's `products/create` and `products/update`, and WooCommerce's `product.created`,
    `product.updated` and `product.restored`: imports what has changed, at most once a minute.
    Other topics are accepted and ignored."""
    parsed = parse_id(connection_id)
    if parsed is None:
        raise incoming.not_signed()
    body = await _read(request)
    asked = await incoming.receive(
        api.runtime, parsed, dict(request.headers), body, datetime.now(UTC)
    )
    if asked is not None:
        try:
            await api.submissions.submit(asked.caller, asked.order, None)
        except PenstockError as error:
            if error.code not in _ASKED_ALREADY:
                raise
    return Response(status_code=204)


async def _read(request: Request) -> bytes:
    if len(_reading) >= _AT_ONCE:
        raise Unavailable("SERVER_BUSY", "Too many messages arrive at once. Send it again.")
    _reading.append(1)
    try:
        async with asyncio.timeout(_SECONDS):
            return await read_bytes(request)
    except TimeoutError:
        raise Unavailable("SERVER_BUSY", "The message arrived too slowly. Send it again.") from None
    finally:
        _reading.pop()
