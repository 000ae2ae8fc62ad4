"""Feeds by their secret address. No key is needed: the address is one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from email.utils import format_datetime
from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from fastapi.responses import StreamingResponse

from penstock.accounts.sign_in import network_of
from penstock.api.feeds.build import FeedBuilder
from penstock.api.http.access import ApiParts, address_of
from penstock.api.http.rate_limits import Buckets
from penstock.app.feeds.feeds import hash_secret, no_such_feed
from penstock.catalog.feeds.google import WRITERS
from penstock.engine.runtime import Runtime
from penstock.store.feeds import feeds as store
from penstock.store.feeds.feeds import FeedFile

router = APIRouter(tags=["feeds"])
_PIECE_BYTES = 256 * 1024
_SECRET_LENGTH = 48


class FeedLimits:
    """Fetches of each feed, and tries of unknown addresses, in the memory of this process."""

    def __init__(self, runtime: Runtime) -> None:
        self.builder = FeedBuilder(runtime)
        self.reads = Buckets(0.5, 30)
        self.wrong = Buckets(60 / 3600, 60)


@router.get(
    "/feeds/{feed_file}",
    summary="Fetch a feed",
    response_class=StreamingResponse,
    responses={
        200: {
            "content": {
                "application/xml": {"schema": {"type": "string", "format": "binary"}},
                "text/csv": {"schema": {"type": "string", "format": "binary"}},
            }
        },
        304: {"description": "Not changed"},
    },
)
async def fetch_feed(
    request: Request,
    api: ApiParts,
    feed_file: Annotated[str, Path(description="The secret and `.xml` or `.csv`.")],
) -> Response:
    """Offers of Google Merchant Center, as RSS or as CSV. `ETag` and `If-None-Match` save
    transfers."""
    limits: FeedLimits = request.app.state.feeds
    secret, _, kind = feed_file.rpartition(".")
    feed = None
    if kind in WRITERS and len(secret) == _SECRET_LENGTH and secret.isalnum():
        async with api.runtime.db.acquire() as conn:
            feed = await store.find(conn, hash_secret(secret))
    if feed is None:
        network = network_of(address_of(request))
        limits.wrong.take(network, "Too many requests with unknown addresses.")
        raise no_such_feed()
    limits.reads.take(feed.id, "This feed is fetched too often.")
    found = await limits.builder.file(feed, kind)
    async with api.runtime.db.transaction() as conn:
        await store.note_read(conn, feed.id)
    headers = {
        "ETag": f'"{found.sha256[:32]}"',
        "Last-Modified": format_datetime(found.built_at, usegmt=True),
        "Cache-Control": f"private, max-age={feed.settings.max_age_minutes * 60}",
        "X-Robots-Tag": "noindex",
    }
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    headers["Content-Length"] = str(found.size)
    body = _content(api.runtime, found)
    return StreamingResponse(body, headers=headers, media_type=WRITERS[kind].media_type)


async def _content(runtime: Runtime, found: FeedFile) -> AsyncIterator[bytes]:
    async with runtime.blobs.local(found.blob_key) as path:
        file = await asyncio.to_thread(path.open, "rb")
        try:
            while piece := await asyncio.to_thread(file.read, _PIECE_BYTES):
                yield piece
        finally:
            file.close()
