"""Bulk operations: Shopify writes all products of a large shop into one file of JSON lines.

The file is read in pieces by their place in it, so that memory stays constant and a crash repeats
at most one piece. Lines of variants and media follow the line of their product.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from penstock.model.errors import Unavailable
from penstock.model.network.fetching import FetchLimits, FetchRequest, FetchResponse
from penstock.providers.base import ProviderCall, Reading, ShopProduct, classify_status
from penstock.providers.shopify import queries
from penstock.providers.shopify.graphql_mapping import product_of
from penstock.providers.shopify.requests import TITLE, graphql

PIECE_BYTES = 512 * 1024
_MOST_PIECE_BYTES = 64 * 1024 * 1024
_POINTS = 10
_RUNNING = frozenset({"CREATED", "RUNNING"})


async def start(call: ProviderCall, search: str | None) -> str | None:
    """The id of the new operation; None if Shopify starts none now, because another one of this
    app is running."""
    data, _ = await graphql(
        call, queries.BULK_RUN, {"query": queries.bulk_query(search)}, points=_POINTS
    )
    told = data["bulkOperationRunQuery"]
    operation = told.get("bulkOperation")
    if told.get("userErrors") or not operation:
        return None
    return str(operation["id"])


@dataclass(frozen=True, slots=True)
class BulkState:
    """``failed``: it will never have a file. ``url``: where the file is; None without products."""

    running: bool
    failed: bool
    url: str | None
    products: int | None


async def state_of(call: ProviderCall, operation_id: str) -> BulkState:
    data, _ = await graphql(call, queries.BULK_STATUS, {"id": operation_id}, points=_POINTS)
    node = data.get("node") or {}
    status = str(node.get("status"))
    count = node.get("rootObjectCount")
    return BulkState(
        running=status in _RUNNING,
        failed=status not in (*_RUNNING, "COMPLETED"),
        url=node.get("url"),
        products=None if count is None else int(count),
    )


@dataclass(frozen=True, slots=True)
class Piece:
    """Products of a piece, and where the next one begins; None at the end of the file."""

    products: list[ShopProduct]
    next_offset: int | None


async def read_piece(call: ProviderCall, url: str, offset: int, currency: str | None) -> Piece:
    """The products whose lines begin at ``offset``. The file is not on Shopify's own servers, so
    the token is not sent."""
    size = PIECE_BYTES
    while True:
        request = FetchRequest(
            url,
            headers={"Range": f"bytes={offset}-{offset + size - 1}"},
            limits=FetchLimits(most_bytes=_MOST_PIECE_BYTES, total_ms=60_000),
        )
        content, at_end = await call.send(request, lambda answer: _read(answer, offset))
        piece = split(content, offset, currency, at_end=at_end)
        if piece is not None:
            return piece
        size *= 4
        if size > _MOST_PIECE_BYTES:
            raise Unavailable("SERVICE_UNAVAILABLE", f"{TITLE} sent a product that is too large.")


def _read(response: FetchResponse, offset: int) -> Reading[tuple[bytes, bool]]:
    if response.status == 416:
        return Reading((b"", True))
    error = classify_status(response, TITLE)
    if error is not None:
        raise error
    if response.status != 206:
        # The server ignores ranges and sends the whole file.
        return Reading((response.body[offset:], True))
    end, _, total = (response.header("content-range") or "").rpartition("/")
    last = end.rpartition("-")[2]
    if not (last.isdigit() and total.isdigit()):
        raise Unavailable("SERVICE_UNAVAILABLE", f"{TITLE} sent a piece without its place.")
    if int(last) - offset + 1 != len(response.body):
        raise Unavailable("SERVICE_UNAVAILABLE", f"{TITLE} sent a piece that is cut off.")
    return Reading((response.body, int(last) + 1 >= int(total)))


@dataclass(slots=True)
class _Lines:
    """The lines of one product."""

    begins: int
    product: Mapping[str, Any]
    variants: list[Mapping[str, Any]] = field(default_factory=list)
    media: list[Mapping[str, Any]] = field(default_factory=list)


def split(content: bytes, offset: int, currency: str | None, *, at_end: bool) -> Piece | None:
    """The products that are complete in this piece; None if it does not contain one whole product.
    The last product is left for the next piece, because its lines may continue there."""
    usable = len(content) if at_end else content.rfind(b"\n") + 1
    groups: list[_Lines] = []
    place = 0
    for line in content[:usable].splitlines(keepends=True):
        if line.strip():
            _add(groups, offset + place, line)
        place += len(line)
    if at_end:
        return Piece([_made(one, currency) for one in groups], None)
    if len(groups) < 2:
        return None
    return Piece([_made(one, currency) for one in groups[:-1]], groups[-1].begins)


def _add(groups: list[_Lines], place: int, line: bytes) -> None:
    try:
        told = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise Unavailable(
            "SERVICE_UNAVAILABLE", f"{TITLE} sent a file that is not valid JSON."
        ) from error
    if "__parentId" not in told:
        groups.append(_Lines(place, told))
    elif groups and "/ProductVariant/" in str(told.get("id")):
        groups[-1].variants.append(told)
    elif groups:
        groups[-1].media.append(told)


def _made(lines: _Lines, currency: str | None) -> ShopProduct:
    return product_of(lines.product, lines.variants, lines.media, currency)
