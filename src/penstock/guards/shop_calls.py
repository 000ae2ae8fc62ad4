"""Sends the requests of shop providers: within the provider's limits, through the guarded fetch."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from typing import TypeVar

from penstock.model.errors import Waiting
from penstock.model.network.fetching import FetchRequest, FetchResponse
from penstock.model.network.provider_limits import LimitKey
from penstock.model.network.token_bucket import ThrottleStatus
from penstock.model.ports import Call, Fetch
from penstock.model.shops.provider import Reading, ShopConnection

T = TypeVar("T")
# Between two requests of one piece of work.
_LONGEST_WAIT_MS = 20_000
# Begins a call that takes this many points from the provider's cost bucket.
EnterCall = Callable[[float], AbstractAsyncContextManager[Call]]


def limit_key(connection: ShopConnection) -> LimitKey:
    """The bucket and circuit of a shop. One host may serve several shops, by their paths."""
    return LimitKey(connection.org_id, connection.provider, "", shop_domain(connection))


def shop_domain(connection: ShopConnection) -> str:
    return connection.address.partition("://")[2].rstrip("/")


class ShopCall:
    """Implements `model.shops.provider.ProviderCall`, for one piece of work.

    The first request raises `Waiting` where the limit asks for a wait. Later ones wait where they
    are: giving up would repeat the requests before them, and take their tokens again."""

    def __init__(
        self, connection: ShopConnection, fetch: Fetch, enter: EnterCall,
        time_is_up: Callable[[], bool] = lambda: False,
    ) -> None:  # fmt: skip
        self._connection = connection
        self._fetch = fetch
        self._enter = enter
        self._time_is_up = time_is_up
        self._sent = 0

    @property
    def connection(self) -> ShopConnection:
        return self._connection

    def now(self) -> datetime:
        return datetime.now(UTC)

    async def send(
        self,
        request: FetchRequest,
        read: Callable[[FetchResponse], Reading[T]],
        *,
        points: float = 0,
    ) -> T:
        while True:
            try:
                return await self._send(request, read, points)
            except Waiting as error:
                wait_ms = error.retry_after_ms or 0
                is_short = error.code == "API_RATE_LIMIT" and wait_ms <= _LONGEST_WAIT_MS
                if not self._sent or not is_short or self._time_is_up():
                    raise
            await asyncio.sleep(wait_ms / 1000)

    async def _send(
        self, request: FetchRequest, read: Callable[[FetchResponse], Reading[T]], points: float
    ) -> T:
        async with self._enter(points) as call:
            self._sent += 1
            reading = read(await self._fetch.fetch(request))
            if reading.throttle is not None or reading.cost is not None:
                call.costs(reading.cost, _status(reading))
            return reading.value


def _status(reading: Reading[T]) -> ThrottleStatus | None:
    told = reading.throttle
    if told is None:
        return None
    return ThrottleStatus(told.available, told.maximum, told.restore_per_second)
