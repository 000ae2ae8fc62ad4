"""Three procurement APIs that answer JSON, XML and CSV.

They offer overlapping parts of one range of products, each with its own names of fields, prices and
spelling, so that the same product can be recognised across them.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from xml.sax.saxutils import escape

from penstock.providers.sandbox.catalog import MadeProduct, MadeVariant
from penstock.providers.sandbox.http import Response
from penstock.providers.sandbox.limits import Bucket, Rate
from penstock.providers.sandbox.shop import Answer, Asked, Shop
from penstock.providers.sandbox.source_configs import config_of

RATE = Rate(1, 20)
# Part of the range that each source offers, in percent.
_OFFERED = {"json": 70, "xml": 60, "csv": 50}
_COUNTRIES = ("DE", "FR", "US", "CN", "SE")


@dataclass(frozen=True, slots=True)
class Offer:
    product: MadeProduct
    variant: MadeVariant
    price: Decimal
    country: str
    lead_days: int
    minimum: int


def offers(shop: Shop, text: str) -> list[Offer]:
    """What the source has for these words, or for this number, in a fixed order."""
    found = []
    named = [
        one for one in shop.products() if text in (one.variants[0].sku, one.variants[0].barcode)
    ]
    for product in named or shop.matching(text, None):
        digest = hashlib.sha256(
            f"{shop.catalog.seed}:{shop.name}:{product.number}".encode()
        ).digest()
        if digest[0] * 100 // 256 >= _OFFERED[shop.name]:
            continue
        first = product.variants[0]
        factor = Decimal(90 + digest[1] % 25) / 100
        found.append(
            Offer(
                product, first, (first.price * factor).quantize(Decimal("0.01")),
                _COUNTRIES[product.number % len(_COUNTRIES)], 1 + digest[2] % 20,
                (1, 1, 10, 100)[digest[3] % 4],
            )
        )  # fmt: skip
    return found


def credentials_of(shop: Shop) -> dict[str, str]:
    match shop.name:
        case "json":
            return {"bearer": shop.secret("bearer", 32)}
        case "xml":
            return {"header": "X-Api-Key", "key": shop.secret("key", 32)}
    return {"user": "sandbox", "password": shop.secret("password", 16)}


def description(shop: Shop) -> dict[str, Any]:
    """How the source is called, for the list that the command prints."""
    paths = {"json": "/search", "xml": "/catalog.xml", "csv": "/offers.csv"}
    parameters = {
        "json": {"query": "q", "paging": "page", "size": "pageSize"},
        "xml": {"query": "term", "paging": "offset", "size": "limit"},
        "csv": {"query": "search", "paging": "cursor", "size": "rows"},
    }
    return {
        "name": f"sandbox-{shop.name}", "format": shop.name, "url": shop.base + paths[shop.name],
        "parameters": parameters[shop.name], "credentials": credentials_of(shop),
        "ratePerMinute": round(RATE.per_second * 60), "burst": round(RATE.burst),
        "config": config_of(
            shop.name, shop.base + paths[shop.name], credentials_of(shop),
            f"{RATE.per_second * 60:g}/min burst {RATE.burst:g}",
        ),
    }  # fmt: skip


def answer(asked: Asked) -> Answer:
    if not _is_allowed(asked):
        return Answer(Response.json({"error": "unauthorized"}, 401), refused=True)
    wait = asked.shop.buckets.setdefault("requests", Bucket(RATE)).take()
    if wait:
        told = {"Retry-After": str(math.ceil(wait))}
        return Answer(Response(429, b'{"error":"too many requests"}', headers=told), violation=True)
    show = {"json": _json, "xml": _xml, "csv": _csv}.get(asked.shop.name)
    if show is None:
        return Answer(Response.json({"error": "not found"}, 404))
    return Answer(show(asked))


def _is_allowed(asked: Asked) -> bool:
    given, headers = credentials_of(asked.shop), asked.request.headers
    match asked.shop.name:
        case "json":
            return headers.get("authorization") == f"Bearer {given['bearer']}"
        case "xml":
            return headers.get("x-api-key") == given["key"]
    pair = base64.b64encode(f"{given['user']}:{given['password']}".encode()).decode()
    return headers.get("authorization") == f"Basic {pair}"


def _number(asked: Asked, name: str, default: int, most: int = 1_000_000) -> int:
    told = asked.request.query.get(name, "")
    return min(int(told), most) if told.isdigit() else default


def _json(asked: Asked) -> Response:
    found = offers(asked.shop, asked.request.query.get("q", ""))
    page, size = _number(asked, "page", 1), _number(asked, "pageSize", 20, 100)
    shown = found[(page - 1) * size : page * size]
    return Response.json(
        {
            "total": len(found),
            "page": page,
            "results": [
                {
                    "sku": one.variant.sku, "name": one.product.title, "ean": one.variant.barcode,
                    "brand": one.product.vendor, "category": one.product.category,
                    "unitPrice": {"value": float(one.price), "currency": "EUR"},
                    "stock": one.variant.stock, "leadTimeDays": one.lead_days,
                    "minimumOrder": one.minimum, "country": one.country,
                    "image": asked.shop.picture_url(one.product.pictures[0])
                    if one.product.pictures else None,
                }
                for one in shown
            ],
        }
    )  # fmt: skip


def _xml(asked: Asked) -> Response:
    found = offers(asked.shop, asked.request.query.get("term", ""))
    offset, limit = _number(asked, "offset", 0), _number(asked, "limit", 20, 100)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<catalog count="{len(found)}">']
    for one in found[offset : offset + limit]:
        # The same product, spelled differently.
        title = f"{one.product.kind}, {one.product.title.rpartition(' ')[0]} #{one.product.number}"
        lines += [
            f'  <article number="{escape(one.variant.sku)}">',
            f"    <title>{escape(title)}</title>",
            f"    <gtin>{one.variant.barcode}</gtin>",
            f"    <manufacturer>{escape(one.product.vendor.upper())}</manufacturer>",
            f'    <price currency="USD">{one.price * Decimal("1.1"):.2f}</price>',
            f"    <available>{'yes' if one.variant.stock else 'no'}</available>",
            f"    <deliveryDays>{one.lead_days}</deliveryDays>",
            f"    <origin>{one.country}</origin>",
            "  </article>",
        ]
    lines.append("</catalog>")
    return Response(200, "\n".join(lines).encode(), "application/xml")


def _csv(asked: Asked) -> Response:
    found = offers(asked.shop, asked.request.query.get("search", ""))
    begin, rows = _number(asked, "cursor", 0), _number(asked, "rows", 20, 100)
    out = io.StringIO()
    writer = csv.writer(out, delimiter=";")
    writer.writerow(
        ["Artikelnummer", "Bezeichnung", "EAN", "Marke", "Preis EUR", "Bestand", "Land"]
    )
    for one in found[begin : begin + rows]:
        price = str(one.price).replace(".", ",")
        writer.writerow(
            [one.variant.sku, one.product.title.upper(), one.variant.barcode, one.product.vendor,
             price, one.variant.stock, one.country]
        )  # fmt: skip
    headers = {}
    if begin + rows < len(found):
        headers["X-Next-Cursor"] = str(begin + rows)
    return Response(200, out.getvalue().encode(), "text/csv; charset=utf-8", headers)
