"""WooCommerce's REST API v3: products, variations, currency and settings."""

from __future__ import annotations

import base64
import hmac
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import orjson

from penstock.providers.sandbox.catalog import MadeProduct, MadeVariant
from penstock.providers.sandbox.http import Request, Response
from penstock.providers.sandbox.limits import WOOCOMMERCE, Bucket
from penstock.providers.sandbox.shop import Answer, Asked, Shop
from penstock.providers.woocommerce.signing import signature

_API = "/wp-json/wc/v3"
FIRST_ID = 1000
# A shop whose name begins so is older than WooCommerce 10.3: it has no list of all variations.
OLD = "old"
_VARIATIONS = re.compile(r"/products/(\d+)/variations")
_PRODUCT = re.compile(r"/products/(\d+)")
_STATUSES = {"active": "publish", "draft": "draft", "archived": "private"}


def credentials_of(shop: Shop) -> dict[str, str]:
    return {
        "consumerKey": f"ck_{shop.secret('key', 40)}",
        "consumerSecret": f"cs_{shop.secret('secret', 40)}",
    }


def answer(asked: Asked) -> Answer:
    if not _is_allowed(asked):
        body = {"code": "woocommerce_rest_cannot_view", "message": "Invalid signature."}
        return Answer(Response.json(body, 401), refused=True)
    bucket = asked.shop.buckets.setdefault("requests", Bucket(WOOCOMMERCE))
    wait = bucket.take()
    if wait:
        headers = {"Retry-After": str(math.ceil(wait))}
        said = orjson.dumps({"code": "too_many_requests"})
        return Answer(Response(429, said, headers=headers), violation=True)
    path = asked.path.removeprefix(_API)
    poll = path.startswith(("/data/", "/settings/")) or (
        path == "/variations" and "include" not in asked.request.query
    )
    return Answer(_resource(asked.shop, path, asked.request), poll=poll)


def _is_allowed(asked: Asked) -> bool:
    given = credentials_of(asked.shop)
    key, secret = given["consumerKey"], given["consumerSecret"]
    told = asked.request.headers.get("authorization", "")
    if told.startswith("Basic "):
        wanted = base64.b64encode(f"{key}:{secret}".encode()).decode()
        return hmac.compare_digest(told.removeprefix("Basic "), wanted)
    query = dict(asked.request.query)
    signed = query.pop("oauth_signature", "")
    if query.get("oauth_consumer_key") != key or not _is_new(asked, query):
        return False
    url = f"{asked.shop.base}{asked.path}"
    return hmac.compare_digest(signed, signature(asked.request.method, url, query, secret))


def _is_new(asked: Asked, query: Mapping[str, str]) -> bool:
    """A nonce counts once, and only near the present."""
    told = query.get("oauth_timestamp", "")
    if not told.isdigit() or abs(datetime.now(UTC).timestamp() - int(told)) > 900:
        return False
    nonces: set[str] = asked.shop.state.setdefault("nonces", set())
    nonce = query.get("oauth_nonce", "")
    fresh = nonce not in nonces
    nonces.add(nonce)
    return fresh


def _resource(shop: Shop, path: str, request: Request) -> Response:
    if path == "/products":
        return _products(shop, request)
    if path == "/variations" and not shop.name.startswith(OLD):
        return _variations(shop, request)
    if path == "/data/currencies/current":
        return Response.json({"code": "EUR", "name": "Euro", "symbol": "&euro;"})
    if path == "/settings/products":
        units = {"woocommerce_weight_unit": "g", "woocommerce_dimension_unit": "cm"}
        return Response.json([{"id": name, "value": value} for name, value in units.items()])
    variations, one = _VARIATIONS.fullmatch(path), _PRODUCT.fullmatch(path)
    found = shop.product(int((variations or one or [0, 0])[1]) - FIRST_ID)
    if found is None:
        body = {"code": "woocommerce_rest_product_invalid_id", "message": "Invalid ID."}
        return Response.json(body, 404)
    if variations:
        made = found.variants if found.has_options else ()
        return _paged([_variation(found, v) for v in made], request)
    return Response.json(_product(shop, found))


def _products(shop: Shop, request: Request) -> Response:
    told = request.query.get("modified_after")
    since = None
    if told:
        since = datetime.fromisoformat(told.replace(" ", "+"))
        since = since if since.tzinfo else since.replace(tzinfo=UTC)
    found = shop.matching(request.query.get("search", ""), since)
    return _paged(found, request, lambda one: _product(shop, one))


def _variations(shop: Shop, request: Request) -> Response:
    """Variations of all products, or those of the given ids."""
    told = request.query.get("include")
    if told is None:
        made = [one for one in shop.products() if one.has_options]
    else:
        numbers = {(int(one) - FIRST_ID * 1000) // 100 for one in told.split(",")}
        known = (shop.product(number) for number in sorted(numbers))
        made = [one for one in known if one is not None and one.has_options]
    wanted = None if told is None else set(map(int, told.split(",")))
    found = [
        _variation(product, one)
        for product in made
        for one in product.variants
        if wanted is None or FIRST_ID * 1000 + one.number in wanted
    ]
    return _paged(found, request)


def _paged(found: list[Any], request: Request, show: Any = lambda one: one) -> Response:
    size = min(int(request.query.get("per_page", 10)), 100)
    page = max(1, int(request.query.get("page", 1)))
    shown = [show(one) for one in found[(page - 1) * size : page * size]]
    headers = {"X-WP-Total": str(len(found)), "X-WP-TotalPages": str(math.ceil(len(found) / size))}
    return Response(200, orjson.dumps(shown), headers=headers)


def _product(shop: Shop, made: MadeProduct) -> dict[str, Any]:
    variable = made.has_options
    colors = list(dict.fromkeys(one.color for one in made.variants))
    sizes = list(dict.fromkeys(one.size for one in made.variants))
    attributes = [("Color", colors), ("Size", sizes)]
    return {
        **_sold(made.variants[0], variable=variable),
        "id": FIRST_ID + made.number,
        "name": made.title,
        "slug": made.title.lower().replace(" ", "-"),
        "permalink": f"{shop.base}/product/{made.number}/",
        **_times(made),
        "type": "variable" if variable else "simple",
        "status": _STATUSES[made.status],
        "description": made.description,
        "short_description": "",
        "categories": [{"id": 9, "name": made.category, "slug": made.category.lower()}],
        "tags": [{"id": place, "name": tag} for place, tag in enumerate(made.tags)],
        "brands": [{"id": 1, "name": made.vendor}],
        "images": [
            {"id": made.number * 100 + place, "src": shop.picture_url(name), "name": "",
             "alt": made.title}
            for place, name in enumerate(made.pictures)
        ],
        "attributes": [
            {"id": place, "name": name, "position": place, "variation": True, "options": options}
            for place, (name, options) in enumerate(attributes)
        ] if variable else [],
        "variations": [FIRST_ID * 1000 + one.number for one in made.variants] if variable else [],
        "meta_data": [],
    }  # fmt: skip


def _variation(made: MadeProduct, one: MadeVariant) -> dict[str, Any]:
    return {
        **_sold(one, variable=False),
        "id": FIRST_ID * 1000 + one.number,
        "parent_id": FIRST_ID + made.number,
        **_times(made),
        "description": "",
        "image": None,
        "attributes": [
            {"id": 0, "name": "Color", "option": one.color},
            {"id": 1, "name": "Size", "option": one.size},
        ],
        "meta_data": [],
    }


def _sold(one: MadeVariant, *, variable: bool) -> dict[str, Any]:
    return {
        "sku": "" if variable else one.sku,
        "global_unique_id": "" if variable else one.barcode,
        "price": str(one.price),
        "regular_price": "" if variable else str(one.was or one.price),
        "sale_price": str(one.price) if one.was and not variable else "",
        "on_sale": bool(one.was),
        "manage_stock": not variable,
        "stock_quantity": None if variable else one.stock,
        "stock_status": "instock" if one.stock else "outofstock",
        "weight": str(one.grams),
        "dimensions": {"length": "", "width": "", "height": ""},
    }


def _times(made: MadeProduct) -> dict[str, str]:
    created = made.created_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")
    changed = made.updated_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return {
        "date_created": created, "date_created_gmt": created,
        "date_modified": changed, "date_modified_gmt": changed,
    }  # fmt: skip
