"""The list of products: filters, orders, and the values that filters can be set to."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest
from tests.api.conftest import refused, shaped
from tests.api.test_product_links import decide
from tests.api.test_products import applied, listed, skus
from tests.fixtures import Bench

from penstock.api.catalog.product_filters import ProductFilters
from penstock.store.catalog import filter_values as store

HEAD = "SKU;Title;Brand;Category;Price;EAN\n"
ACME = (
    f"{HEAD}A-1;Äxe;Bahco;Tools > Axes;30 EUR;4006381333931\nA-2;Hammer;Hultafors;Tools;9.90 EUR;\n"
    "A-3;apron;bahco;Clothes;100 EUR;\nA-4;Zip bag;;;;\n"
).encode()
BOLT = f"{HEAD}B-1;Bolt;Wurth;Fixings;0.10 USD;4006381333931\nB-2;Éclair;Wurth;;5 EUR;\n".encode()


async def both(client: httpx2.AsyncClient, bench: Bench) -> tuple[str, str]:
    acme = await applied(client, bench, ACME, source="acme")
    return acme, await applied(client, bench, BOLT, source="bolt")


async def filters(client: httpx2.AsyncClient, **query: Any) -> ProductFilters:
    return shaped(ProductFilters, await client.get("/api/products/filters", params=query))


def counts(values: Any) -> dict[str, int]:
    return {one.value: one.count for one in values}


async def test_orders_and_filters(client: httpx2.AsyncClient, bench: Bench) -> None:
    acme, _ = await both(client, bench)
    by_title = ["A-3", "A-1", "B-1", "B-2", "A-2", "A-4"]
    by_price = ["B-1", "B-2", "A-2", "A-1", "A-3", "A-4"]
    for size in (1, 2, 50):
        assert await skus(client, sort="title", pageSize=size) == by_title
        assert await skus(client, sort="-title", pageSize=size) == by_title[::-1]
        assert await skus(client, sort="price", pageSize=size) == by_price
        # Products without a price come last in both directions.
        assert await skus(client, sort="-price", pageSize=size) == [*by_price[4::-1], "A-4"]
        assert await skus(client, sort="updated", pageSize=size) == (await skus(client))[::-1]
    assert await skus(client, sort="price", source="acme", brand="BAHCO") == ["A-1", "A-3"]
    assert await skus(client, sort="title", category="Tools") == ["A-1", "A-2"]
    assert await skus(client, category="Tool") == []
    assert await skus(client, sort="title", jobId=acme, q="a") == ["A-3", "A-1", "A-2", "A-4"]
    assert await skus(client, sort="-price", jobId=acme, pageSize=1) == ["A-3", "A-1", "A-2", "A-4"]
    refused(await client.get("/api/products?sort=colour"), 422, "INVALID_PARAMETERS")
    page = (await client.get("/api/products?sort=price&pageSize=1")).json()
    other = await client.get("/api/products", params={"sort": "title", "after": page["next"]})
    assert other.status_code == 400
    ids = {one.sku: one.id for one in await listed(client)}
    await decide(client, "accept", (ids["A-1"], ids["B-1"]))
    assert await skus(client, linked="true", sort="title") == ["A-1", "B-1"]
    assert len(await skus(client, linked="false")) == 4


async def test_values_of_filters(
    client: httpx2.AsyncClient, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    await both(client, bench)
    found = await filters(client)
    assert counts(found.sources) == {"acme": 4, "bolt": 2}
    assert counts(found.brands) == {"Bahco": 1, "bahco": 1, "Hultafors": 1, "Wurth": 2}
    assert counts(found.statuses) == {"published": 6}
    assert (found.complete, found.looked_at) == (True, 6)
    assert not any(one.more for one in found.sources)
    # Each filter is counted among the products that pass the others.
    found = await filters(client, source="acme", brand="Bahco")
    assert counts(found.sources) == {"acme": 2, "bolt": 0}
    assert counts(found.brands) == {"Bahco": 1, "bahco": 1, "Hultafors": 1}
    assert counts(found.categories) == {"Tools > Axes": 1, "Clothes": 1}
    assert counts((await filters(client, q="hammer")).categories) == {"Tools": 1}
    # A large catalog is counted up to a bound, and says so.
    monkeypatch.setattr(store, "MOST_COUNTED", 3)
    monkeypatch.setattr(store, "_WINDOW", 2)
    monkeypatch.setattr(store, "_MOST_LOOKED_AT", 4)
    found = await filters(client)
    assert (found.complete, found.looked_at) == (False, 4)
    assert [(one.value, one.count, one.more) for one in found.sources] == [
        ("acme", 3, True), ("bolt", 2, False),
    ]  # fmt: skip
    assert all(one.more for one in found.statuses)
