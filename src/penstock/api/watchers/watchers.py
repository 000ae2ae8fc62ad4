"""Watchers of places, and scans on request."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response

from penstock.api.http.access import ApiParts, Reader, Writer, caller_of, id_in_path, org_of
from penstock.api.http.answers import answer
from penstock.api.http.bodies import body_of, order_of
from penstock.api.http.cursors import cut_page, from_cursor
from penstock.api.http.idempotency import IdempotencyKey, is_answered, once_in_secret
from penstock.api.watchers.schemas import (
    ChangedWatcher,
    DeletedWatcher,
    NewWatcher,
    ScanOrder,
    ScanShape,
    WatchedFilePage,
    WatchedFilesQuery,
    WatcherCredentials,
    WatcherPage,
    WatcherShape,
    WatchersQuery,
    WatcherTestShape,
    file_shape,
    test_shape,
    watcher_shape,
)
from penstock.app.watchers import watchers
from penstock.app.watchers.request import scan_on_request
from penstock.app.watchers.watchers import no_such_watcher
from penstock.store.database import Connection
from penstock.store.watchers import files
from penstock.store.watchers import watchers as store

router = APIRouter(tags=["watchers"])
_ONE: dict[int | str, dict[str, Any]] = {200: {"model": WatcherShape}}


WatcherId = Annotated[UUID, Depends(id_in_path("watcher_id", "The watcher's id.", no_such_watcher))]
WatchedFileId = Annotated[
    UUID, Depends(id_in_path("watched_id", "The file's id.", no_such_watcher))
]


@router.get("/watchers", summary="List watchers", responses={200: {"model": WatcherPage}})
async def list_watchers(
    request: Request, api: ApiParts, who: Reader, query: Annotated[WatchersQuery, Query()]
) -> Response:
    """Watched places of your org, oldest first; for an admin, every org's or those of `org`.
    Credentials are never shown."""
    after = None
    if query.after:
        [after] = from_cursor(query.after, "watchers", UUID)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        org_id = await org_of(conn, who, query.org) if query.org else None
        found = await store.list_watchers(conn, after, query.page_size + 1, org_id)
    page, following = cut_page("watchers", found, query.page_size)
    caller = caller_of(request, who)
    return answer({"items": [watcher_shape(one, caller) for one in page], "next": following})


@router.post(
    "/watchers",
    status_code=201,
    summary="Create a watcher",
    responses={201: {"model": WatcherShape}},
    openapi_extra=body_of(NewWatcher),
)
async def create_watcher(
    request: Request, api: ApiParts, who: Writer, _: IdempotencyKey = None
) -> Response:
    """Each complete file that matches becomes one job, in your name. The place is listed first; if
    that fails, nothing is stored. A server must be on the public internet, or where the operator
    allows it to be; a folder must be below `PENSTOCK_WATCH_ROOTS`."""
    order = await order_of(request, NewWatcher)
    caller = caller_of(request, who)
    wanted = order.order(api.runtime.settings.watch_every_seconds)
    checked = await watchers.check_order(api.runtime, caller, wanted)
    meaning = ["watcher", order.model_dump_json(exclude={"credentials"})]
    host_key = None
    if order.test and not await is_answered(request, api, who, meaning):
        host_key = await watchers.require_place(api.runtime, caller, checked)

    async def make(conn: Connection) -> Response:
        made = await watchers.create(api.runtime, conn, caller, checked, host_key)
        place = {"Location": f"/api/watchers/{made.id}"}
        return answer(watcher_shape(made, caller), 201, place)

    private = sorted(order.credentials.items())
    return await once_in_secret(request, api, who, meaning, make, private=private)


@router.get("/watchers/{watcher_id}", summary="Show a watcher", responses=_ONE)
async def show_watcher(
    request: Request, api: ApiParts, who: Reader, watcher_id: WatcherId
) -> Response:
    """What it looks for, and the result of its last scan."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        found = await watchers.get_watcher(conn, watcher_id)
    return answer(watcher_shape(found, caller_of(request, who)))


@router.patch(
    "/watchers/{watcher_id}",
    summary="Change a watcher",
    responses=_ONE,
    openapi_extra=body_of(ChangedWatcher),
)
async def change_watcher(
    request: Request, api: ApiParts, who: Writer, watcher_id: WatcherId
) -> Response:
    """What is left out stays. `enabled: false` pauses it. For another place create another
    watcher."""
    order = await order_of(request, ChangedWatcher)
    caller = caller_of(request, who)
    async with api.db.scoped(who.scope) as conn:
        changed = await watchers.change(api.runtime, conn, caller, watcher_id, order.changes())
    return answer(watcher_shape(changed, caller))


@router.post(
    "/watchers/{watcher_id}/rotate",
    summary="Replace the credentials of a watcher",
    responses=_ONE,
    openapi_extra=body_of(WatcherCredentials),
)
async def rotate_watcher(
    request: Request, api: ApiParts, who: Writer, watcher_id: WatcherId
) -> Response:
    """All of them at once. The place is listed with the new ones first; if that fails, the old ones
    are kept. The key of an SFTP server is learned again."""
    order = await order_of(request, WatcherCredentials)
    caller = caller_of(request, who)
    changed = await watchers.rotate(
        api.runtime, lambda: api.db.scoped(who.scope), caller, watcher_id, order.credentials,
        tested=order.test,
    )  # fmt: skip
    return answer(watcher_shape(changed, caller))


@router.delete(
    "/watchers/{watcher_id}",
    summary="Delete a watcher",
    responses={200: {"model": DeletedWatcher}},
)
async def delete_watcher(
    request: Request, api: ApiParts, who: Writer, watcher_id: WatcherId
) -> Response:
    """The credentials are deleted. Its jobs stay, and so do the files in the place."""
    async with api.db.scoped(who.scope) as conn:
        await watchers.delete(conn, caller_of(request, who), watcher_id)
    return answer({"id": str(watcher_id)})


@router.post(
    "/watchers/{watcher_id}/test",
    summary="Test a watcher",
    responses={200: {"model": WatcherTestShape}},
)
async def test_watcher(
    request: Request, api: ApiParts, who: Writer, watcher_id: WatcherId
) -> Response:
    """Lists the place and takes nothing. A server that refuses is an answer, not an error of this
    call."""
    result = await watchers.test(
        api.runtime, lambda: api.db.scoped(who.scope), caller_of(request, who), watcher_id
    )
    return answer(test_shape(result))


@router.get(
    "/watchers/{watcher_id}/files",
    summary="List files of a watcher",
    responses={200: {"model": WatchedFilePage}},
)
async def list_watched_files(
    api: ApiParts, who: Reader, watcher_id: WatcherId, query: Annotated[WatchedFilesQuery, Query()]
) -> Response:
    """Files that were seen, newest first, with their jobs and why they failed."""
    this_list = f"watcher {watcher_id} {query.state}"
    after = None
    if query.after:
        [after] = from_cursor(query.after, this_list, UUID)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        await watchers.get_watcher(conn, watcher_id)
        found = await files.list_files(conn, watcher_id, after, query.state, query.page_size + 1)
        counts = await files.count_files(conn, watcher_id)
    page, following = cut_page(this_list, found, query.page_size)
    shown = [file_shape(one) for one in page]
    return answer({"items": shown, "counts": counts, "next": following})


@router.post(
    "/watchers/{watcher_id}/files/{watched_id}/retry",
    summary="Try a failed file again",
    responses=_ONE,
)
async def retry_watched_file(
    request: Request, api: ApiParts, who: Writer, watcher_id: WatcherId, watched_id: WatchedFileId
) -> Response:
    """With the next scan."""
    caller = caller_of(request, who)
    async with api.db.scoped(who.scope) as conn:
        found = await watchers.retry_file(conn, caller, watcher_id, watched_id)
    return answer(watcher_shape(found, caller))


@router.post(
    "/ingestion/scan",
    summary="Scan watched places now",
    responses={200: {"model": ScanShape}},
    openapi_extra=body_of(ScanOrder),
)
async def scan_now(request: Request, api: ApiParts, who: Writer) -> Response:
    """Complete files become jobs before this answers. A file that is not complete yet is skipped;
    the next scan takes it. After a minute no further file is read."""
    order = await order_of(request, ScanOrder)
    result = await scan_on_request(
        api.runtime, lambda: api.db.scoped(who.scope), caller_of(request, who), order.watcher_id
    )
    return answer(result.as_json())
