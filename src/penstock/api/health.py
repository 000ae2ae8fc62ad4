"""Whether the installation works, for load balancers and people without a key."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from fastapi import APIRouter, Request, Response

from penstock import __version__
from penstock.api.answers import answer
from penstock.api.schemas import Health
from penstock.model.ports import Log
from penstock.store import jobs
from penstock.store.database import Database

router = APIRouter(tags=["operations"])
_FRESH_SECONDS = 1.0
_PATIENCE_SECONDS = 3.0
_HEALTHY_DEPTH = 1000


class Pulse:
    """The queue's figures, asked for at most once a second, since anyone may ask here."""

    def __init__(self, db: Database, log: Log) -> None:
        self._db = db
        self._log = log
        self._figures: Any = None
        self._fresh_until = 0.0
        self._asking = asyncio.Lock()

    async def figures(self) -> Any:
        """None while the database does not answer."""
        async with self._asking:
            if time.monotonic() >= self._fresh_until:
                self._figures = await self._ask()
                self._fresh_until = time.monotonic() + _FRESH_SECONDS
            return self._figures

    async def _ask(self) -> Any:
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS), self._db.acquire() as conn:
                return await jobs.queue_state(conn)
        except Exception as error:  # whatever it is, it is not healthy, and not for strangers
            self._log.warning("database is away", error=repr(error))
            return None


@router.get("/", include_in_schema=False)
async def root() -> Response:
    """What stands at the address `make up` prints, for whoever opens it."""
    shown = {
        "name": "Penstock",
        "version": __version__,
        "health": "/health",
        "api": "/api",
        "openapi": "/openapi.json",
    }
    return answer(shown)


@router.get("/health", summary="Health", responses={200: {"model": Health}, 503: {"model": Health}})
async def health(request: Request) -> Response:
    """`degraded` without a worker, with a long queue, or (503) without a database."""
    figures = await request.app.state.pulse.figures()
    ok = figures is not None and figures["workers"] > 0 and figures["depth"] <= _HEALTHY_DEPTH
    shown = {
        "status": "ok" if ok else "degraded",
        "version": __version__,
        "database": "unavailable" if figures is None else "ok",
        "workers": None if figures is None else figures["workers"],
        "depth": None if figures is None else figures["depth"],
    }
    return answer(shown, 503 if figures is None else 200)
