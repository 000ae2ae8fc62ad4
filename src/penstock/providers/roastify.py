"""Roastify: coffee with the merchant's own label (https://docs.roastify.app)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from penstock.model.errors import NotThere
from penstock.model.network.fetching import FetchRequest
from penstock.providers.base import (
    LIMITS,
    CredentialField,
    ListPage,
    ProviderBase,
    ProviderCall,
    ShopImage,
    ShopInfo,
    ShopOption,
    ShopProduct,
    ShopVariant,
    base_url,
    read_answer,
    read_cursor,
    text_or_none,
    time_or_none,
    write_cursor,
)

TITLE = "Roastify"
T = TypeVar("T")
_ADDRESS = "https://api.roastify.app"
_PAGE = 100
_SEARCH_PAGE = 20
_CENT = Decimal("0.01")
_CURRENCY = "USD"
# The documented value for a stock without end.
_UNLIMITED = 999


class Roastify(ProviderBase):
    """Prices are US cents. Lists contain no variants, and cannot be limited to changed products."""

    key = "roastify"
    title = TITLE
    incremental = False
    credential_fields: Sequence[CredentialField] = (
        CredentialField("apiKey", "API key", help="Starts with rty_live_ or rty_test_."),
    )
    address_help = f"Leave empty for {_ADDRESS}"

    def normalize_address(self, address: str) -> str:
        return base_url(address.strip() or _ADDRESS, example=_ADDRESS).removesuffix("/v1")

    async def test(self, call: ProviderCall) -> ShopInfo:
        await _ask(call, "/v1/products", {"pageSize": "1"}, lambda body: body["products"])
        return ShopInfo(TITLE, _CURRENCY)

    async def list(
        self, call: ProviderCall, cursor: str | None = None, since: datetime | None = None
    ) -> ListPage:
        return await self._page(call, cursor, _PAGE)

    async def search(
        self, call: ProviderCall, text: str = "", cursor: str | None = None
    ) -> ListPage:
        """There is no search: the titles of each page are compared."""
        page = await self._page(call, cursor, _PAGE if text else _SEARCH_PAGE)
        words = text.casefold().split()
        found = [one for one in page.products if all(w in one.title.casefold() for w in words)]
        return ListPage(found, page.next_cursor)

    async def _page(self, call: ProviderCall, cursor: str | None, size: int) -> ListPage:
        after = read_cursor(cursor).get("after")
        query = {"pageSize": str(size)} | ({"cursor": str(after)} if after else {})
        body = await _ask(call, "/v1/products", query, lambda body: body)
        info = body["pageInfo"]
        following = write_cursor(after=info["endCursor"]) if info["hasNextPage"] else None
        # A list that contains the variants needs no further requests.
        found = [product_of(one, complete=bool(one.get("variants"))) for one in body["products"]]
        return ListPage(found, following)

    async def get(self, call: ProviderCall, product_id: str) -> ShopProduct:
        if not product_id.isascii() or not product_id.isalnum():
            raise NotThere("RESOURCE_NOT_FOUND", f"{TITLE} has no product {product_id[:100]!r}.")
        return await _ask(
            call, f"/v1/products/{quote(product_id)}", {},
            lambda body: product_of(body, complete=True),
        )  # fmt: skip

    async def complete(
        self, call: ProviderCall, products: Sequence[ShopProduct]
    ) -> Sequence[ShopProduct]:
        return [one if one.complete else await self.get(call, one.id) for one in products]


async def _ask(
    call: ProviderCall, path: str, query: Mapping[str, str], read: Callable[[Any], T]
) -> T:
    asked = f"?{urlencode(query)}" if query else ""
    request = FetchRequest(
        f"{call.connection.address}{path}{asked}",
        headers={"x-api-key": call.connection.credentials["apiKey"], "Accept": "application/json"},
        limits=LIMITS,
    )

    return await call.send(
        request, lambda answer: read_answer(answer, TITLE, lambda _, body: read(body))
    )


def product_of(told: Mapping[str, Any], *, complete: bool) -> ShopProduct:
    variants = tuple(_variant(one) for one in told.get("variants") or ())
    urls = [one["url"] for one in told.get("images") or () if one.get("url")]
    if told.get("imageUrl"):
        urls.insert(0, told["imageUrl"])
    created = time_or_none(told.get("createdAt"))
    return ShopProduct(
        id=str(told["id"]),
        title=str(told.get("title") or ""),
        variants=variants,
        images=tuple(
            ShopImage(url, position=place) for place, url in enumerate(dict.fromkeys(urls), 1)
        ),
        options=_options(variants),
        description=str(told.get("description") or ""),
        product_type=text_or_none(told.get("productType")),
        currency=_CURRENCY,
        created_at=created,
        updated_at=time_or_none(told.get("updatedAt")) or created,
        complete=complete,
    )


def _variant(told: Mapping[str, Any]) -> ShopVariant:
    cents, quantity = told.get("retailPrice"), told.get("stockQty")
    named = {"Style": told.get("title"), "Size": told.get("size"), "Color": told.get("color")}
    options = {name: str(value) for name, value in named.items() if value}
    return ShopVariant(
        id=str(told["id"]),
        title=" / ".join(options.values()),
        sku=text_or_none(told.get("sku")),
        price=None if cents is None else (Decimal(str(cents)) * _CENT).quantize(_CENT),
        stock=None if quantity == _UNLIMITED else quantity,
        stock_status="in_stock" if told.get("inStock") else "out_of_stock",
        options=options,
    )


def _options(variants: Sequence[ShopVariant]) -> tuple[ShopOption, ...]:
    values: dict[str, dict[str, None]] = {}
    for variant in variants:
        for name, value in variant.options.items():
            values.setdefault(name, {})[value] = None
    return tuple(ShopOption(name, tuple(found)) for name, found in values.items())
