"""Events over a web socket: the same as in a stream, for several jobs in one connection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import orjson
import pytest
from fastapi import FastAPI
from tests.api.conftest import Caller, submit_noop
from tests.checker.polling import until
from tests.fixtures import Bench
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from penstock.api.live import websocket
from penstock.api.live.stream import Live, StreamAuthorizer
from penstock.store.database import Database

Talk = Callable[[httpx2.AsyncClient], Any]


@pytest.fixture
def talk(port: int) -> Talk:
    @asynccontextmanager
    async def opened(client: httpx2.AsyncClient) -> AsyncIterator[ClientConnection]:
        headers = {"Authorization": client.headers["authorization"]}
        async with connect(f"ws://127.0.0.1:{port}/ws", additional_headers=headers) as socket:
            yield socket

    return opened


@pytest.fixture
def streams(app: FastAPI) -> Live:
    found: Live = app.state.live
    return found


async def say(socket: ClientConnection, **wish: Any) -> None:
    await socket.send(orjson.dumps(wish).decode())


async def hear(socket: ClientConnection, kind: str, event: str = "") -> dict[str, Any]:
    """The next of its kind; what comes before is passed over."""
    async with asyncio.timeout(30):
        while True:
            told: dict[str, Any] = orjson.loads(await socket.recv())
            if told["type"] == kind and event in ("", told.get("event", {}).get("event")):
                return told


async def until_event(socket: ClientConnection, topic: str, last: str) -> list[dict[str, Any]]:
    heard: list[dict[str, Any]] = []
    async with asyncio.timeout(30):
        while not heard or heard[-1]["event"]["event"] != last:
            told = orjson.loads(await socket.recv())
            if told["type"] == "event" and told["topic"] == topic:
                heard.append(told)
    return heard


async def test_a_job_and_all_jobs_in_one_connection(
    bench: Bench, client: httpx2.AsyncClient, talk: Talk
) -> None:
    job = await submit_noop(client)

    async def is_told() -> bool:
        return bool((await client.get("/api/events")).json()["items"])

    # A transaction of another test on this server may be open since before, and holds it back.
    await until(is_told, "the first event to be told to all")
    async with talk(client) as socket:
        await say(socket, subscribe="all")
        everywhere = await hear(socket, "subscribed")
        await say(socket, subscribe=job)
        assert (await hear(socket, "subscribed"))["topic"] == job
        await bench.work()
        heard = await until_event(socket, job, "job.completed")
    polled = (await client.get(f"/api/jobs/{job}/events")).json()["items"]
    assert [told["event"] for told in heard] == polled
    assert [told["id"] for told in heard] == [str(event["seq"]) for event in polled]
    async with talk(client) as socket:
        await say(socket, subscribe=job, since=2)
        assert (await until_event(socket, job, "job.completed")) == heard[2:]
        await say(socket, subscribe="all", since=everywhere["id"])
        again = await until_event(socket, "all", "job.completed")
        assert [told["event"] for told in again] == polled[1:]
        await say(socket, unsubscribe="all")
        assert (await hear(socket, "unsubscribed"))["topic"] == "all"


async def test_nobody_without_a_key_and_nothing_foreign(
    port: int, caller: Caller, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    for headers in ({}, {"Authorization": "Bearer pk_wrong"}, {"Cookie": "penstock_session=x"}):
        with pytest.raises(InvalidStatus) as refusal:
            await connect(f"ws://127.0.0.1:{port}/ws", additional_headers=headers)
        assert refusal.value.response.status_code == 401
        told = orjson.loads(refusal.value.response.body or b"")
        assert told["error"]["code"] == "AUTHENTICATION_FAILED"
    monkeypatch.setattr(websocket, "_MOST_SUBSCRIPTIONS", 1)
    mine, theirs = await caller("acme"), await caller("globex")
    job = await submit_noop(mine)
    async with talk(theirs) as socket:
        for wish, code in (
            ({"subscribe": job}, "NOT_FOUND"),
            ({"subscribe": "x"}, "NOT_FOUND"),
            ({"subscribe": "all", "since": "x"}, "INVALID_CURSOR"),
            ({"subscribe": "all", "unsubscribe": "all"}, "INVALID_PARAMETERS"),
            ({"subscribe": "all", "org": 1}, "UNKNOWN_FIELD"),
            ({}, "INVALID_PARAMETERS"),
        ):
            await say(socket, **wish)
            assert (await hear(socket, "error"))["error"]["code"] == code
        await socket.send("{")
        assert (await hear(socket, "error"))["error"]["code"] == "INVALID_JSON"
        await say(socket, subscribe="all")
        await hear(socket, "subscribed")
        own = await submit_noop(theirs)
        told = await hear(socket, "event")
        assert told["event"]["jobId"] == own
        await say(socket, subscribe=own)
        assert (await hear(socket, "error"))["error"]["code"] == "TOO_MANY_SUBSCRIPTIONS"


async def test_a_revoked_key_and_a_server_that_leaves(
    client: httpx2.AsyncClient, talk: Talk, streams: Live, db: Database
) -> None:
    streams.authorizer = StreamAuthorizer(every_s=0.1)
    async with talk(client) as socket:
        await say(socket, subscribe="all")
        await hear(socket, "subscribed")
        async with db.acquire() as conn:
            await conn.execute("UPDATE api_keys SET revoked_at = now()")
        with pytest.raises(ConnectionClosed) as closed:
            await hear(socket, "never")
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 4401
        async with db.acquire() as conn:
            await conn.execute("UPDATE api_keys SET revoked_at = NULL")
        streams.authorizer = StreamAuthorizer(every_s=0.1)
    async with talk(client) as socket:
        await say(socket, subscribe="all")
        await hear(socket, "subscribed")
        streams.tail.close()
        assert (await hear(socket, "end"))["retryMs"] > 0
        with pytest.raises(ConnectionClosed) as closed:
            await hear(socket, "never")
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1012
    assert streams.api.turns.gate.running()["stream"] == 0
