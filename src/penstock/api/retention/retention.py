"""Retention: how long things are kept, and what would be deleted."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from penstock.api.http.access import Admin, ApiParts, Reader, caller_of, org_of
from penstock.api.http.answers import answer
from penstock.api.http.bodies import body_of, order_of
from penstock.api.retention.schemas import (
    KINDS,
    PruneOrder,
    PruneShape,
    RetentionQuery,
    RetentionShape,
    TableList,
    retention_shape,
    table_shape,
)
from penstock.app.retention import policies
from penstock.app.retention.prune_now import prune_now
from penstock.model.retention.policy import RetentionOverrides
from penstock.store.retention import retention as store

router = APIRouter(tags=["retention"])
_ONE: dict[int | str, dict[str, Any]] = {200: {"model": RetentionShape}}


@router.get("/retention", summary="Show the retention", responses=_ONE)
async def show_retention(
    api: ApiParts, who: Reader, query: Annotated[RetentionQuery, Query()]
) -> Response:
    """How long your org keeps things, or for an admin `org`."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        org_id = await org_of(conn, who, query.org)
        return answer(retention_shape(await policies.get_retention(api.runtime, conn, org_id)))


@router.put(
    "/retention",
    summary="Change the retention",
    responses=_ONE,
    openapi_extra=body_of(RetentionOverrides),
)
async def change_retention(
    request: Request, api: ApiParts, who: Admin, query: Annotated[RetentionQuery, Query()]
) -> Response:
    """All that the org sets itself; what is left out or null is as the installation has it."""
    overrides = await order_of(request, RetentionOverrides)
    async with api.db.scoped(who.scope) as conn:
        org_id = await org_of(conn, who, query.org)
        found = await policies.set_retention(
            api.runtime, conn, caller_of(request, who), org_id, overrides
        )
    return answer(retention_shape(found))


@router.post(
    "/retention/prune",
    summary="Delete what is too old",
    responses={200: {"model": PruneShape}},
    openapi_extra=body_of(PruneOrder),
)
async def prune(
    request: Request, api: ApiParts, who: Admin, query: Annotated[RetentionQuery, Query()]
) -> Response:
    """The leader does this all the time, in small chunks. With `dryRun`, which is the default, it
    only counts. Of all orgs, or of `org`."""
    asked = await order_of(request, PruneOrder)
    org_id = None
    if query.org:
        async with api.db.scoped(who.scope, readonly=True) as conn:
            org_id = await org_of(conn, who, query.org)
    pruned = await prune_now(
        api.runtime, caller_of(request, who), org_id, asked.max_seconds, dry_run=asked.dry_run
    )
    return answer(
        {
            "dryRun": asked.dry_run,
            "org": query.org or None,
            "deleted": {kind: pruned.counts[kind] for kind in KINDS},
            "more": pruned.more,
        }
    )


@router.get(
    "/retention/tables",
    summary="List the sizes of tables",
    responses={200: {"model": TableList}},
)
async def list_table_sizes(api: ApiParts, who: Admin) -> Response:
    """The largest first."""
    async with api.runtime.db.acquire() as conn:
        found = await store.table_sizes(conn)
    return answer({"items": [table_shape(one) for one in found]})
