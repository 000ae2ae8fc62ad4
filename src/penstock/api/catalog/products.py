"""The catalog: products with the origin of their values, and what jobs changed."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Response
from fastapi.responses import StreamingResponse

from penstock.api.catalog.product_files import catalog_pieces
from penstock.api.catalog.product_link_schemas import decided_link
from penstock.api.catalog.product_schemas import (
    FullProduct,
    HistoryQuery,
    ProductHistory,
    ProductPage,
    ProductsExportQuery,
    ProductsPageQuery,
    ProductsQuery,
    change,
    full,
    listed,
)
from penstock.api.catalog.shop_writers import products_as
from penstock.api.http.access import ApiParts, Reader, id_in_path
from penstock.api.http.answers import answer
from penstock.api.http.cursors import from_cursor, to_cursor
from penstock.api.jobs.export import EXPORTED, FileStream, attachment
from penstock.app.rows.export_templates import get_template
from penstock.catalog.products.matching import Candidates, Link, Match, identifiers_of
from penstock.catalog.values.gtin import match_key
from penstock.model.errors import NotAllowed, NotThere
from penstock.store.accounts import accounts
from penstock.store.accounts.accounts import Principal
from penstock.store.catalog import catalog
from penstock.store.catalog.product_links import decided_of_product
from penstock.store.catalog.products import find_links
from penstock.store.database import Connection, from_json

router = APIRouter(tags=["products"])
_MOST_LINKED = 50


def no_such_product() -> NotThere:
    return NotThere("NOT_FOUND", "There is no such product.")


ProductId = Annotated[UUID, Depends(id_in_path("product_id", "The product's id.", no_such_product))]


@router.get("/products", summary="List products", responses={200: {"model": ProductPage}})
async def list_products(
    api: ApiParts, who: Reader, query: Annotated[ProductsPageQuery, Query()]
) -> Response:
    """The catalog of your org, in the order of `sort`; with `sku`, `gtin` or `jobId` and without
    `sort` in the order of ids. A slow page may end early, even without products: continue while
    there is a `next`."""
    filters = query.model_dump_json(exclude={"page_size", "after"})
    this_list = f"products {who.org_id} {filters}"
    place = catalog.ProductCursor()
    if query.after:
        parts = from_cursor(query.after, this_list, int, datetime, UUID, str)
        place = catalog.ProductCursor(*parts)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        wanted = await wanted_of(conn, who, query)
        page = await catalog.page(conn, wanted, place, query.page_size, query.sort)
    following = None
    if page.next is not None:
        then = page.next
        following = to_cursor(
            this_list, then.named, then.moment, str(then.id or catalog.FIRST_ID), then.key
        )
    return answer({"items": [listed(row) for row in page.rows], "next": following})


async def wanted_of(
    conn: Connection, who: Principal, query: ProductsQuery
) -> catalog.ProductFilter:
    """A catalog belongs to one org, so that an admin, too, lists one org at a time."""
    org_id = who.org_id
    if query.org and query.org != who.org:
        if who.role != "admin":
            raise NotAllowed("INSUFFICIENT_PERMISSIONS", "Only admins may look at another org.")
        org_id = (await accounts.find_org(conn, query.org)).id
    return catalog.ProductFilter(
        org_id=org_id,
        q=query.q.strip(),
        source=query.source or None,
        sku=query.sku or None,
        gtin=match_key(query.gtin) if query.gtin else None,
        published=None if query.status is None else query.status == "published",
        updated_after=query.updated_after,
        updated_before=query.updated_before,
        job_id=query.job_id,
        brand=query.brand.strip() or None,
        category=query.category.strip() or None,
        edited=query.edited,
        linked=query.linked,
    )


@router.post(
    "/products/export",
    summary="Export products",
    response_class=StreamingResponse,
    responses={200: {"content": EXPORTED}},
)
async def export_products(
    api: ApiParts, who: Reader, query: Annotated[ProductsExportQuery, Query()]
) -> Response:
    """The catalog, or what matches, as a file: as lines with a column per field, in `json` and
    `ndjson` as documents, or as the CSV that a shop system imports: `shopify`, `woocommerce`,
    `magento`, `prestashop`, `prestashop-combinations`, `akeneo`."""
    pages = products_as(query.format)

    def opened() -> AbstractAsyncContextManager[Connection]:
        return api.export_db.scoped(who.scope, readonly=True)

    async with opened() as conn:
        wanted = await wanted_of(conn, who, query)
        template = None
        if query.template:
            template = await get_template(conn, wanted.org_id, query.template)
    headers = {"Content-Disposition": attachment("products", pages.extension)}
    body = catalog_pieces(opened, wanted, pages, template, query.variants)
    return FileStream(body, headers=headers, media_type=pages.media_type)


@router.get(
    "/products/{product_id}", summary="Show a product", responses={200: {"model": FullProduct}}
)
async def show_product(api: ApiParts, who: Reader, product_id: ProductId) -> Response:
    """The whole normalised product, and of each field where its value came from: column, raw text,
    rule, how sure that rule is, and the row of the job that brought it. `links` are products of
    other sources that may be the same, `linked` those about which that was decided."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        row = await catalog.get(conn, product_id)
        if row is None:
            raise no_such_product()
        links = await _links_of(conn, row)
        decided = await decided_of_product(conn, product_id, _MOST_LINKED)
    proposed = [link.as_json() for link in links]
    linked = [decided_link(one) for one in decided]
    return answer(full(row) | {"links": proposed, "linked": linked})


async def _links_of(conn: Connection, row: catalog.ProductDetails) -> list[Link]:
    """The current links, not those that a job found."""
    names = identifiers_of(from_json(row.data))._replace(id=row.source_id, gtin=row.gtin)
    gtins = [names.gtin] if names.gtin else []
    makers = [names.maker] if names.maker else []
    if not gtins and not makers:
        return []
    found = await find_links(conn, row.org_id, row.source, gtins, makers)
    return Candidates(row.source, (), None, found).links(names, Match())


@router.get(
    "/products/{product_id}/history",
    summary="Show a product's history",
    responses={200: {"model": ProductHistory}},
)
async def show_history(
    api: ApiParts, who: Reader, product_id: ProductId, query: Annotated[HistoryQuery, Query()]
) -> Response:
    """What jobs and edits changed of the product, newest first: the job and row or the user, the
    time, the fields with their old and new values, and whether it was undone. Works for products
    that an undo deleted, too."""
    this_list = f"history {product_id}"
    before = None
    if query.after:
        moment, job_id = from_cursor(query.after, this_list, datetime, UUID)
        before = (moment, job_id)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        page, more = await catalog.history(conn, product_id, before, query.page_size)
        if not page and await catalog.get(conn, product_id) is None:
            raise no_such_product()
    following = None
    if more:
        following = to_cursor(this_list, page[-1].changed_at, str(page[-1].job_id))
    return answer({"items": [change(row) for row in page], "next": following})
