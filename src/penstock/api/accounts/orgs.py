"""Orgs: users see their own, admins all of them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from penstock.accounts import orgs
from penstock.api.accounts.schemas import (
    FullOrg,
    OrgChange,
    OrgOrder,
    OrgPage,
    OrgShape,
    org_shape,
    storage_shape,
)
from penstock.api.http.access import Admin, ApiParts, Reader, caller_of
from penstock.api.http.answers import answer
from penstock.api.http.bodies import body_of, order_of
from penstock.api.http.idempotency import IdempotencyKey, once
from penstock.api.http.schemas import OrgQuery
from penstock.model.errors import NotAllowed
from penstock.store.accounts import accounts, usage
from penstock.store.database import Connection

router = APIRouter(tags=["accounts"])
_ONE: dict[int | str, dict[str, Any]] = {200: {"model": OrgShape}}


@router.get("/org", summary="Show your org", responses={200: {"model": FullOrg}})
async def show_org(api: ApiParts, who: Reader, query: Annotated[OrgQuery, Query()]) -> Response:
    """The plan of the org, whether members see each other's jobs, the key by which its sources
    share products, and its storage."""
    if query.org not in ("", who.org) and who.role != "admin":
        raise NotAllowed("INSUFFICIENT_PERMISSIONS", "Only admins see other orgs.")
    async with api.db.scoped(who.scope, readonly=True) as conn:
        org = await accounts.find_org(conn, query.org or who.org)
        used = await usage.get(conn, org.id)
    storage = storage_shape(used, api.runtime.settings.quota)
    return answer({**org_shape(org), "storage": storage})


@router.patch("/org", summary="Change an org", responses=_ONE, openapi_extra=body_of(OrgChange))
async def change_org(
    request: Request, api: ApiParts, who: Admin, query: Annotated[OrgQuery, Query()]
) -> Response:
    """Change your org or, with `org`, another one. Waiting jobs stay in their lane."""
    order = await order_of(request, OrgChange)
    async with api.db.scoped(who.scope) as conn:
        changed = await orgs.change_org(
            conn, caller_of(request, who), query.org or who.org, order.changes()
        )
    return answer(org_shape(changed))


@router.get("/orgs", summary="List orgs", responses={200: {"model": OrgPage}})
async def list_orgs(api: ApiParts, who: Admin) -> Response:
    """All orgs, by name."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        rows = await accounts.list_orgs(conn)
    return answer({"items": [org_shape(row) for row in rows]})


@router.post(
    "/orgs",
    status_code=201,
    summary="Create an org",
    responses={201: {"model": OrgShape}},
    openapi_extra=body_of(OrgOrder),
)
async def create_org(
    request: Request, api: ApiParts, who: Admin, _: IdempotencyKey = None
) -> Response:
    """A new org, without users."""
    order = await order_of(request, OrgOrder)

    async def make(conn: Connection) -> Response:
        org = await orgs.create_org(conn, caller_of(request, who), order.name, order.plan)
        return answer(org_shape(org), 201)

    return await once(request, api, who, ["org", order.name, order.plan], make)
