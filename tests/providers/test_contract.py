"""The shapes that providers and pipelines share, and how answers become errors."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from uuid import uuid4

import orjson
import pytest

from penstock.model.errors import BadInput, NotAllowed, NotThere, RateLimited, Unavailable
from penstock.model.network.fetching import FetchResponse
from penstock.providers.base import (
    ShopConnection,
    ShopImage,
    ShopOption,
    ShopProduct,
    ShopVariant,
    base_url,
    classify_status,
    decimal_or_none,
    read_json,
    time_or_none,
)

FULL = ShopProduct(
    "7", "Coat",
    variants=(
        ShopVariant(
            "8", "Red / M", "C-R-M", "4006381333931", Decimal("19.90"), Decimal("25.00"), 3,
            "in_stock", {"Color": "Red", "Size": "M"}, Decimal("1.25"), "kg",
            {"length": Decimal("10")}, "cm", "https://x.example/red.png",
            datetime(2026, 1, 2, tzinfo=UTC),
        ),
        ShopVariant("9"),
    ),
    images=(ShopImage("https://x.example/red.png", "1", "Red coat", 1, 800, 600, ("8",)),),
    options=(ShopOption("Color", ("Red",)), ShopOption("Size", ("M",))),
    description="<p>Warm</p>", status="draft", vendor="Acme", product_type="Coats",
    categories=("Clothing > Coats",), tags=("warm",), currency="EUR", handle="coat",
    url="https://x.example/coat", created_at=datetime(2026, 1, 1, tzinfo=UTC),
    updated_at=datetime(2026, 1, 2, tzinfo=UTC), complete=False,
    provider_ids={"graphql": "gid://shopify/Product/7"}, units={"weight": "kg"},
)  # fmt: skip


def answer(
    status: int, body: bytes = b"", headers: Sequence[tuple[str, str]] = ()
) -> FetchResponse:
    return FetchResponse(status, headers, body, "https://x.example/", 1)


@pytest.mark.parametrize("product", [FULL, ShopProduct("1", "Cup")])
def test_a_product_survives_the_input_of_an_item(product: ShopProduct) -> None:
    stored = orjson.loads(orjson.dumps(product.as_json()))
    assert ShopProduct.from_json(stored) == product


def test_an_item_of_a_newer_version_can_be_read() -> None:
    assert ShopProduct.from_json({"id": "1", "title": "Cup", "later": 1}) == ShopProduct("1", "Cup")


def test_empty_values_are_not_stored() -> None:
    assert ShopProduct("1", "Cup").as_json() == {"id": "1", "title": "Cup"}


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        (401, NotAllowed, "AUTHENTICATION_FAILED"),
        (402, NotAllowed, "ACCOUNT_SUSPENDED"),
        (403, NotAllowed, "INSUFFICIENT_PERMISSIONS"),
        (404, NotThere, "RESOURCE_NOT_FOUND"),
        (408, Unavailable, "API_TIMEOUT"),
        (422, BadInput, "INVALID_PARAMETERS"),
        (429, RateLimited, "API_RATE_LIMIT"),
        (302, BadInput, "INVALID_PARAMETERS"),
        (500, Unavailable, "SERVICE_UNAVAILABLE"),
        (503, Unavailable, "SERVICE_UNAVAILABLE"),
        (504, Unavailable, "API_TIMEOUT"),
    ],
)
def test_statuses_become_errors(status: int, kind: type[Exception], code: str) -> None:
    error = classify_status(answer(status), "Shop")
    assert isinstance(error, kind)
    assert error is not None
    assert error.code == code


def test_a_success_is_no_error_and_retry_after_is_kept() -> None:
    assert classify_status(answer(204), "Shop") is None
    error = classify_status(answer(429, headers=[("retry-after", "3")]), "Shop")
    assert error is not None
    assert error.retry_after_ms == 3000


def test_a_body_that_is_cut_off_is_the_servers_error() -> None:
    with pytest.raises(Unavailable):
        read_json(answer(200, b'{"products": [{"id'), "Shop")


def test_numbers_and_times_that_are_none_are_left_out() -> None:
    assert decimal_or_none("19.90") == Decimal("19.90")
    assert [decimal_or_none(one) for one in ("", None, "free", True, "NaN")] == [None] * 5
    assert time_or_none("2017-03-23T20:01:14") == datetime(2017, 3, 23, 20, 1, 14, tzinfo=UTC)
    assert [time_or_none(one) for one in ("", None, "soon", 3)] == [None] * 4


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("shop.example", "https://shop.example"),
        (" http://Shop.example:8080/wp/ ", "http://shop.example:8080/wp"),
    ],
)
def test_addresses_are_normalized(given: str, read: str) -> None:
    assert base_url(given, example="x") == read


@pytest.mark.parametrize(
    "given", ["", "ftp://x.example", "https://a:b@x.example", "https://[", "x?y"]
)
def test_addresses_that_are_none_are_refused(given: str) -> None:
    with pytest.raises(BadInput):
        base_url(given, example="shop.example")


def test_a_connection_names_its_source_and_hides_its_credentials() -> None:
    one = ShopConnection(
        uuid4(), 1, "woocommerce", "https://shop.example/wp", {"secret": "cs_1234567890"}
    )
    assert one.source == "woocommerce:shop.example/wp"
    assert one.domain == "shop.example/wp"
    assert "cs_1234567890" not in repr(one)
