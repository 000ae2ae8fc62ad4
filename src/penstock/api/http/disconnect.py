"""Work that is useful only while its client waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import Request

from penstock.model.cpu.meter import metered
from penstock.model.errors import BadInput

Answer = TypeVar("Answer")


async def while_connected(request: Request, work: Coroutine[Any, Any, Answer]) -> Answer:
    """Cancel the work when the client closes the connection, so that its resources are free at
    once. The body must have been read."""
    task = asyncio.create_task(metered(work))
    disconnected = asyncio.create_task(_disconnected(request))
    try:
        await asyncio.wait({task, disconnected}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise BadInput("BODY_INCOMPLETE", "The client closed the connection.")
        return task.result()
    finally:
        for each in (task, disconnected):
            each.cancel()
        await asyncio.gather(task, disconnected, return_exceptions=True)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
