"""Connections to shops."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response

from penstock.api.http.access import ApiParts, Reader, Writer, caller_of, id_in_path, org_of
from penstock.api.http.answers import answer
from penstock.api.http.bodies import body_of, order_of
from penstock.api.http.cursors import cut_page, from_cursor, to_cursor
from penstock.api.http.idempotency import IdempotencyKey, once_in_secret
from penstock.api.http.schemas import OrgQuery
from penstock.api.shops.schemas import (
    BrowseQuery,
    ChangedConnection,
    ConnectionPage,
    ConnectionShape,
    ConnectionsQuery,
    ConnectionTestShape,
    DeletedConnection,
    NewConnection,
    NewCredentials,
    ShopProductPage,
    connection_shape,
    product_shape,
    test_shape,
)
from penstock.app.shops import connections
from penstock.app.shops.connections import no_such_connection
from penstock.store.database import Connection
from penstock.store.shops import connections as store

router = APIRouter(tags=["connections"])
_ONE: dict[int | str, dict[str, Any]] = {200: {"model": ConnectionShape}}


ConnectionId = Annotated[
    UUID, Depends(id_in_path("connection_id", "The connection's id.", no_such_connection))
]


@router.get("/connections", summary="List connections", responses={200: {"model": ConnectionPage}})
async def list_connections(
    request: Request, api: ApiParts, who: Reader, query: Annotated[ConnectionsQuery, Query()]
) -> Response:
    """Shops of your org, oldest first; for an admin, every org's or those of `org`. Credentials are
    never shown."""
    after = None
    if query.after:
        [after] = from_cursor(query.after, "connections", UUID)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        org_id = await org_of(conn, who, query.org) if query.org else None
        found = await store.list_connections(conn, after, query.page_size + 1, org_id)
    page, following = cut_page("connections", found, query.page_size)
    caller = caller_of(request, who)
    return answer({"items": [connection_shape(one, caller) for one in page], "next": following})


@router.post(
    "/connections",
    status_code=201,
    summary="Create a connection",
    responses={201: {"model": ConnectionShape}},
    openapi_extra=body_of(NewConnection),
)
async def create_connection(
    request: Request,
    api: ApiParts,
    who: Writer,
    query: Annotated[OrgQuery, Query()],
    _: IdempotencyKey = None,
) -> Response:
    """The shop is not asked yet: test the connection next. Its address must lead to the public
    internet, or where the operator allows it to."""
    order = await order_of(request, NewConnection)
    checked = await connections.check_order(api.runtime, order.order())
    caller = caller_of(request, who)

    async def make(conn: Connection) -> Response:
        org_id = await org_of(conn, who, query.org)
        made = await connections.create(api.runtime, conn, caller, checked, org_id)
        place = {"Location": f"/api/connections/{made.id}"}
        return answer(connection_shape(made, caller), 201, place)

    meaning = ["connection", order.name, order.provider, order.address, query.org]
    private = sorted(order.credentials.items())
    return await once_in_secret(request, api, who, meaning, make, private=private)


@router.get("/connections/{connection_id}", summary="Show a connection", responses=_ONE)
async def show_connection(
    request: Request, api: ApiParts, who: Reader, connection_id: ConnectionId
) -> Response:
    """Its shop, and the result of its last test and import."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        found = await connections.get_connection(conn, connection_id)
    return answer(connection_shape(found, caller_of(request, who)))


@router.patch(
    "/connections/{connection_id}",
    summary="Rename a connection",
    responses=_ONE,
    openapi_extra=body_of(ChangedConnection),
)
async def rename_connection(
    request: Request, api: ApiParts, who: Writer, connection_id: ConnectionId
) -> Response:
    """For another address create another connection: credentials are never sent elsewhere."""
    order = await order_of(request, ChangedConnection)
    caller = caller_of(request, who)
    async with api.db.scoped(who.scope) as conn:
        changed = await connections.rename(conn, caller, connection_id, order.name)
    return answer(connection_shape(changed, caller))


@router.post(
    "/connections/{connection_id}/rotate",
    summary="Replace the credentials",
    responses=_ONE,
    openapi_extra=body_of(NewCredentials),
)
async def rotate_connection(
    request: Request, api: ApiParts, who: Writer, connection_id: ConnectionId
) -> Response:
    """All of them at once. The shop is asked first; if it refuses the new ones or does not answer,
    the old ones are kept. Running imports use the new ones from their next call on."""
    order = await order_of(request, NewCredentials)
    caller = caller_of(request, who)
    changed = await connections.rotate(
        api.runtime, lambda: api.db.scoped(who.scope), caller, connection_id, order.credentials,
        tested=order.test,
    )  # fmt: skip
    return answer(connection_shape(changed, caller))


@router.delete(
    "/connections/{connection_id}",
    summary="Delete a connection",
    responses={200: {"model": DeletedConnection}},
)
async def delete_connection(
    request: Request, api: ApiParts, who: Writer, connection_id: ConnectionId
) -> Response:
    """The credentials are deleted. Products that were imported stay in the catalog; the answer says
    how many. A new connection to the same shop finds them again."""
    async with api.db.scoped(who.scope) as conn:
        kept = await connections.delete(conn, caller_of(request, who), connection_id)
    return answer({"id": str(connection_id), "productsKept": kept})


@router.post(
    "/connections/{connection_id}/test",
    summary="Test a connection",
    responses={200: {"model": ConnectionTestShape}},
)
async def test_connection(
    request: Request, api: ApiParts, who: Writer, connection_id: ConnectionId
) -> Response:
    """Asks the shop for its name, and whether the credentials allow reading products. A shop that
    refuses is an answer, not an error of this call."""
    result = await connections.test(
        api.runtime, lambda: api.db.scoped(who.scope), caller_of(request, who), connection_id
    )
    return answer(test_shape(result))


@router.get(
    "/connections/{connection_id}/products",
    summary="Browse a shop's products",
    responses={200: {"model": ShopProductPage}},
)
async def browse_connection(
    api: ApiParts, who: Reader, connection_id: ConnectionId, query: Annotated[BrowseQuery, Query()]
) -> Response:
    """As the shop lists them now, for choosing what to import. Not all shops can search; those that
    cannot compare the titles of each page, so pages may be short or empty."""
    this_list = f"shop {connection_id} {query.q}"
    cursor = None
    if query.after:
        [cursor] = from_cursor(query.after, this_list, str)
    page = await connections.browse(
        api.runtime, lambda: api.db.scoped(who.scope, readonly=True), connection_id, query.q,
        cursor,
    )  # fmt: skip
    following = to_cursor(this_list, page.next_cursor) if page.next_cursor else None
    shown = [product_shape(one) for one in page.products]
    return answer({"items": shown, "next": following, "total": page.total})
