"""A sandbox inside the test, and calls to it through the guarded client."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import uuid4

from penstock.guards.fetch import Fetcher
from penstock.model.network.addresses import parse_exempt
from penstock.model.network.fetching import FetchRequest, FetchResponse
from penstock.model.shops.provider import Reading, ShopConnection, Throttle
from penstock.providers.sandbox.server import CREDENTIALS, Sandbox
from penstock.providers.sandbox.shop import Shop

T = TypeVar("T")


@dataclass
class DirectCall:
    """A `ProviderCall` without limits; it keeps what was reported. Unless it is ``hurried``, the
    shop's own limits see it as if there was a long pause before each request."""

    connection: ShopConnection
    fetcher: Fetcher
    shop: Shop
    hurried: bool = False
    sent: list[FetchRequest] = field(default_factory=list)
    points: list[float] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)
    throttles: list[Throttle] = field(default_factory=list)

    def now(self) -> datetime:
        return datetime.now(UTC)

    async def send(
        self, request: FetchRequest, read: Callable[[FetchResponse], Reading[T]], *,
        points: float = 0,
    ) -> T:  # fmt: skip
        for bucket in () if self.hurried else self.shop.buckets.values():
            bucket.fill()
        self.sent.append(request)
        self.points.append(points)
        reading = read(await self.fetcher.fetch(request))
        if reading.cost is not None:
            self.costs.append(reading.cost)
        if reading.throttle is not None:
            self.throttles.append(reading.throttle)
        return reading.value


@asynccontextmanager
async def serving_sandbox(**made: Any) -> AsyncIterator[Sandbox]:
    sandbox = Sandbox(**made)
    await sandbox.start()
    try:
        yield sandbox
    finally:
        await sandbox.close()


@asynccontextmanager
async def loopback_fetcher() -> AsyncIterator[Fetcher]:
    fetcher = Fetcher(parse_exempt("127.0.0.1"))
    try:
        yield fetcher
    finally:
        await fetcher.close()


def call_to(
    sandbox: Sandbox, fetcher: Fetcher, provider: str, shop: str = "demo", **details: Any
) -> DirectCall:
    made = sandbox.shop(provider, shop)
    connection = ShopConnection(
        uuid4(), 1, provider, made.base, CREDENTIALS[provider](made), shop, details
    )
    return DirectCall(connection, fetcher, made)
