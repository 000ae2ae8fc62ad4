"""Crawled pages with their versions, and the preview of a page."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from penstock.api.crawl.page_schemas import (
    DeletedPage,
    FullPage,
    PagePage,
    PagePreview,
    PagesQuery,
    PreviewOrder,
    page_shape,
    version_shape,
)
from penstock.api.http.access import ApiParts, Reader, Writer, caller_of, id_in_path
from penstock.api.http.answers import answer
from penstock.api.http.bodies import body_of, order_of
from penstock.api.http.cursors import from_cursor, to_cursor
from penstock.api.http.disconnect import while_connected
from penstock.api.http.work import PREVIEW
from penstock.app.crawl import pages
from penstock.app.crawl.preview import preview_page
from penstock.model.crawl.pages import no_such_page
from penstock.store.crawl import pages as store

router = APIRouter(tags=["runs"])
_RAW = "application/octet-stream"


async def _version(version: Annotated[str, Path(description="The number of the version.")]) -> int:
    if not (version.isascii() and version.isdigit() and len(version) < 10):
        raise no_such_page()
    return int(version)


PageId = Annotated[UUID, Depends(id_in_path("page_id", "The page's id.", no_such_page))]
Version = Annotated[int, Depends(_version)]


@router.post(
    "/runs/preview",
    summary="Preview a page",
    responses={200: {"model": PagePreview}},
    openapi_extra=body_of(PreviewOrder),
)
async def preview_crawl(request: Request, api: ApiParts, who: Writer) -> Response:
    """What would be extracted from a page, and where each field comes from. Nothing is stored."""
    order = await order_of(request, PreviewOrder)
    config = {"kind": order.kind, "robots": order.robots}
    await api.turns.exchange(request, PREVIEW, who)
    found = await while_connected(
        request, preview_page(api.runtime, who, order.url, order.html, config)
    )
    return answer(dict(found))


@router.get("/pages", summary="List crawled pages", responses={200: {"model": PagePage}})
async def list_pages(api: ApiParts, who: Reader, query: Annotated[PagesQuery, Query()]) -> Response:
    """Pages of your org, oldest first, with what their newest version says."""
    this_list = f"pages {query.company} {query.url}"
    after = None
    if query.after:
        [after] = from_cursor(query.after, this_list, UUID)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        found = await store.list_pages(
            conn, after, query.company or None, query.url or None, query.page_size + 1
        )
    shown = found[: query.page_size]
    following = to_cursor(this_list, str(shown[-1].id)) if len(found) > len(shown) else None
    return answer({"items": [page_shape(one) for one in shown], "next": following})


@router.get("/pages/{page_id}", summary="Show a page", responses={200: {"model": FullPage}})
async def show_page(api: ApiParts, who: Reader, page_id: PageId) -> Response:
    """A page with its versions, newest first, and the fields in which each differs from the one
    before."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        page, versions = await pages.get_page(conn, page_id)
    shown = [version_shape(page_id, one) for one in versions]
    return answer(page_shape(page) | {"versions": shown})


@router.delete("/pages/{page_id}", summary="Delete a page", responses={200: {"model": DeletedPage}})
async def delete_page(request: Request, api: ApiParts, who: Writer, page_id: PageId) -> Response:
    """With its versions and its job posting. Products that were made from it stay. The next run
    that comes to its URL stores it as a new page."""
    async with api.db.scoped(who.scope) as conn:
        await pages.delete_page(conn, caller_of(request, who), page_id)
    return answer({"id": str(page_id)})


@router.get(
    "/pages/{page_id}/versions/{version}/raw",
    summary="Show a raw page",
    response_class=Response,
    responses={200: {"content": {_RAW: {"schema": {"type": "string", "format": "binary"}}}}},
)
async def show_raw_page(api: ApiParts, who: Reader, page_id: PageId, version: Version) -> Response:
    """The page as it was fetched, as a file that no browser runs."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        content = await pages.raw_page(api.runtime, conn, page_id, version)
    headers = {
        "Content-Disposition": f'attachment; filename="page-{page_id}-{version}.html"',
        "X-Content-Type-Options": "nosniff",
    }
    return Response(content, 200, headers, media_type=_RAW)
