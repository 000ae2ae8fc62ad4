"""Health, for load balancers and callers without a key."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Request, Response

from penstock import __version__
from penstock.api.http.access import Api
from penstock.api.http.answers import answer
from penstock.api.http.identify import COOKIE
from penstock.api.monitor.health_schemas import Health, Liveness, PublicQueueHealth, Readiness
from penstock.engine.queue_depth import Queue
from penstock.engine.runtime import Runtime
from penstock.model.errors import NotAllowed, RateLimited, Unavailable
from penstock.model.monitor.health import Figures, judge
from penstock.store.database import Database
from penstock.store.jobs import jobs
from penstock.store.jobs.job_rows import LastHour

router = APIRouter(tags=["operations"])
_CACHE_SECONDS = 1.0
_PATIENCE_SECONDS = 3.0
_ENDED_FRESH_SECONDS = 5.0
_MOST_COUNTED = 100_000


class Pulse:
    """Figures of the queue, read at most once a second, since anyone may ask; those of the last
    hour every five seconds."""

    def __init__(self, db: Database, runtime: Runtime) -> None:
        self._db = db
        self._runtime = runtime
        self._away_until = 0.0
        self._asking = asyncio.Lock()
        self._ended: tuple[float, LastHour | None] = (0.0, None)

    async def queue(self) -> Queue | None:
        """None while the database does not answer."""
        async with self._asking:
            if time.monotonic() < self._away_until:
                return None
            try:
                async with asyncio.timeout(_PATIENCE_SECONDS), self._db.acquire() as conn:
                    return await self._runtime.queue.look(conn)
            except Exception as error:  # callers without a key must not see the cause
                self._runtime.log.warning("database is not available", error=repr(error))
                self._away_until = time.monotonic() + _CACHE_SECONDS
                return None

    async def last_hour(self) -> LastHour:
        """How many jobs ended in the last hour, and whether all that waits is paused."""
        async with self._asking:
            at, ended = self._ended
            if ended is None or time.monotonic() - at > _ENDED_FRESH_SECONDS:
                async with asyncio.timeout(_PATIENCE_SECONDS), self._db.acquire() as conn:
                    ended = await jobs.last_hour(conn, _MOST_COUNTED)
                self._ended = (time.monotonic(), ended)
            return ended


@router.get("/", include_in_schema=False)
async def root() -> Response:
    """Links, for a person who opens the address that `make up` prints."""
    shown = {
        "name": "Penstock",
        "health": "/health",
        "queue": "/health/queue",
        "api": "/api",
        "openapi": "/openapi.json",
    }
    return answer(shown)


@router.get("/health/live", summary="Liveness", responses={200: {"model": Liveness}})
async def liveness() -> Response:
    """Whether this process answers. The database is not checked: a restart of the process would not
    help."""
    return answer({"status": "ok"})


@router.get(
    "/health/ready",
    summary="Readiness",
    responses={200: {"model": Readiness}, 503: {"model": Readiness}},
)
async def readiness(request: Request) -> Response:
    """Whether this process can serve requests: its database answers (else 503)."""
    queue: Queue | None = await request.app.state.pulse.queue()
    if queue is None:
        return answer({"status": "unavailable"}, 503)
    return answer({"status": "ok"})


@router.get("/health", summary="Health", responses={200: {"model": Health}, 503: {"model": Health}})
async def health(request: Request) -> Response:
    """`degraded` without a worker, with a long queue, or (503) without a database. The figures are
    for callers with a key or a session. Probes of orchestrators use `/health/live` and
    `/health/ready`."""
    queue: Queue | None = await request.app.state.pulse.queue()
    if queue is None:
        return answer({"status": "degraded"}, 503)
    status = "ok" if judge(figures_of(queue), 0).ready else "degraded"
    if not await _is_known(request):
        return answer({"status": status})
    shown = {
        "status": status,
        "version": __version__,
        "database": "ok",
        "workers": queue.workers,
        "depth": queue.depth,
        "level": queue.level,
    }
    return answer(shown)


@router.get(
    "/health/queue",
    summary="Health of the queue",
    responses={200: {"model": PublicQueueHealth}},
)
async def queue_health(request: Request) -> Response:
    """How full the queue is; with a key or a session also its figures. `completed` and `failed` are
    those of the last hour (`window`)."""
    queue = await queue_now(request)
    if not await _is_known(request):
        return answer({"status": queue.level, "level": queue.level})
    pulse: Pulse = request.app.state.pulse
    ended = await pulse.last_hour()
    shown: dict[str, Any] = {
        "status": "paused" if ended.paused else queue.level,
        "paused": ended.paused,
        "metrics": {
            "waiting": queue.waiting,
            "active": queue.active,
            "completed": ended.completed,
            "failed": ended.failed,
            "delayed": queue.delayed,
            "total": queue.depth,
        },
        "timestamp": datetime.now(UTC),
        "window": "1h",
    }
    return answer(shown | queue_shape(queue))


async def _is_known(request: Request) -> bool:
    """Whether the caller has a valid key or session; a probe with an old key is still answered."""
    if "authorization" not in request.headers and COOKIE not in request.cookies:
        return False
    api: Api = request.app.state.api
    try:
        await api.authenticator.recognise(request)
    except (NotAllowed, RateLimited):
        return False
    return True


async def queue_now(request: Request) -> Queue:
    queue: Queue | None = await request.app.state.pulse.queue()
    if queue is None:
        raise Unavailable("DB_UNAVAILABLE", "The database does not answer. Try again soon.")
    return queue


def figures_of(queue: Queue, success_rate: float | None = None, failed: int = 0) -> Figures:
    return Figures(
        queue.level, queue.depth, queue.waiting, queue.oldest_ms, queue.workers, success_rate,
        failed,
    )  # fmt: skip


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
