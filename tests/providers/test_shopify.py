"""Shopify's other ways: bulk operations, REST, the cost bucket and webhooks."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime

import orjson
import pytest
from tests.providers.sandboxes import DirectCall, call_to, loopback_fetcher, serving_sandbox

from penstock.guards.fetch import Fetcher
from penstock.model.errors import BadInput, NotAllowed, RateLimited, Unavailable
from penstock.providers.base import ListPage, ShopChange, ShopProduct
from penstock.providers.sandbox import shopify as shopify_sandbox
from penstock.providers.sandbox.graphql import cost_of, parse
from penstock.providers.sandbox.server import Sandbox
from penstock.providers.shopify import bulk, queries
from penstock.providers.shopify.provider import BULK_ABOVE, Shopify

SHOPIFY = Shopify()


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with serving_sandbox(products=30, seed=5) as made:
        yield made


@pytest.fixture
async def fetcher() -> AsyncIterator[Fetcher]:
    async with loopback_fetcher() as made:
        yield made


async def pages_of(call: DirectCall) -> list[ListPage]:
    pages = [await SHOPIFY.list(call)]
    while pages[-1].next_cursor is not None:
        await asyncio.sleep((pages[-1].wait_ms or 0) / 1000)
        pages.append(await SHOPIFY.list(call, pages[-1].next_cursor))
    return pages


def products_of(pages: list[ListPage]) -> list[ShopProduct]:
    return [one for page in pages for one in page.products]


@pytest.fixture
def quick_bulk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shopify_sandbox, "_BULK_SECONDS", 0.0)
    monkeypatch.setattr("penstock.providers.shopify.provider._BULK_POLL_MS", 1)


@pytest.mark.usefixtures("quick_bulk")
async def test_a_large_shop_is_listed_by_one_bulk_operation(
    sandbox: Sandbox, fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "PIECE_BYTES", 64 * 1024)
    name = f"big-p{BULK_ABOVE + 150}"
    call = call_to(sandbox, fetcher, "shopify", name)
    pages = await pages_of(call)
    found = products_of(pages)
    assert pages[0].wait_ms
    assert len(pages) > 3
    shop = sandbox.shop("shopify", name)
    assert [one.title for one in found] == [one.title for one in shop.products()]
    assert all(one.complete for one in found)
    assert [len(one.variants) for one in found] == [len(one.variants) for one in shop.products()]
    assert [len(one.images) for one in found] == [len(one.pictures) for one in shop.products()]
    # The file is elsewhere, so the token is not sent with its pieces.
    assert all("X-Shopify-Access-Token" not in r.headers for r in call.sent if "/bulk/" in r.url)
    # What a cursor contains is stored, so the signed address is not in it.
    assert all("signature" not in (page.next_cursor or "") for page in pages)
    assert sandbox.stats.total.violations == 0


@pytest.mark.usefixtures("quick_bulk")
async def test_bulk_gives_the_same_products_as_pages(
    sandbox: Sandbox, fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = call_to(sandbox, fetcher, "shopify")
    paged = list(await SHOPIFY.complete(call, products_of(await pages_of(call))))
    monkeypatch.setattr("penstock.providers.shopify.provider.BULK_ABOVE", 5)
    assert products_of(await pages_of(call)) == paged


async def test_only_what_a_list_left_out_is_asked_for(sandbox: Sandbox, fetcher: Fetcher) -> None:
    call = call_to(sandbox, fetcher, "shopify")
    listed = [one for one in products_of(await pages_of(call)) if not one.complete]
    assert {name for one in listed for name in one.cursors} == {"variants", "media"}
    # As items of a job keep them.
    listed = [ShopProduct.from_json(one.as_json()) for one in listed]
    before = len(call.costs)
    completed = list(await SHOPIFY.complete(call, listed))
    rest_costs = sum(call.costs[before:])
    before = len(call.costs)
    assert completed == [await SHOPIFY.get(call, one.id) for one in listed]
    assert rest_costs < 0.6 * sum(call.costs[before:])


async def test_a_product_that_changed_since_it_was_listed_is_read_anew(
    sandbox: Sandbox, fetcher: Fetcher
) -> None:
    call = call_to(sandbox, fetcher, "shopify")
    listed = next(one for one in products_of(await pages_of(call)) if one.cursors)
    shop = sandbox.shop("shopify", call.connection.address.rpartition("/")[2])
    number = next(one.number for one in shop.products() if one.title == listed.title)
    shop.changed_at[number] = datetime.now(UTC)
    (completed,) = await SHOPIFY.complete(call, [listed])
    assert completed == await SHOPIFY.get(call, listed.id)
    assert completed.variants[0].price != listed.variants[0].price


async def test_a_running_operation_of_another_import_leaves_pages(
    sandbox: Sandbox, fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.providers.shopify.provider.BULK_ABOVE", 5)
    call = call_to(sandbox, fetcher, "shopify")
    first = await SHOPIFY.list(call)
    assert first.wait_ms
    second = await SHOPIFY.list(call)
    assert second.wait_ms is None
    assert len(second.products) == queries.PAGE_PRODUCTS


async def test_a_shop_without_graphql_is_read_by_rest(sandbox: Sandbox, fetcher: Fetcher) -> None:
    call = call_to(sandbox, fetcher, "shopify", "rest-p130")
    untested = products_of(await pages_of(call))
    info = await SHOPIFY.test(call)
    assert info.details["api"] == "rest"
    details = {**info.details, "currency": info.currency}
    call.connection = replace(call.connection, details=details)
    tested = products_of(await pages_of(call))
    assert [one.id for one in tested] == [one.id for one in untested]
    assert len(tested) == 130
    assert {one.currency for one in tested} == {"EUR"}
    assert await SHOPIFY.get(call, tested[7].id) == tested[7]


async def test_the_estimate_of_points_is_what_shopify_charges(
    sandbox: Sandbox, fetcher: Fetcher
) -> None:
    call = call_to(sandbox, fetcher, "shopify")
    page = await SHOPIFY.list(call)
    await SHOPIFY.get(call, page.products[0].id)
    for sent, points in zip(call.sent, call.points, strict=True):
        told = orjson.loads(sent.body)
        _, fields = parse(told["query"], told["variables"])
        assert cost_of(fields) <= points <= cost_of(fields) + 5
        assert points <= 1000
    assert all(cost <= points for cost, points in zip(call.costs, call.points, strict=True))
    assert call.throttles[-1].maximum == 2000


async def test_an_empty_bucket_says_how_long_to_wait(sandbox: Sandbox, fetcher: Fetcher) -> None:
    call = call_to(sandbox, fetcher, "shopify")
    await SHOPIFY.list(call)
    call.hurried = True
    sandbox.shop("shopify").buckets["points"].level = 0.0
    with pytest.raises(RateLimited) as told:
        await SHOPIFY.list(call)
    assert told.value.retry_after_ms is not None
    assert 5_000 < told.value.retry_after_ms < 10_000
    assert sandbox.stats.total.violations == 1


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("my-shop", "https://my-shop.myshopify.com"),
        ("My-Shop.myshopify.com", "https://my-shop.myshopify.com"),
        ("https://my-shop.myshopify.com/admin", "https://my-shop.myshopify.com"),
        ("http://my-shop.myshopify.com", "https://my-shop.myshopify.com"),
    ],
)
def test_addresses_of_shops(given: str, read: str) -> None:
    assert SHOPIFY.normalize_address(given) == read


def test_pieces_end_with_a_whole_product() -> None:
    lines = b'{"id":"gid://shopify/Product/1"}\n{"id":"gid://shopify/ProductVariant/2","__parentId":"x"}\n'
    assert bulk.split(lines, 0, "EUR", at_end=False) is None
    more = lines + b'{"id":"gid://shopify/Product/3"}\n{"id":"gid://sho'
    piece = bulk.split(more, 100, "EUR", at_end=False)
    assert piece is not None
    assert [one.id for one in piece.products] == ["1"]
    assert piece.next_offset == 100 + len(lines)
    with pytest.raises(Unavailable):
        bulk.split(more, 0, "EUR", at_end=True)


async def test_webhooks_are_believed_with_the_right_signature_only(
    sandbox: Sandbox, fetcher: Fetcher
) -> None:
    connection = call_to(sandbox, fetcher, "shopify").connection
    body = b'{"id": 632910392}'
    signed = base64.b64encode(hmac.digest(b"app-secret", body, hashlib.sha256)).decode()
    headers = {"x-shopify-hmac-sha256": signed, "x-shopify-topic": "products/delete"}
    with pytest.raises(NotAllowed):
        SHOPIFY.read_webhook(connection, headers, body)
    connection = replace(connection, credentials={"token": "t", "webhookSecret": "app-secret"})
    assert SHOPIFY.read_webhook(connection, headers, body) == ShopChange("deleted", "632910392")
    with pytest.raises(NotAllowed):
        SHOPIFY.read_webhook(connection, headers, body + b" ")
    other = headers | {"x-shopify-topic": "orders/create"}
    assert SHOPIFY.read_webhook(connection, other, body) is None


async def test_a_foreign_cursor_is_refused(sandbox: Sandbox, fetcher: Fetcher) -> None:
    call = call_to(sandbox, fetcher, "shopify")
    for cursor in ("nonsense", "[]", '{"kind": "other"}'):
        with pytest.raises(BadInput):
            await SHOPIFY.list(call, cursor)
