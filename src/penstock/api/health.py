"""Whether the installation works, for load balancers and people without a key."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from fastapi import APIRouter, Request, Response

from penstock import __version__
from penstock.api.answers import answer
from penstock.api.schemas import Health, QueueHealth
from penstock.engine.parts import Parts
from penstock.engine.queue_glance import Queue
from penstock.model.backpressure import Level
from penstock.model.errors import Unavailable
from penstock.store.database import Database

router = APIRouter(tags=["operations"])
_FRESH_SECONDS = 1.0
_PATIENCE_SECONDS = 3.0


class Pulse:
    """The queue's figures, asked for at most once a second, since anyone may ask here."""

    def __init__(self, db: Database, parts: Parts) -> None:
        self._db = db
        self._parts = parts
        self._away_until = 0.0
        self._asking = asyncio.Lock()

    async def queue(self) -> Queue | None:
        """None while the database does not answer."""
        async with self._asking:
            if time.monotonic() < self._away_until:
                return None
            try:
                async with asyncio.timeout(_PATIENCE_SECONDS), self._db.acquire() as conn:
                    return await self._parts.queue.look(conn)
            except Exception as error:  # whatever it is, it is not healthy, and not for strangers
                self._parts.log.warning("database is away", error=repr(error))
                self._away_until = time.monotonic() + _FRESH_SECONDS
                return None


@router.get("/", include_in_schema=False)
async def root() -> Response:
    """What stands at the address `make up` prints, for whoever opens it."""
    shown = {
        "name": "Penstock",
        "version": __version__,
        "health": "/health",
        "queue": "/health/queue",
        "api": "/api",
        "openapi": "/openapi.json",
    }
    return answer(shown)


@router.get("/health", summary="Health", responses={200: {"model": Health}, 503: {"model": Health}})
async def health(request: Request) -> Response:
    """`degraded` without a worker, with a long queue, or (503) without a database."""
    queue: Queue | None = await request.app.state.pulse.queue()
    ok = queue is not None and queue.workers > 0 and queue.level is Level.HEALTHY
    shown = {
        "status": "ok" if ok else "degraded",
        "version": __version__,
        "database": "unavailable" if queue is None else "ok",
        "workers": None if queue is None else queue.workers,
        "depth": None if queue is None else queue.depth,
        "level": None if queue is None else queue.level,
    }
    return answer(shown, 503 if queue is None else 200)


@router.get("/health/queue", summary="Health of the queue", responses={200: {"model": QueueHealth}})
async def queue_health(request: Request) -> Response:
    """How full the queue is, and who is there to empty it."""
    return answer(queue_shape(await queue_now(request)))


async def queue_now(request: Request) -> Queue:
    queue: Queue | None = await request.app.state.pulse.queue()
    if queue is None:
        raise Unavailable("DB_UNAVAILABLE", "The database does not answer. Try again soon.")
    return queue


def queue_shape(queue: Queue) -> dict[str, Any]:
    return {
        "level": queue.level,
        "depth": queue.depth,
        "waiting": queue.waiting,
        "active": queue.active,
        "delayed": queue.delayed,
        "oldestWaitingMs": queue.oldest_ms,
        "workers": queue.workers,
        "slots": queue.slots,
        "since": queue.since,
        "deadLetters": queue.dead_letters,
    }
