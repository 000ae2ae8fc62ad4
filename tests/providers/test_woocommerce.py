"""Variations of WooCommerce: of many products at once, or product by product from older shops."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from tests.conformance.test_providers import everything
from tests.providers.sandboxes import call_to, loopback_fetcher, serving_sandbox

from penstock.guards.fetch import Fetcher
from penstock.providers.base import ShopProduct
from penstock.providers.sandbox.server import Sandbox
from penstock.providers.woocommerce.provider import WooCommerce

WOO = WooCommerce()


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with serving_sandbox(products=60, seed=3) as made:
        yield made


@pytest.fixture
async def fetcher() -> AsyncIterator[Fetcher]:
    async with loopback_fetcher() as made:
        yield made


def listed(number: int, variations: int) -> ShopProduct:
    ids = ",".join(str(number * 1000 + place) for place in range(variations))
    return ShopProduct(
        str(number), f"Product {number}", complete=False,
        provider_ids={"variations": ids} if ids else {},
    )  # fmt: skip


async def test_variations_of_a_page_take_few_requests(sandbox: Sandbox, fetcher: Fetcher) -> None:
    found = await everything(WOO, call_to(sandbox, fetcher, "woocommerce"))
    shop = sandbox.shop("woocommerce")
    assert [[v.sku for v in one.variants] for one in found] == [
        [v.sku for v in made.variants] for made in shop.products()
    ]
    assert all(one.complete and not one.provider_ids for one in found)
    variations = sum(len(made.variants) for made in shop.products() if made.has_options)
    # The shop's units take two requests, the look for the list of variations and the page one each.
    assert sandbox.stats.total.calls <= 4 + 2 * variations / 100 + 1


async def test_an_older_shop_is_asked_product_by_product(
    sandbox: Sandbox, fetcher: Fetcher
) -> None:
    shop = sandbox.shop("woocommerce", "old-p60")
    found = await everything(WOO, call_to(sandbox, fetcher, "woocommerce", "old-p60"))
    assert [[v.sku for v in one.variants] for one in found] == [
        [v.sku for v in made.variants] for made in shop.products()
    ]
    variable = sum(made.has_options for made in shop.products())
    assert sandbox.stats.total.calls == 4 + variable


async def test_the_test_of_a_connection_finds_the_list_of_variations(
    sandbox: Sandbox, fetcher: Fetcher
) -> None:
    new = await WOO.test(call_to(sandbox, fetcher, "woocommerce"))
    old = await WOO.test(call_to(sandbox, fetcher, "woocommerce", "old"))
    assert (new.details["listsVariations"], old.details["listsVariations"]) == (True, False)


@pytest.mark.parametrize(
    ("sizes", "groups"),
    [
        ([], []),
        ([40, 40, 20, 1], [3, 1]),
        ([99, 2], [1, 1]),
        # More than a page holds, and unknown ones, are asked for alone.
        ([10, 150, 10], [1, 1, 1]),
        ([10, 0, 10, 10], [1, 1, 2]),
    ],
)
def test_products_share_a_request_if_their_variations_fit_on_a_page(
    sizes: list[int], groups: list[int]
) -> None:
    products = [listed(number, size) for number, size in enumerate(sizes, 1)]
    found = WOO.batches(products)
    assert [len(some) for some in found] == groups
    assert [one for some in found for one in some] == products
