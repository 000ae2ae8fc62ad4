"""Roastify's API v1: products by cursor, and each with its variants."""

from __future__ import annotations

import math
import re
from typing import Any

import orjson

from penstock.providers.sandbox.catalog import MadeProduct, roast_of
from penstock.providers.sandbox.http import Response
from penstock.providers.sandbox.limits import ROASTIFY, Bucket
from penstock.providers.sandbox.shop import Answer, Asked, Shop

_ONE = re.compile(r"/v1/products/([a-z0-9]+)")
_TYPES = ("CoffeeBag12oz", "CoffeeBox12oz", "CoffeeBag5lb", "Pods", "InstantCoffee", "Tubes")
_UNLIMITED = 999


def credentials_of(shop: Shop) -> dict[str, str]:
    return {"apiKey": f"rty_test_{shop.secret('key', 32)}"}


def answer(asked: Asked) -> Answer:
    if asked.request.headers.get("x-api-key") != credentials_of(asked.shop)["apiKey"]:
        body = {"message": "Invalid API key", "code": "UNAUTHORIZED"}
        return Answer(Response.json(body, 401), refused=True)
    wait = asked.shop.buckets.setdefault("requests", Bucket(ROASTIFY)).take()
    if wait:
        said = orjson.dumps({"message": "Rate limit exceeded", "code": "TOO_MANY_REQUESTS"})
        headers = {"Retry-After": str(math.ceil(wait))}
        return Answer(Response(429, said, headers=headers), violation=True)
    if asked.path == "/v1/products":
        return Answer(_page(asked))
    one = _ONE.fullmatch(asked.path)
    found = asked.shop.product(_number(one[1])) if one else None
    if found is None:
        return Answer(Response.json({"message": "Not found", "code": "NOT_FOUND"}, 404))
    return Answer(Response.json(_whole(asked.shop, found)))


def _id(number: int) -> str:
    return f"clyd67824rn{number:09}"


def _number(told: str) -> int:
    tail = told.removeprefix("clyd67824rn")
    return int(tail) if tail.isdigit() else 0


def _page(asked: Asked) -> Response:
    size = max(1, min(int(asked.request.query.get("pageSize", 20)), 100))
    after = _number(asked.request.query.get("cursor", ""))
    page: list[MadeProduct] = []
    more = False
    for one in asked.shop.products(after):
        if len(page) == size:
            more = True
            break
        page.append(one)
    info = {"endCursor": _id(page[-1].number) if page else None, "hasNextPage": more}
    shown = [_brief(asked.shop, one) for one in page]
    return Response.json({"products": shown, "pageInfo": info})


def _brief(shop: Shop, made: MadeProduct) -> dict[str, Any]:
    return {
        "id": _id(made.number),
        "createdAt": made.created_at.isoformat(),
        "title": made.title,
        "description": made.description,
        "imageUrl": shop.picture_url(made.pictures[0]) if made.pictures else None,
        "productType": _TYPES[made.number % len(_TYPES)],
    }


def _whole(shop: Shop, made: MadeProduct) -> dict[str, Any]:
    return {
        **_brief(shop, made),
        "images": [{"url": shop.picture_url(name)} for name in made.pictures],
        "variants": [
            {
                "id": f"clvar{one.number:012}",
                "title": roast_of(one),
                "size": one.size,
                "retailPrice": int(one.price * 100),
                "sku": one.sku,
                "inStock": one.stock > 0,
                "stockQty": _UNLIMITED if one.stock == 80 else one.stock,
                "plan": "base",
            }
            for one in made.variants
        ],
    }
