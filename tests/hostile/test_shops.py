"""Shops as attackers use them: addresses inside, and servers that repeat what they are sent."""

from __future__ import annotations

import asyncio
import io
import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2
import pytest
import structlog
from tests.api.test_canaries import everything_stored
from tests.fixtures import Bench
from tests.guards.servers import answering, serving
from tests.guards.ssrf_urls import hostile_urls

from penstock.logs import configure_logging
from penstock.model.network.fetching import FetchPurpose
from penstock.settings import Settings
from penstock.store.database import Database

CREDENTIALS = {
    "shopify": {"token": "shpat_canary_6f1c9b2e7a", "webhookSecret": "canary-webhook-a81c77"},
    "woocommerce": {"consumerKey": "ck_canary_8d0f3b6c11", "consumerSecret": "cs_canary_92be7d41"},
    "roastify": {"apiKey": "rty_live_canary_5a7713ce"},
}
# The consumer key names the caller in signed requests, like a user name.
SECRETS = [
    secret
    for given in CREDENTIALS.values()
    for name, secret in given.items()
    if name != "consumerKey"
]


@pytest.fixture
def allowed() -> str:
    return ""


@pytest.fixture
def settings(settings: Settings, allowed: str) -> Settings:
    return settings.model_copy(update={"provider_allow": allowed})


async def test_no_address_of_a_shop_reaches_the_canary(client: httpx2.AsyncClient) -> None:
    async with serving(answering()) as canary:
        urls = list(hostile_urls(canary.port))
        assert len(set(urls)) >= 300
        for number, url in enumerate(urls):
            provider = tuple(CREDENTIALS)[number % len(CREDENTIALS)]
            order = {"provider": provider, "address": url, "credentials": CREDENTIALS[provider]}
            if len(url) > 1000 or not url.isprintable():
                continue
            made = await client.post("/api/connections", json=order)
            # `example.com/…` is a public address: it is only not reached from here.
            if made.status_code == 201:
                assert canary.port != httpx2.URL(made.json()["address"]).port, url
                continue
            assert made.status_code == 422, (url, made.text)
        assert canary.connections == 0


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """All that is logged, as a server logs it."""
    written = io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    before = structlog.get_config()
    configure_logging("debug", json=True)
    yield written
    structlog.configure(**before)


class Echo:
    """A shop that answers with everything it was sent."""

    def __init__(self) -> None:
        self.status = "500 Internal Server Error"

    async def __call__(self, request: bytes, writer: asyncio.StreamWriter) -> None:
        head = (
            f"HTTP/1.1 {self.status}\r\nContent-Length: {len(request)}\r\n"
            f"Location: http://127.0.0.1:9/{SECRETS[0]}\r\nConnection: close\r\n\r\n"
        )
        writer.write(head.encode() + request)
        await writer.drain()


class LeakyFetch:
    """Fails with everything that it was asked to send."""

    def __init__(self) -> None:
        self.asked = 0

    async def fetch(self, request: Any) -> Any:
        self.asked += 1
        raise RuntimeError(f"{request.url} {dict(request.headers)} {request.body!r}")

    async def check(self, url: str) -> None:
        return


@pytest.fixture
async def echo() -> AsyncIterator[tuple[Echo, int]]:
    shop = Echo()
    async with serving(shop) as seen:
        yield shop, seen.port


async def use(client: httpx2.AsyncClient, bench: Bench, connection: str) -> list[str]:
    """Everything that a connection is used for; all answers."""
    answers = [
        await client.get("/api/connections"),
        await client.post(f"/api/connections/{connection}/test"),
        await client.get(f"/api/connections/{connection}/products"),
        await client.get(f"/api/connections/{connection}"),
    ]
    order = {"connectionId": connection, "all": True}
    made = await client.post("/api/products/import", json=order)
    assert made.status_code == 202, made.text
    job = made.json()["jobId"]
    await bench.work()
    for path in ("", "/items", "/events"):
        answers.append(await client.get(f"/api/jobs/{job}{path}"))
    answers.append(await client.post(f"/api/jobs/{job}/export", params={"format": "csv"}))
    answers.append(await client.get("/api/audit"))
    answers.append(await client.get("/api/dead-letters"))
    return [f"{answer.headers} {answer.text}" for answer in answers]


@pytest.mark.parametrize("allowed", ["127.0.0.1"])
async def test_no_credential_comes_out_anywhere(
    client: httpx2.AsyncClient, bench: Bench, db: Database, echo: tuple[Echo, int],
    logged: io.StringIO,
) -> None:  # fmt: skip
    shop, port = echo
    told: list[str] = []
    for number, status in enumerate(("500 Oh", "401 No", "302 Found", "200 OK", "429 Later")):
        shop.status = status
        for provider, given in CREDENTIALS.items():
            address = f"http://127.0.0.1:{port}/{number}"
            order = {"provider": provider, "address": address, "credentials": given}
            made = await client.post("/api/connections", json=order)
            assert made.status_code == 201, made.text
            told += [made.text, *await use(client, bench, made.json()["id"])]
    fetchers = bench.runtime.fetchers
    leaky = LeakyFetch()
    object.__setattr__(bench.runtime, "fetchers", {**fetchers, FetchPurpose.PROVIDER: leaky})
    for provider, given in CREDENTIALS.items():
        # Another address: no circuit is open for it, and no item waits.
        order = {"provider": provider, "address": f"http://127.0.0.1:{port}/leaky"}
        made = await client.post("/api/connections", json={**order, "credentials": given})
        before = leaky.asked
        told += await use(client, bench, made.json()["id"])
        assert leaky.asked > before, provider
    object.__setattr__(bench.runtime, "fetchers", fetchers)
    assert len(told) > 100
    places = {
        "answers": "\n".join(told),
        "database": await everything_stored(db),
        "logs": logged.getvalue(),
    }
    assert "connections" in places["database"]
    found = {name: [one for one in SECRETS if one in text] for name, text in places.items()}
    assert found == {"answers": [], "database": [], "logs": []}
