"""Configurations of the sandbox's three sources, as `POST /api/sources` takes them."""

from __future__ import annotations

from typing import Any

_JSON: dict[str, Any] = {
    "title": "Sandbox JSON",
    "parameters": {"q": "{query}"},
    "auth": {"kind": "bearer"},
    "paging": {
        "kind": "page", "parameter": "page", "sizeParameter": "pageSize", "size": 50,
        "total": "answer.total",
    },
    "response": {
        "format": "json",
        "records": "results",
        "schema": {
            "type": "object",
            "required": ["results"],
            "properties": {"results": {"type": "array", "items": {"required": ["sku", "name"]}}},
        },
    },
    "mapping": {
        "sourceId": "sku", "title": "name", "brand": "brand", "category": "category",
        "identifiers.gtin": "ean", "identifiers.sku": "sku",
        "price.amount": "unitPrice.value", "price.currency": "unitPrice.currency",
        "availability.quantity": "stock", "availability.leadTimeDays": "leadTimeDays",
        "availability.minOrder": "minimumOrder", "supplier.location": "country",
        "images": "image",
    },
    "defaults": {"supplier.name": "Sandbox JSON"},
    "cost": {"perCall": 0.002, "currency": "USD"},
}  # fmt: skip
_XML: dict[str, Any] = {
    "title": "Sandbox XML",
    "parameters": {"term": "{query}"},
    "auth": {"kind": "header", "name": "X-Api-Key"},
    "paging": {
        "kind": "offset", "parameter": "offset", "sizeParameter": "limit", "size": 50,
        "total": "answer.catalog.@count",
    },
    "response": {"format": "xml", "records": "catalog.article"},
    "mapping": {
        "sourceId": "@number",
        # `Mug, Classic Oak Mug #7`
        "title": "replace(after(title, ','), '#', '')",
        "brand": "manufacturer", "identifiers.gtin": "gtin", "identifiers.sku": "@number",
        "price.amount": "price", "price.currency": "price.@currency",
        "availability.status": "if(available == 'yes', 'in stock', 'out of stock')",
        "availability.leadTimeDays": "deliveryDays",
        "supplier.location": "origin",
    },
    "defaults": {"supplier.name": "Sandbox XML"},
}  # fmt: skip
_CSV: dict[str, Any] = {
    "title": "Sandbox CSV",
    "parameters": {"search": "{query}"},
    "auth": {"kind": "basic"},
    "paging": {
        "kind": "cursor", "parameter": "cursor", "sizeParameter": "rows", "size": 50,
        "next": "headers.x-next-cursor",
    },
    "response": {"format": "csv", "delimiter": ";", "decimal": "comma"},
    "mapping": {
        "sourceId": "Artikelnummer", "title": "Bezeichnung", "identifiers.gtin": "EAN",
        "identifiers.sku": "Artikelnummer", "brand": "Marke", "price.amount": "`Preis EUR`",
        "availability.quantity": "Bestand", "supplier.location": "Land",
    },
    "defaults": {"price.currency": "EUR", "supplier.name": "Sandbox CSV"},
}  # fmt: skip
_CONFIGS = {"json": _JSON, "xml": _XML, "csv": _CSV}


def config_of(name: str, url: str, credentials: dict[str, str], rate: str) -> dict[str, Any]:
    """A complete configuration, with the credentials that the sandbox accepts."""
    names = {"bearer": "token"}
    return {
        "name": f"sandbox-{name}",
        "url": url,
        **_CONFIGS[name],
        "limits": {"rate": rate, "timeoutSeconds": 10},
        "credentials": {
            names.get(key, key): value for key, value in credentials.items() if key != "header"
        },
    }
