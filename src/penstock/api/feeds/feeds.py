"""Feeds of products: list, create, show, change, rotate, check and delete."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response

from penstock.api.feeds.schemas import (
    DeletedFeed,
    FeedList,
    FeedShape,
    FeedsQuery,
    FeedWithSecret,
    NewFeed,
    feed_shape,
    paths_of,
)
from penstock.api.feeds.serving import FeedLimits
from penstock.api.http.access import ApiParts, Reader, Writer, caller_of, id_in_path, org_of
from penstock.api.http.answers import answer
from penstock.api.http.bodies import body_of, order_of
from penstock.api.http.idempotency import IdempotencyKey, once_in_secret
from penstock.api.http.schemas import OrgQuery
from penstock.app.feeds import feeds
from penstock.app.feeds.feeds import MOST_FEEDS, no_such_feed
from penstock.store.accounts.audit_log import Caller
from penstock.store.database import Connection
from penstock.store.feeds import feeds as store

router = APIRouter(tags=["feeds"])
_ONE: dict[int | str, dict[str, Any]] = {200: {"model": FeedShape}}


FeedId = Annotated[UUID, Depends(id_in_path("feed_id", "The feed's id.", no_such_feed))]


async def _shown(conn: Connection, caller: Caller, feed_id: UUID) -> dict[str, Any]:
    found = await feeds.get_feed(conn, feed_id)
    files = await store.files_of(conn, [feed_id])
    return feed_shape(found, caller, files.get(feed_id, ()))


@router.get("/feeds", summary="List feeds", responses={200: {"model": FeedList}})
async def list_feeds(
    request: Request, api: ApiParts, who: Reader, query: Annotated[FeedsQuery, Query()]
) -> Response:
    """Feeds of your org by name, or for an admin those of `org`. Secrets are never shown."""
    caller = caller_of(request, who)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        org_id = await org_of(conn, who, query.org)
        found = await store.list_feeds(conn, org_id, MOST_FEEDS)
        files = await store.files_of(conn, [one.id for one in found])
    return answer({"items": [feed_shape(one, caller, files.get(one.id, ())) for one in found]})


@router.post(
    "/feeds",
    status_code=201,
    summary="Create a feed",
    responses={201: {"model": FeedWithSecret}},
    openapi_extra=body_of(NewFeed),
)
async def create_feed(
    request: Request,
    api: ApiParts,
    who: Writer,
    query: Annotated[OrgQuery, Query()],
    _: IdempotencyKey = None,
) -> Response:
    """Published products for Google Merchant Center. `paths` are secret addresses, as RSS and as
    CSV, that need no key; they are shown only in this answer."""
    asked, caller = await order_of(request, NewFeed), caller_of(request, who)

    async def make(conn: Connection) -> Response:
        org_id = await org_of(conn, who, query.org)
        made, secret = await feeds.create(conn, caller, asked.order(), org_id)
        place = {"Location": f"/api/feeds/{made.id}"}
        return answer(feed_shape(made, caller) | {"paths": paths_of(secret)}, 201, place)

    meaning = ["feed", asked.model_dump_json(), query.org]
    return await once_in_secret(request, api, who, meaning, make)


@router.get("/feeds/{feed_id}", summary="Show a feed", responses=_ONE)
async def show_feed(request: Request, api: ApiParts, who: Reader, feed_id: FeedId) -> Response:
    """With its files as they were built last, and which products were left out."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        return answer(await _shown(conn, caller_of(request, who), feed_id))


@router.put(
    "/feeds/{feed_id}", summary="Replace a feed", responses=_ONE, openapi_extra=body_of(NewFeed)
)
async def change_feed(request: Request, api: ApiParts, who: Writer, feed_id: FeedId) -> Response:
    """All but the secret. A feed that is not enabled answers as an unknown one."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        await feeds.get_feed(conn, feed_id)
    asked, caller = await order_of(request, NewFeed), caller_of(request, who)
    async with api.db.scoped(who.scope) as conn:
        await feeds.change(conn, caller, feed_id, asked.order())
        return answer(await _shown(conn, caller, feed_id))


@router.delete("/feeds/{feed_id}", summary="Delete a feed", responses={200: {"model": DeletedFeed}})
async def delete_feed(request: Request, api: ApiParts, who: Writer, feed_id: FeedId) -> Response:
    """Its address answers no longer."""
    await feeds.delete(
        api.runtime, lambda: api.db.scoped(who.scope), caller_of(request, who), feed_id
    )
    return answer({"id": str(feed_id)})


@router.post(
    "/feeds/{feed_id}/rotate",
    summary="Give a feed another address",
    responses={200: {"model": FeedWithSecret}},
)
async def rotate_feed(
    request: Request, api: ApiParts, who: Writer, feed_id: FeedId, _: IdempotencyKey = None
) -> Response:
    """The old address answers no longer."""
    caller = caller_of(request, who)

    async def make(conn: Connection) -> Response:
        changed, secret = await feeds.rotate(conn, caller, feed_id)
        return answer(feed_shape(changed, caller) | {"paths": paths_of(secret)})

    return await once_in_secret(request, api, who, ["feed rotate", str(feed_id)], make)


@router.post("/feeds/{feed_id}/build", summary="Build a feed", responses=_ONE)
async def build_feed(request: Request, api: ApiParts, who: Writer, feed_id: FeedId) -> Response:
    """Builds the files unless they are fresh, and shows which products are left out and why."""
    limits: FeedLimits = request.app.state.feeds
    async with api.db.scoped(who.scope, readonly=True) as conn:
        found = await feeds.get_feed(conn, feed_id)
    for kind in ("xml", "csv"):
        await limits.builder.file(found, kind)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        return answer(await _shown(conn, caller_of(request, who), feed_id))
