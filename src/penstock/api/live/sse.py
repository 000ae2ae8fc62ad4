"""Events as a stream of server-sent events."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator
from contextlib import aclosing

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from penstock.api.live.stream import Following, Live
from penstock.api.live.tail import Told
from penstock.model.cpu.meter import metered
from penstock.model.ports import Log
from penstock.store.accounts.accounts import Principal
from penstock.store.database import CONNECTION_ERRORS

MEDIA_TYPE = "text/event-stream"
_RETRY_MS = 2000
_AT_ONCE = 20
# A client that reads nothing for so long is disconnected, and may resume.
_PATIENCE_S = 30.0


def wants_stream(accept: str | None) -> bool:
    """Whether the client accepts event streams explicitly."""
    types = (part.split(";")[0].strip().lower() for part in (accept or "").split(","))
    return MEDIA_TYPE in types


async def written(following: Following, log: Log) -> AsyncGenerator[bytes, None]:
    """Blocks of the stream. A block with an id only moves the place to resume from, and shows that
    the stream is alive."""
    yield f"retry: {_RETRY_MS}\n\n".encode()
    try:
        async with aclosing(following.pages()) as pages:
            async for page in pages:
                # A few at a time: each stream has its own copy of what it is about to send.
                for first in range(0, len(page), _AT_ONCE):
                    some = page[first : first + _AT_ONCE]
                    yield b"".join(_block(following.id_of(one), one) for one in some)
                if not page:
                    yield f": beat\nid: {following.cursor}\n\n".encode()
    except CONNECTION_ERRORS as error:
        # Nothing is lost: the client resumes from its last id.
        log.warning("a stream ends, the database is not available", error=repr(error))
    # At random times, so that not all clients connect at once to a server that restarts.
    yield f"retry: {random.randint(_RETRY_MS // 2, _RETRY_MS * 2)}\n\n".encode()


def _block(place: str, told: Told) -> bytes:
    return f"id: {place}\nevent: {told.name}\ndata: ".encode() + told.body + b"\n\n"


class EventStream(Response):
    """Events, sent as they happen, to a client that reads them."""

    media_type = MEDIA_TYPE

    def __init__(self, request: Request, who: Principal, following: Following, live: Live) -> None:
        # Tells proxies not to buffer the answer.
        super().__init__(headers={"X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._request = request
        self._who = who
        self._following = following
        self._live = live
        self._log = live.api.runtime.log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._live.tail.require_open()
        await self._live.api.turns.exchange_for_stream(self._request, self._who)
        tasks = [
            asyncio.ensure_future(metered(self._send(send))),
            asyncio.ensure_future(_until_gone(receive)),
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if tasks[0].done() and not tasks[0].cancelled():
            tasks[0].result()

    async def _send(self, send: Send) -> None:
        await send(
            {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        )
        try:
            async with aclosing(written(self._following, self._log)) as blocks:
                async for block in blocks:
                    message = {"type": "http.response.body", "body": block, "more_body": True}
                    async with asyncio.timeout(_PATIENCE_S):
                        await send(message)
        except TimeoutError:
            self._log.info("a stream was cut off, its client does not read")
            return
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
