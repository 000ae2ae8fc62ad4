"""Request bodies, taken in pieces and within bounds of size and time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator

from python_multipart.multipart import parse_options_header
from starlette.requests import ClientDisconnect, Request

from penstock.api.answers import strict_json
from penstock.model.errors import BadInput, TransientError

JSON_BYTES = 1024 * 1024
# A body has this long to begin, and then must come at this pace: a trickle holds things up for
# everyone. Slower than any line people still use.
PATIENCE_SECONDS = 30.0
SLOWEST_BYTES_PER_SECOND = 1024


def content_type(request: Request) -> tuple[str, dict[bytes, bytes]]:
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    return kind.decode("latin-1"), options


def declared_length(request: Request) -> int:
    """What the caller says; counting is what decides."""
    text = request.headers.get("content-length", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else 0


async def paced(request: Request) -> AsyncGenerator[bytes, None]:
    """The body's pieces as they come; one that stops coming is given up."""
    began, received = time.monotonic(), 0
    stream = request.stream()
    while True:
        deadline = began + PATIENCE_SECONDS + received / SLOWEST_BYTES_PER_SECOND
        try:
            async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
                piece = await anext(stream, None)
        except TimeoutError:
            raise TransientError("REQUEST_TIMEOUT", "The body came too slowly.") from None
        except ClientDisconnect as error:
            raise BadInput("BODY_INCOMPLETE", "The body ended early.") from error
        if piece is None:
            return
        received += len(piece)
        yield piece


async def json_object(request: Request) -> dict[str, object]:
    """The body as a JSON object."""
    too_large = BadInput(
        "BODY_TOO_LARGE", f"The body is larger than {JSON_BYTES:,} bytes.", limit=JSON_BYTES
    )
    if declared_length(request) > JSON_BYTES:
        raise too_large
    body = bytearray()
    async for piece in paced(request):
        body += piece
        if len(body) > JSON_BYTES:
            raise too_large
    found = strict_json(bytes(body), "The body")
    if not isinstance(found, dict):
        raise BadInput("INVALID_JSON", "The body is not a JSON object.")
    return found
