"""The stage `fetch`: pages of the shop's list become products, and products by id are asked for.

A page is an item of its own. Its outcome adds its products and the next page as items, so that a
crash repeats at most one page, and a list that has to wait for a limit holds no slot.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from penstock.guards.shop_calls import ShopCall, shop_domain
from penstock.model.effects import MAX_NAME_LENGTH, CountInGroup, Effect, NameRow
from penstock.model.errors import ItemError, PermanentError
from penstock.model.network.fetching import FetchPurpose
from penstock.model.outcomes import Advance, Child, Done, Outcome, Retry
from penstock.model.pipeline import Item, run_groups
from penstock.model.ports import Connections, Context
from penstock.model.shops.products import ShopProduct
from penstock.model.shops.provider import ListPage, Provider, ShopConnection
from penstock.pipelines.shop_import.again import soon_again
from penstock.pipelines.shop_import.mapping import KIND
from penstock.providers.registry import PROVIDERS

FETCHED_AT_ONCE = 16
# The name of the item of the last page.
LAST_PAGE = "page:last"
PRODUCTS = "products"
WAITING = "SHOP_PREPARES_LIST"


def provider_of(connection: ShopConnection) -> Provider:
    for provider in PROVIDERS:
        if provider.key == connection.provider:
            return provider
    raise PermanentError(
        "INVALID_CONFIG", f"This server has no provider {connection.provider!r} (any more)."
    )


def shop_call(connection: ShopConnection, ctx: Context) -> ShopCall:
    domain = shop_domain(connection)
    return ShopCall(
        connection,
        ctx.fetchers[FetchPurpose.PROVIDER],
        lambda points: ctx.calls(connection.provider, domain, company="", cost=points),
        ctx.time_is_up,
    )


async def fetch(batch: Sequence[Item], ctx: Context) -> Sequence[Outcome | None]:
    """Items of one batch have the same config, so they are of one shop."""
    if not batch:
        return ()
    job = batch[0].job
    connection = await ctx.port(Connections).open(job.org_id, job.config.connection_id)
    provider = provider_of(connection)
    listed = {
        index: ShopProduct.from_json(item.input["shop"])
        for index, item in enumerate(batch)
        if "shop" in item.input
    }
    work = partial(_fetch, batch=batch, provider=provider, connection=connection, listed=listed)
    return await run_groups(batch, _groups(batch, provider, listed), work, ctx, FETCHED_AT_ONCE)


def _groups(
    batch: Sequence[Item], provider: Provider, listed: Mapping[int, ShopProduct]
) -> list[list[int]]:
    """Items that one request serves, by their positions: pages and products by id alone, products
    of lists as the provider groups them."""
    groups = [[index] for index in range(len(batch)) if index not in listed]
    waiting = iter(listed)
    for some in provider.batches(list(listed.values())):
        groups.append([next(waiting) for _ in some])
    return groups


async def _fetch(
    group: Sequence[int], ctx: Context, batch: Sequence[Item], provider: Provider,
    connection: ShopConnection, listed: Mapping[int, ShopProduct],
) -> Sequence[Outcome]:  # fmt: skip
    call, first = shop_call(connection, ctx), batch[group[0]]
    if first.input["kind"] == "page":
        return [await _fetch_page(first, ctx, provider, call)]
    if group[0] in listed:
        products = [listed[index] for index in group]
        found = await soon_again(lambda: provider.complete(call, products), ctx)
    else:
        found = [await soon_again(lambda: provider.get(call, first.input["id"]), ctx)]
    return [_product_outcome(product, connection.source) for product in found]


def _product_outcome(product: ShopProduct, source: str) -> Advance:
    cells = {KIND: "product", "sourceId": product.id, "title": product.title}
    return Advance({"shop": product.as_json(), "source": source}, cells)


async def _fetch_page(item: Item, ctx: Context, provider: Provider, call: ShopCall) -> Outcome:
    told, number = item.input, int(item.input["page"])
    ready_at = told.get("readyAt", 0)
    left = ready_at - time.time() * 1000
    if left > 0:
        return _not_ready(round(left))
    cursor = told.get("cursor")
    since = _since(item, call.connection)
    page = await soon_again(lambda: provider.list(call, cursor, since), ctx)
    if page.wait_ms is not None and page.next_cursor == cursor:
        return _not_ready(page.wait_ms)
    source = call.connection.source
    spawn = [_child(product, source) for product in page.products]
    if page.next_cursor is not None:
        spawn.append(_next_page(number, page))
    return Done(
        {KIND: "page", "title": f"Page {number}: {len(page.products)} products"},
        _checkpoint(page),
        spawn=spawn,
        effects=_effects(number, page),
    )


def _not_ready(wait_ms: int) -> Retry:
    error = ItemError(WAITING, "The shop is preparing the list of its products")
    return Retry(error, wait_ms, counted=False)


def _since(item: Item, connection: ShopConnection) -> datetime | None:
    since: datetime | str | None = item.job.config.since
    if since == "last":
        return connection.next_since
    return since if isinstance(since, datetime) else None


def _checkpoint(page: ListPage) -> dict[str, Any]:
    since = page.next_since
    return {"nextSince": None if since is None else since.isoformat()}


def _child(product: ShopProduct, source: str) -> Child:
    told = {"kind": "product", "shop": product.as_json(), "source": source}
    return Child(f"product:{product.id}", told, "map" if product.complete else "fetch")


def _next_page(number: int, page: ListPage) -> Child:
    told: dict[str, Any] = {"kind": "page", "page": number + 1, "cursor": page.next_cursor}
    if page.wait_ms is not None:
        told["readyAt"] = round(time.time() * 1000) + page.wait_ms
    return Child(f"page:{number + 1}", told, "fetch")


def _effects(number: int, page: ListPage) -> list[Effect]:
    names = [_seen_name(one) for one in page.products]
    if page.next_cursor is None:
        names.append(LAST_PAGE)
    counts = {"listed": len(page.products)}
    if number == 1 and page.total is not None:
        counts["total"] = page.total
    return [NameRow(names), CountInGroup(PRODUCTS, counts)]


def _seen_name(product: ShopProduct) -> str:
    """The shop has this product: it is not missing."""
    return f"seen:id:{product.id}"[:MAX_NAME_LENGTH]
