"""What `penstock products` asks of the API, and files that commands write."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any
from uuid import UUID

from penstock.cli.connection import connected
from penstock.cli.files.results import output_file
from penstock.cli.printing import note

_SECONDS_BETWEEN_LINES = 2.0
_LONGEST_VALUE = 60
_PRODUCTS = "/api/products"


async def list_products(filters: dict[str, Any], limit: int) -> tuple[list[dict[str, Any]], bool]:
    """Products, and whether there are more."""
    async with connected() as penstock:
        found = await penstock.first(_PRODUCTS, limit + 1, **filters)
    return found[:limit], len(found) > limit


async def get_product(product_id: UUID) -> dict[str, Any]:
    async with connected() as penstock:
        product: dict[str, Any] = await penstock.get(f"{_PRODUCTS}/{product_id}")
        return product


async def history(product_id: UUID, limit: int) -> list[dict[str, Any]]:
    async with connected() as penstock:
        return await penstock.first(f"{_PRODUCTS}/{product_id}/history", limit)


async def exported(path: str, filters: dict[str, Any], output: Path | None) -> int:
    """Write an export whole or not at all; return its size."""
    size, told_at = 0, time.monotonic()
    async with connected() as penstock:
        with output_file(output) as write:
            async for piece in penstock.client.pieces(path, **filters):
                write(piece)
                size += len(piece)
                if time.monotonic() - told_at > _SECONDS_BETWEEN_LINES:
                    told_at = time.monotonic()
                    note(f"{size:,} bytes so far")
    return size


def value_lines(product: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Each value with its origin."""
    lines = []
    for field, origin in sorted(product["lineage"].items()):
        value = _at(product["product"], field)
        sure = origin.get("confidence")
        lines.append(
            (
                field, _brief(value), origin.get("column") or "", _brief(origin.get("raw")),
                origin.get("rule") or "", "" if sure is None else f"{sure:.2f}",
                origin["jobId"], origin["rowNo"],
            )
        )  # fmt: skip
    return lines


def _at(product: Any, path: str) -> Any:
    for part in path.split("."):
        product = product.get(part) if isinstance(product, dict) else None
    return product


def _brief(value: Any) -> str:
    text = "" if value is None else " ".join(str(value).split())
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"
