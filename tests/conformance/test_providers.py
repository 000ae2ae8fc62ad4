"""Every registered provider against the sandbox: what the contract promises holds for each."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from tests.providers.sandboxes import DirectCall, call_to, loopback_fetcher, serving_sandbox

from penstock.guards.fetch import Fetcher
from penstock.model.errors import (
    NotAllowed,
    NotThere,
    PenstockError,
    RateLimited,
    TransientError,
    Unavailable,
)
from penstock.providers.base import ListPage, Provider, ShopProduct
from penstock.providers.registry import PROVIDERS
from penstock.providers.sandbox.faults import FaultPlan
from penstock.providers.sandbox.server import Sandbox

pytestmark = pytest.mark.parametrize("provider", PROVIDERS, ids=lambda one: one.key)
SIZE = 37


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with serving_sandbox(products=SIZE, seed=3) as made:
        yield made


@pytest.fixture
async def fetcher() -> AsyncIterator[Fetcher]:
    async with loopback_fetcher() as made:
        yield made


async def all_pages(provider: Provider, call: DirectCall, **first: Any) -> list[ListPage]:
    pages = [await provider.list(call, **first)]
    while pages[-1].next_cursor is not None:
        pages.append(await provider.list(call, pages[-1].next_cursor))
    return pages


async def everything(provider: Provider, call: DirectCall, **first: Any) -> list[ShopProduct]:
    listed = [one for page in await all_pages(provider, call, **first) for one in page.products]
    whole = {one.id: one for one in listed if one.complete}
    for some in provider.batches([one for one in listed if not one.complete]):
        whole |= {one.id: one for one in await provider.complete(call, some)}
    return [whole[one.id] for one in listed]


async def test_the_address_is_stable(provider: Provider, sandbox: Sandbox) -> None:
    base = sandbox.shop(provider.key).base
    assert provider.normalize_address(base) == base
    assert provider.normalize_address(f" {base}/ ") == base


async def test_a_test_names_the_shop_and_its_currency(
    provider: Provider, sandbox: Sandbox, fetcher: Fetcher
) -> None:
    info = await provider.test(call_to(sandbox, fetcher, provider.key))
    assert info.name
    assert info.currency in ("EUR", "USD")
    assert info.products in (None, SIZE)


async def test_a_list_has_every_product_once_and_complete(
    provider: Provider, sandbox: Sandbox, fetcher: Fetcher
) -> None:
    call = call_to(sandbox, fetcher, provider.key)
    found = await everything(provider, call)
    made = [sandbox.shop(provider.key).product(number) for number in range(1, SIZE + 1)]
    assert [one.title for one in found] == [one.title for one in made if one]
    assert len({one.id for one in found}) == SIZE
    for product, origin in zip(found, made, strict=True):
        assert origin is not None
        assert product.complete
        assert [v.sku for v in product.variants] == [v.sku for v in origin.variants]
        assert [v.price for v in product.variants] == [
            v.price.quantize(Decimal("0.01")) for v in origin.variants
        ]
        assert len(product.images) == len(origin.pictures)
        assert product.currency
    assert sandbox.stats.total.violations == 0
    assert sandbox.stats.total.repeated == 0


async def test_get_gives_what_the_list_gives(
    provider: Provider, sandbox: Sandbox, fetcher: Fetcher
) -> None:
    call = call_to(sandbox, fetcher, provider.key)
    found = await everything(provider, call)
    largest = max(found, key=lambda one: len(one.variants))
    got = await provider.get(call, largest.id)
    assert replace(got, provider_ids={}) == replace(largest, provider_ids={})


async def test_products_survive_the_input_of_an_item(
    provider: Provider, sandbox: Sandbox, fetcher: Fetcher
) -> None:
    for one in await everything(provider, call_to(sandbox, fetcher, provider.key)):
        assert ShopProduct.from_json(one.as_json()) == one


async def test_an_unknown_product_is_not_there(
    provider: Provider, sandbox: Sandbox, fetcher: Fetcher
) -> None:
    call = call_to(sandbox, fetcher, provider.key)
    for unknown in ("999999999999", "../admin", "a b", ""):
        with pytest.raises(NotThere):
            await provider.get(call, unknown)


async def test_wrong_credentials_are_refused(
    provider: Provider, sandbox: Sandbox, fetcher: Fetcher
) -> None:
    call = call_to(sandbox, fetcher, provider.key)
    wrong = {one.name: "wrong-credential" for one in provider.credential_fields}
    call.connection = replace(call.connection, credentials=wrong)
    for asked in (provider.test(call), provider.list(call), provider.get(call, "7000000001")):
        with pytest.raises(NotAllowed) as told:
            await asked
        assert told.value.code == "AUTHENTICATION_FAILED"
        assert "wrong-credential" not in str(told.value)


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("429", RateLimited),
        ("500", Unavailable),
        ("reset", Unavailable),
        ("truncated", Unavailable),
        ("malformed", Unavailable),
        ("expired", NotAllowed),
    ],
)
async def test_faults_have_their_class(
    provider: Provider, sandbox: Sandbox, fetcher: Fetcher, kind: str,
    error: type[PenstockError],
) -> None:  # fmt: skip
    call = call_to(sandbox, fetcher, provider.key)
    sandbox.faults.plan = FaultPlan(1.0, (kind,))
    with pytest.raises(error) as told:
        await provider.list(call)
    assert isinstance(told.value, TransientError) == (kind != "expired")
    if kind == "429":
        assert told.value.retry_after_ms == 1000
    # The same call succeeds once the fault is gone.
    sandbox.faults.plan = FaultPlan()
    assert await provider.list(call)


async def test_since_lists_only_changed_products(
    provider: Provider, sandbox: Sandbox, fetcher: Fetcher
) -> None:
    call = call_to(sandbox, fetcher, provider.key)
    pages = await all_pages(provider, call)
    if not provider.incremental:
        assert pages[-1].next_since is None
        return
    assert all(page.next_since is None for page in pages[:-1])
    since = pages[-1].next_since
    assert since is not None
    assert abs(datetime.now(UTC) - since) < timedelta(minutes=5)
    assert await everything(provider, call, since=since) == []
    sandbox.shop(provider.key).changed_at |= dict.fromkeys((4, 9), datetime.now(UTC))
    changed = await everything(provider, call, since=since)
    first = sandbox.shop(provider.key).product(4)
    assert first is not None
    assert [one.title for one in changed][:1] == [first.title]
    assert len(changed) == 2


async def test_a_search_finds_products_for_a_picker(
    provider: Provider, sandbox: Sandbox, fetcher: Fetcher
) -> None:
    call = call_to(sandbox, fetcher, provider.key)
    first = sandbox.shop(provider.key).product(1)
    assert first is not None
    word = first.title.split()[0]
    found: list[ShopProduct] = []
    cursor = None
    while True:
        page = await provider.search(call, word, cursor)
        found += page.products
        cursor = page.next_cursor
        if cursor is None:
            break
    assert first.title in [one.title for one in found]
    assert all(word in one.title for one in found)


async def test_credentials_leave_only_towards_the_shop(
    provider: Provider, sandbox: Sandbox, fetcher: Fetcher
) -> None:
    call = call_to(sandbox, fetcher, provider.key)
    await everything(provider, call)
    for request in call.sent:
        assert request.url.startswith(call.connection.address)
        assert request.limits.hops == 0
        assert not any(secret in request.url for secret in call.connection.credentials.values()
                       if not secret.startswith("ck_"))  # fmt: skip
