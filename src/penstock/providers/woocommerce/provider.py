"""The WooCommerce provider."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, TypeVar
from urllib.parse import urlencode

import orjson

from penstock.model.errors import BadInput, NotAllowed, NotThere, Unavailable
from penstock.model.network.fetching import FetchRequest, FetchResponse
from penstock.providers.base import (
    LIMITS,
    CredentialField,
    ListPage,
    ProviderBase,
    ProviderCall,
    ShopChange,
    ShopConnection,
    ShopInfo,
    ShopProduct,
    base_url,
    read_answer,
    read_cursor,
    server_time,
    time_or_none,
    write_cursor,
)
from penstock.providers.woocommerce.mapping import Units, product_of
from penstock.providers.woocommerce.signing import basic, signed_query

TITLE = "WooCommerce"
T = TypeVar("T")
_API = "/wp-json/wc/v3"
_PAGE = 100
_SEARCH_PAGE = 20
_OVERLAP = timedelta(minutes=2)
# WooCommerce 10.3 and later list the variations of all products; before, each product has a list.
_LISTS_VARIATIONS = "listsVariations"
_VARIATIONS = "variations"
_CHANGES = {
    "product.created": "changed",
    "product.updated": "changed",
    "product.restored": "changed",
    "product.deleted": "deleted",
}


class WooCommerce(ProviderBase):
    key = "woocommerce"
    title = TITLE
    signs_requests = True
    credential_fields: Sequence[CredentialField] = (
        CredentialField(
            "consumerKey", "Consumer key",
            help="WooCommerce > Settings > Advanced > REST API. Read permission is enough.",
        ),
        CredentialField("consumerSecret", "Consumer secret"),
        CredentialField(
            "webhookSecret", "Webhook secret", required=False,
            help="Only if the shop sends webhooks to Penstock.",
        ),
    )  # fmt: skip
    address_help = "The address of the WordPress site, like https://shop.example"

    def normalize_address(self, address: str) -> str:
        return base_url(address, example="https://shop.example").removesuffix(_API)

    async def test(self, call: ProviderCall) -> ShopInfo:
        total = await _ask(call, "/products", {"per_page": "1"}, lambda answer, _: _total(answer))
        units = await _ask_units(call)
        host = call.connection.domain
        details = {
            "weightUnit": units.weight, "dimensionUnit": units.length,
            _LISTS_VARIATIONS: await _asked_for_variations(call),
        }  # fmt: skip
        return ShopInfo(host, units.currency, total, details)

    async def list(
        self, call: ProviderCall, cursor: str | None = None, since: datetime | None = None
    ) -> ListPage:
        state = read_cursor(cursor)
        if not state:
            units = await _units(call)
            state = {
                "currency": units.currency, "weight": units.weight, "length": units.length,
                "since": since.isoformat() if since else None,
                _LISTS_VARIATIONS: await _lists_variations(call),
            }  # fmt: skip
        page = int(state.get("page", 1))
        query = {"page": str(page), "per_page": str(_PAGE), "orderby": "id", "order": "asc"}
        if state.get("since"):
            query |= {"modified_after": str(state["since"]), "dates_are_gmt": "true"}
        units = Units(state.get("currency"), state.get("weight"), state.get("length"))
        products, response = await _products(
            call, query, units, with_ids=bool(state.get(_LISTS_VARIATIONS))
        )
        started = state.get("started") or server_time(response, call.now()).isoformat()
        if page >= _pages(response) or not products:
            begun = time_or_none(started)
            return ListPage(products, None, _total(response), begun and begun - _OVERLAP)
        cursor = write_cursor(**{**state, "page": page + 1, "started": started})
        return ListPage(products, cursor, _total(response))

    async def get(self, call: ProviderCall, product_id: str) -> ShopProduct:
        if not product_id.isdigit():
            raise NotThere("RESOURCE_NOT_FOUND", f"{TITLE} has no product {product_id[:100]!r}.")
        units = await _units(call)
        told = await _ask(call, f"/products/{product_id}", {}, lambda _, body: body)
        variations = None
        if told.get("type") == "variable":
            variations = await _variations(call, product_id)
        return product_of(told, units, variations)

    def batches(self, products: Sequence[ShopProduct]) -> Sequence[Sequence[ShopProduct]]:
        """Together as many as have their variations on one page."""
        found: list[list[ShopProduct]] = []
        room = 0
        for one in products:
            count = len(_variation_ids(one))
            if not 0 < count <= room:
                found.append([])
                # Unknown or too many: this product is asked for by itself.
                room = _PAGE if 0 < count <= _PAGE else 0
            found[-1].append(one)
            room -= count
        return found

    async def complete(
        self, call: ProviderCall, products: Sequence[ShopProduct]
    ) -> Sequence[ShopProduct]:
        """Only the variations are missing, so only they are asked for."""
        ids = [name for one in products for name in _variation_ids(one)]
        if 0 < len(ids) <= _PAGE:
            found = await _listed_variations(call, ids)
            return [_with_variations(one, found.get(one.id, ())) for one in products]
        return [
            one if one.complete else _with_variations(one, await _variations(call, one.id))
            for one in products
        ]

    async def search(
        self, call: ProviderCall, text: str = "", cursor: str | None = None
    ) -> ListPage:
        page = int(read_cursor(cursor).get("page", 1))
        query = {"page": str(page), "per_page": str(_SEARCH_PAGE)}
        if text.strip():
            query["search"] = text.strip()
        units = Units(call.connection.details.get("currency"))
        products, response = await _products(call, query, units)
        following = write_cursor(page=page + 1) if page < _pages(response) else None
        return ListPage(products, following, _total(response))

    def read_webhook(
        self, connection: ShopConnection, headers: Mapping[str, str], body: bytes
    ) -> ShopChange | None:
        secret = connection.credentials.get("webhookSecret", "")
        signed = base64.b64encode(hmac.digest(secret.encode(), body, hashlib.sha256)).decode()
        given = headers.get("x-wc-webhook-signature", "")
        if not secret or not hmac.compare_digest(signed.encode(), given.encode()):
            raise NotAllowed("AUTHENTICATION_FAILED", "The signature of this webhook is wrong.")
        kind = _CHANGES.get(headers.get("x-wc-webhook-topic", ""))
        if kind is None:
            return None
        return ShopChange(
            "deleted" if kind == "deleted" else "changed", str(orjson.loads(body)["id"])
        )


async def _ask(
    call: ProviderCall, path: str, query: Mapping[str, str],
    read: Callable[[FetchResponse, Any], T],
) -> T:  # fmt: skip
    """What ``read`` makes of the answer and its JSON."""
    return await call.send(
        _request(call, path, query), lambda answer: read_answer(answer, TITLE, read)
    )


def _request(call: ProviderCall, path: str, query: Mapping[str, str]) -> FetchRequest:
    url = f"{call.connection.address}{_API}{path}"
    key = call.connection.credentials["consumerKey"]
    secret = call.connection.credentials["consumerSecret"]
    headers = {"Accept": "application/json"}
    if url.startswith("https://"):
        headers["Authorization"] = basic(key, secret)
        asked = urlencode(query)
    else:
        asked = signed_query("GET", url, query, key, secret, call.now())
    return FetchRequest(f"{url}?{asked}" if asked else url, headers=headers, limits=LIMITS)


async def _products(
    call: ProviderCall, query: Mapping[str, str], units: Units, *, with_ids: bool = False
) -> tuple[list[ShopProduct], FetchResponse]:
    """``with_ids``: products name their variations, to ask for those of many products at once."""

    def read(response: FetchResponse, body: Any) -> tuple[list[ShopProduct], FetchResponse]:
        if not isinstance(body, list):
            raise Unavailable("SERVICE_UNAVAILABLE", f"{TITLE} sent an answer that is no list.")
        found = [product_of(one, units) for one in body]
        if with_ids:
            found = [_naming_variations(*pair) for pair in zip(found, body, strict=True)]
        return found, response

    return await _ask(call, "/products", query, read)


def _naming_variations(product: ShopProduct, told: Mapping[str, Any]) -> ShopProduct:
    ids = ",".join(str(int(one)) for one in told.get("variations") or ())
    if product.complete or not ids:
        return product
    return replace(product, provider_ids={_VARIATIONS: ids})


def _variation_ids(product: ShopProduct) -> list[str]:
    """Those that its list named; none if the shop is asked for them by product."""
    named = product.provider_ids.get(_VARIATIONS)
    return named.split(",") if named and not product.complete else []


def _with_variations(product: ShopProduct, variations: Sequence[Mapping[str, Any]]) -> ShopProduct:
    units = Units(product.currency, product.units.get("weight"), product.units.get("length"))
    empty = {"id": product.id, "type": "variable"}
    variants = product_of(empty, units, variations).variants
    return replace(product, variants=variants, complete=True, provider_ids={})


async def _lists_variations(call: ProviderCall) -> bool:
    """As the last test of the connection found it, or from the shop."""
    known = call.connection.details.get(_LISTS_VARIATIONS)
    return bool(known) if known is not None else await _asked_for_variations(call)


async def _asked_for_variations(call: ProviderCall) -> bool:
    try:
        await _ask(call, "/variations", {"per_page": "1"}, lambda _, body: body)
    except (NotAllowed, NotThere):
        return False
    return True


async def _listed_variations(
    call: ProviderCall, ids: Sequence[str]
) -> dict[str, list[Mapping[str, Any]]]:
    """Variations of several products, by the id of their product."""
    query = {
        "include": ",".join(ids), "page": "1", "per_page": str(_PAGE), "orderby": "id",
        "order": "asc",
    }  # fmt: skip
    listed = await _ask(call, "/variations", query, lambda _, body: list(body))
    found: dict[str, list[Mapping[str, Any]]] = {}
    for one in listed:
        found.setdefault(str(one["parent_id"]), []).append(one)
    return found


async def _variations(call: ProviderCall, product_id: str) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    page = 1
    while True:
        some, pages = await _ask(
            call, f"/products/{product_id}/variations",
            {"page": str(page), "per_page": str(_PAGE), "orderby": "id", "order": "asc"},
            lambda answer, body: (body, _pages(answer)),
        )  # fmt: skip
        found += some
        if page >= pages or not some:
            return found
        page += 1


async def _units(call: ProviderCall) -> Units:
    """As the last test of the connection found them, or from the shop."""
    currency = call.connection.details.get("currency")
    if currency:
        return Units(currency, *_measures(call.connection))
    return await _ask_units(call)


def _measures(connection: ShopConnection) -> tuple[str | None, str | None]:
    return connection.details.get("weightUnit"), connection.details.get("dimensionUnit")


async def _ask_units(call: ProviderCall) -> Units:
    """Keys that may only read products do not see the settings; then units stay unknown."""
    try:
        currency = await _ask(
            call, "/data/currencies/current", {}, lambda _, body: body.get("code")
        )
    except (NotAllowed, NotThere):
        currency = None
    try:
        told = await _ask(call, "/settings/products", {}, _settings)
    except (NotAllowed, NotThere):
        told = {}
    return Units(
        currency, told.get("woocommerce_weight_unit"), told.get("woocommerce_dimension_unit")
    )


def _settings(_: FetchResponse, body: Any) -> dict[str, Any]:
    return {one["id"]: one.get("value") for one in body if isinstance(one, dict) and "id" in one}


def _total(response: FetchResponse) -> int | None:
    told = response.header("x-wp-total") or ""
    return int(told) if told.isdigit() else None


def _pages(response: FetchResponse) -> int:
    told = response.header("x-wp-totalpages") or ""
    if not told.isdigit():
        raise BadInput(
            "INVALID_PARAMETERS",
            f"{TITLE} does not say how many pages there are. A proxy may remove X-WP-TotalPages.",
        )
    return int(told)
