"""What can be connected, and the ways to connect without entering credentials."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from penstock.api.http.access import ApiParts, Reader, Writer, caller_of, org_of
from penstock.api.http.answers import answer
from penstock.api.http.bodies import body_of, order_of
from penstock.api.http.schemas import OrgQuery
from penstock.api.shops.schemas import (
    ConnectionPage,
    ConnectionShape,
    DemoOrder,
    InstallAnswer,
    InstallShape,
    NewInstall,
    ProviderKinds,
    connection_shape,
    kind_shape,
)
from penstock.app.shops import connections, demo, install

router = APIRouter(tags=["connections"])


@router.get(
    "/connections/providers",
    summary="List kinds of shops",
    responses={200: {"model": ProviderKinds}},
)
async def list_kinds(api: ApiParts, who: Reader) -> Response:
    """What can be connected, and the fields of its credentials."""
    apps = api.runtime.settings.oauth_apps
    kinds = [kind_shape(one, installs=one.key in apps) for one in api.runtime.providers.values()]
    return answer({"items": kinds, "demo": await demo.is_allowed(api.runtime)})


@router.post(
    "/connections/demo",
    status_code=201,
    summary="Connect the sandbox",
    responses={201: {"model": ConnectionPage}},
    openapi_extra=body_of(DemoOrder),
)
async def connect_demo(request: Request, api: ApiParts, who: Writer) -> Response:
    """Connects the shops of a running `penstock sandbox`, which are made up. Only where the
    operator allows it with `PENSTOCK_PROVIDER_ALLOW`."""
    order = await order_of(request, DemoOrder)
    checked = await demo.demo_orders(api.runtime, order.provider)
    caller = caller_of(request, who)
    async with api.db.scoped(who.scope) as conn:
        made = [await connections.create(api.runtime, conn, caller, one) for one in checked]
    return answer({"items": [connection_shape(one, caller) for one in made], "next": None}, 201)


@router.post(
    "/connections/install",
    summary="Begin to connect a shop without a token",
    responses={200: {"model": InstallShape}},
    openapi_extra=body_of(NewInstall),
)
async def begin_install(
    request: Request, api: ApiParts, who: Writer, query: Annotated[OrgQuery, Query()]
) -> Response:
    """Send the browser to `url`. The merchant agrees there, and comes back to the UI's page, which
    completes the connection. Needs an app of the provider in the settings."""
    order = await order_of(request, NewInstall)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        org_id = await org_of(conn, who, query.org)
    url = await install.begin(api.runtime, caller_of(request, who), order.order(), org_id)
    return answer({"url": url}, headers={"Cache-Control": "no-store"})


@router.post(
    "/connections/install/complete",
    status_code=201,
    summary="Complete a connection without a token",
    responses={201: {"model": ConnectionShape}},
    openapi_extra=body_of(InstallAnswer),
)
async def complete_install(request: Request, api: ApiParts, who: Writer) -> Response:
    """Checks that the provider signed the answer, that you began this within the last 10 minutes,
    and that it is about the same shop; then exchanges the code for a token."""
    order = await order_of(request, InstallAnswer)
    caller = caller_of(request, who)
    installed = await install.complete(api.runtime, caller, order.parameters)
    async with api.db.scoped(who.scope) as conn:
        made = await connections.create(
            api.runtime, conn, caller, installed.order, installed.org_id
        )
    place = {"Location": f"/api/connections/{made.id}"}
    return answer(connection_shape(made, caller), 201, place)
