"""The Shopify provider: how products are listed, and how a list continues."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import orjson

from penstock.model.errors import BadInput, NotAllowed, NotThere
from penstock.model.network.fetching import FetchResponse
from penstock.providers.base import (
    CredentialField,
    ListPage,
    ProviderBase,
    ProviderCall,
    ShopChange,
    ShopConnection,
    ShopInfo,
    ShopProduct,
    base_url,
    read_cursor,
    server_time,
    time_or_none,
    write_cursor,
)
from penstock.providers.shopify import bulk, queries
from penstock.providers.shopify.graphql_mapping import product_of as product_of_graphql
from penstock.providers.shopify.graphql_mapping import with_rest
from penstock.providers.shopify.install import ShopifyInstall
from penstock.providers.shopify.requests import TITLE, graphql, next_page, rest
from penstock.providers.shopify.rest_mapping import product_of as product_of_rest
from penstock.providers.shopify.rules import WEIGHT_UNITS

# Above this number of products one file is faster than pages.
BULK_ABOVE = 250
_BULK_POLL_MS = 2000
_REST_PAGE = 100
_SEARCH_PAGE = 20
_SHOP_POINTS = 10
# The next incremental list looks back a little: products that were being saved meanwhile.
_OVERLAP = timedelta(minutes=2)
_SHOP_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
_PARTS = ("variants", "media")
_GID = "gid://shopify/Product/"
_CHANGES = {
    "products/create": "changed",
    "products/update": "changed",
    "products/delete": "deleted",
}


class Shopify(ProviderBase):
    key = "shopify"
    title = TITLE
    install = ShopifyInstall()
    credential_fields: Sequence[CredentialField] = (
        CredentialField(
            "token", "Admin API access token",
            help="Starts with shpat_. The app needs the scope read_products.",
        ),
        CredentialField(
            "webhookSecret", "App secret for webhooks", required=False,
            help="Only if the shop sends webhooks to Penstock.",
        ),
    )  # fmt: skip
    address_help = "The shop's address, like my-shop.myshopify.com"

    def normalize_address(self, address: str) -> str:
        given = address.strip().lower()
        if _SHOP_NAME.fullmatch(given):
            given = f"{given}.myshopify.com"
        url = base_url(given, example="my-shop.myshopify.com")
        host = url.partition("://")[2].partition("/")[0]
        if host.endswith(".myshopify.com"):
            return f"https://{host}"
        return url.removesuffix("/admin")

    async def test(self, call: ProviderCall) -> ShopInfo:
        try:
            data, _ = await graphql(call, queries.SHOP, {}, points=_SHOP_POINTS)
        except NotThere:
            return await self._test_rest(call)
        shop = data["shop"]
        count = (data.get("productsCount") or {}).get("count")
        return ShopInfo(
            str(shop["name"]), shop.get("currencyCode"), count,
            {"api": "graphql", "weightUnit": WEIGHT_UNITS.get(str(shop.get("weightUnit")))},
        )  # fmt: skip

    async def _test_rest(self, call: ProviderCall) -> ShopInfo:
        shop = await rest(call, "shop.json", {}, lambda _, body: body["shop"])
        count = await rest(call, "products/count.json", {}, lambda _, body: body["count"])
        return ShopInfo(str(shop["name"]), shop.get("currency"), count, {"api": "rest"})

    async def list(
        self, call: ProviderCall, cursor: str | None = None, since: datetime | None = None
    ) -> ListPage:
        state = read_cursor(cursor)
        match state.get("kind"):
            case None:
                return await self._first_page(call, since)
            case "page":
                return await self._page(call, state)
            case "bulk":
                return await self._bulk_page(call, state)
            case "rest":
                return await self._rest_page(call, state)
        raise BadInput("INVALID_PARAMETERS", "This is not a cursor of the product list.")

    async def _first_page(self, call: ProviderCall, since: datetime | None) -> ListPage:
        state: dict[str, Any] = {"since": since.isoformat() if since else None}
        if call.connection.details.get("api") == "rest":
            return await self._rest_page(call, state)
        try:
            page = await self._page(call, state)
        except NotThere:
            # A shop without GraphQL, whose connection was never tested.
            return await self._rest_page(call, state)
        if page.total is None or page.total <= BULK_ABOVE or page.next_cursor is None:
            return page
        operation = await bulk.start(call, _search(state))
        if operation is None:
            return page
        begun = read_cursor(page.next_cursor)
        cursor = write_cursor(**{**begun, "kind": "bulk", "id": operation, "after": None})
        return ListPage((), cursor, page.total, wait_ms=_BULK_POLL_MS)

    async def _page(self, call: ProviderCall, state: Mapping[str, Any]) -> ListPage:
        data, response = await graphql(
            call,
            queries.PRODUCTS,
            {
                "first": queries.PAGE_PRODUCTS,
                "after": state.get("after"),
                "query": _search(state),
                "variants": queries.PAGE_VARIANTS,
                "media": queries.PAGE_MEDIA,
            },
            points=queries.points(queries.PAGE_PRODUCTS, queries.PAGE_VARIANTS, queries.PAGE_MEDIA),
        )
        started = state.get("started") or server_time(response, call.now()).isoformat()
        found = data["products"]
        total = (data.get("productsCount") or {}).get("count")
        currency = _currency(data)
        products = [_listed(node, currency) for node in found["nodes"]]
        if not found["pageInfo"]["hasNextPage"]:
            return ListPage(products, None, total, _next_since(started))
        cursor = write_cursor(
            kind="page", after=found["pageInfo"]["endCursor"], since=state.get("since"),
            started=started, currency=currency,
        )  # fmt: skip
        return ListPage(products, cursor, total)

    async def _bulk_page(self, call: ProviderCall, state: Mapping[str, Any]) -> ListPage:
        """The address of the file is asked for each time: it is signed, and a cursor is stored."""
        found = await bulk.state_of(call, str(state["id"]))
        if found.running:
            return ListPage((), write_cursor(**state), found.products, wait_ms=_BULK_POLL_MS)
        if found.failed:
            return await self._page(call, {**state, "kind": "page"})
        if found.url is None:
            return ListPage((), None, 0, _next_since(state["started"]))
        piece = await bulk.read_piece(
            call, found.url, int(state.get("offset", 0)), state.get("currency")
        )
        if piece.next_offset is None:
            return ListPage(piece.products, None, found.products, _next_since(state["started"]))
        cursor = write_cursor(**{**state, "offset": piece.next_offset})
        return ListPage(piece.products, cursor, found.products)

    async def _rest_page(self, call: ProviderCall, state: Mapping[str, Any]) -> ListPage:
        query = {"limit": str(_REST_PAGE)}
        if state.get("page"):
            query["page_info"] = str(state["page"])
        elif state.get("since"):
            query["updated_at_min"] = str(state["since"])

        def read(response: FetchResponse, body: Any) -> tuple[list[Any], FetchResponse]:
            return body["products"], response

        found, response = await rest(call, "products.json", query, read)
        started = state.get("started") or server_time(response, call.now()).isoformat()
        currency = call.connection.details.get("currency")
        products = [product_of_rest(one, currency) for one in found]
        following = next_page(response)
        if following is None:
            return ListPage(products, None, None, _next_since(started))
        return ListPage(products, write_cursor(kind="rest", page=following, started=started))

    async def get(self, call: ProviderCall, product_id: str) -> ShopProduct:
        if not product_id.isdigit():
            raise NotThere("RESOURCE_NOT_FOUND", f"{TITLE} has no product {product_id[:100]!r}.")
        if call.connection.details.get("api") == "rest":
            currency = call.connection.details.get("currency")
            return await rest(
                call, f"products/{product_id}.json", {},
                lambda _, body: product_of_rest(body["product"], currency),
            )  # fmt: skip
        return await self._whole(call, product_id)

    async def complete(
        self, call: ProviderCall, products: Sequence[ShopProduct]
    ) -> Sequence[ShopProduct]:
        return [one if one.complete else await self._completed(call, one) for one in products]

    async def _completed(self, call: ProviderCall, listed: ShopProduct) -> ShopProduct:
        """Only what the list left out is asked for: variants and media cost points."""
        if listed.cursors:
            rest_of = await self._parts(call, listed.id, listed.cursors)
            if rest_of.updated_at == listed.updated_at:
                return with_rest(listed, rest_of)
            # It has changed since it was listed.
        return await self._whole(call, listed.id)

    async def _whole(self, call: ProviderCall, product_id: str) -> ShopProduct:
        return await self._parts(call, product_id, dict.fromkeys(_PARTS))

    async def _parts(
        self, call: ProviderCall, product_id: str, cursors: Mapping[str, str | None]
    ) -> ShopProduct:
        """A product with those of its parts that follow the cursors, all pages of them."""
        found: dict[str, list[Mapping[str, Any]]] = {name: [] for name in _PARTS}
        after = {name: cursors.get(name) for name in _PARTS}
        wanted = set(cursors)
        while True:
            # A query cannot leave a part out, but one more of it costs little.
            first = {name: queries.MORE if name in wanted else 1 for name in _PARTS}
            data, _ = await graphql(
                call,
                queries.PRODUCT,
                {
                    "id": _GID + product_id, **first,
                    "variantsAfter": after["variants"], "mediaAfter": after["media"],
                },
                points=queries.points(1, first["variants"], first["media"]),
            )  # fmt: skip
            node = data.get("product")
            if node is None:
                raise NotThere("RESOURCE_NOT_FOUND", f"{TITLE} has no product {product_id}.")
            for name in list(wanted):
                found[name] += node[name]["nodes"]
                info = node[name]["pageInfo"]
                after[name] = info["endCursor"] or after[name]
                if not info["hasNextPage"]:
                    wanted.remove(name)
            if not wanted:
                return product_of_graphql(node, found["variants"], found["media"], _currency(data))

    async def search(
        self, call: ProviderCall, text: str = "", cursor: str | None = None
    ) -> ListPage:
        state = read_cursor(cursor)
        if call.connection.details.get("api") == "rest":
            return await self._rest_page(call, state)
        data, _ = await graphql(
            call,
            queries.PRODUCTS,
            {
                "first": _SEARCH_PAGE, "after": state.get("after"), "query": _escaped(text),
                "variants": 1, "media": 1,
            },
            points=queries.points(_SEARCH_PAGE, 1, 1),
        )  # fmt: skip
        found = data["products"]
        info = found["pageInfo"]
        following = write_cursor(after=info["endCursor"]) if info["hasNextPage"] else None
        total = (data.get("productsCount") or {}).get("count")
        products = [_listed(node, _currency(data)) for node in found["nodes"]]
        return ListPage(products, following, total)

    def read_webhook(
        self, connection: ShopConnection, headers: Mapping[str, str], body: bytes
    ) -> ShopChange | None:
        secret = connection.credentials.get("webhookSecret", "")
        signed = base64.b64encode(hmac.digest(secret.encode(), body, hashlib.sha256)).decode()
        given = headers.get("x-shopify-hmac-sha256", "")
        if not secret or not hmac.compare_digest(signed.encode(), given.encode()):
            raise NotAllowed("AUTHENTICATION_FAILED", "The signature of this webhook is wrong.")
        kind = _CHANGES.get(headers.get("x-shopify-topic", ""))
        if kind is None:
            return None
        product_id = str(orjson.loads(body)["id"])
        return ShopChange("deleted" if kind == "deleted" else "changed", product_id)


def _listed(node: Mapping[str, Any], currency: str | None) -> ShopProduct:
    infos = {name: node[name]["pageInfo"] for name in _PARTS}
    cursors = {name: str(one["endCursor"]) for name, one in infos.items() if one["hasNextPage"]}
    return product_of_graphql(
        node, node["variants"]["nodes"], node["media"]["nodes"], currency, cursors
    )


def _currency(data: Mapping[str, Any]) -> str | None:
    return (data.get("shop") or {}).get("currencyCode")


def _search(state: Mapping[str, Any]) -> str | None:
    since = time_or_none(state.get("since"))
    return f"updated_at:>='{since.isoformat()}'" if since else None


def _escaped(text: str) -> str | None:
    """Words to search for, without the operators of Shopify's search."""
    words = re.sub(r"[^\w\s.-]+", " ", text).split()
    return " ".join(words) or None


def _next_since(started: str) -> datetime | None:
    begun = time_or_none(started)
    return begun - _OVERLAP if begun else None
