"""Streams and web sockets: how many, how large, how often."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import httpx2
import orjson
import pytest
from tests.api.conftest import Caller, refused
from tests.api.listening import listening, until
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from penstock.settings import Settings

MEBIBYTE = 1024 * 1024


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"requests_per_second": 20, "requests_burst": 60})


async def _opened(port: int, client: httpx2.AsyncClient) -> ClientConnection:
    headers = {"Authorization": client.headers["authorization"]}
    return await connect(
        f"ws://127.0.0.1:{port}/ws", additional_headers=headers, max_size=None, compression=None
    )


@pytest.fixture
async def socket(port: int, caller: Caller) -> AsyncIterator[ClientConnection]:
    opened = await _opened(port, await caller(role="viewer"))
    yield opened
    await opened.close()


async def _closed_with(socket: ClientConnection, message: str = "") -> int | None:
    """The code that the server closes with, once it was sent a message."""
    async with asyncio.timeout(20):
        with contextlib.suppress(ConnectionClosed):
            if message:
                await socket.send(message)
        with contextlib.suppress(ConnectionClosed):
            while True:
                await socket.recv()
    return socket.close_code


async def test_a_message_of_megabytes_closes_the_connection(
    port: int, socket: ClientConnection, caller: Caller
) -> None:
    innocent = await caller("other")
    assert await _closed_with(socket, "[" * 14 * MEBIBYTE) == 1009
    assert (await innocent.get("/api/jobs")).status_code == 200


async def test_a_compressed_bomb_closes_the_connection(port: int, caller: Caller) -> None:
    client = await caller(role="viewer")
    headers = {"Authorization": client.headers["authorization"]}
    async with connect(f"ws://127.0.0.1:{port}/ws", additional_headers=headers) as packed:
        assert await _closed_with(packed, " " * 14 * MEBIBYTE) == 1009


async def test_bytes_are_answered_with_an_error(socket: ClientConnection) -> None:
    await socket.send(b'{"subscribe": "all"}')
    told = orjson.loads(await socket.recv())
    assert (told["type"], told["error"]["code"]) == ("error", "INVALID_JSON")
    await socket.send('{"subscribe": "all"}')
    assert orjson.loads(await socket.recv())["type"] == "subscribed"


async def test_invalid_messages_are_not_free(socket: ClientConnection) -> None:
    async def flood() -> None:
        for _ in range(500):
            await socket.send("{")

    sending = asyncio.create_task(flood())
    assert await _closed_with(socket) == 4429
    await asyncio.gather(sending, return_exceptions=True)


async def test_one_key_and_one_org_cannot_take_all_streams(port: int, caller: Caller) -> None:
    """20 per key, 100 per org; another org gets one all the same."""
    async with AsyncExitStack() as stack:
        opened = 0
        for number in range(6):
            key = (await caller(email=f"viewer{number}@acme", role="viewer")).headers
            client = await stack.enter_async_context(
                httpx2.AsyncClient(
                    base_url=f"http://127.0.0.1:{port}",
                    timeout=30,
                    limits=httpx2.Limits(),
                    headers={"Authorization": key["authorization"]},
                )
            )
            readers = []
            for _ in range(20):
                if opened == 100:
                    break
                readers.append(await stack.enter_async_context(listening(client, "/api/events")))
                opened += 1
            await until(lambda readers=readers: all(one.blocks for one in readers), seconds=20)
            answer = await client.get("/api/events", headers={"Accept": "text/event-stream"})
            refused(answer, 429, "TOO_MANY_AT_ONCE")
        assert opened == 100
        other_key = (await caller("other")).headers["authorization"]
        other = await stack.enter_async_context(
            httpx2.AsyncClient(
                base_url=f"http://127.0.0.1:{port}", headers={"Authorization": other_key}
            )
        )
        reader = await stack.enter_async_context(listening(other, "/api/events"))
        await until(lambda: reader.blocks)


async def test_requests_are_counted_per_user_and_org(caller: Caller) -> None:
    """More keys of one user, and more users of one org, bring less than as many times more: 60 at
    once per key, 120 per user, 240 per org, and 20, 40 and 80 per second."""
    began = time.monotonic()
    allowed: dict[str, int] = {}
    for user in ("one", "two", "three"):
        for _ in range(4):
            key = await caller(email=f"{user}@acme")
            for _ in range(75):
                answer = await key.get("/api/fields")
                allowed[user] = allowed.get(user, 0) + (answer.status_code == 200)
    took = time.monotonic() - began
    assert allowed["one"] <= 120 + 40 * took
    assert sum(allowed.values()) <= 240 + 80 * took
    assert sum(allowed.values()) < 12 * 75
    assert (await (await caller("other")).get("/api/fields")).status_code == 200
