"""Exports take turns, and their readers have to read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx2
import pytest
from fastapi import FastAPI
from tests.api.conftest import Caller, refused, submit_noop
from tests.fixtures import Bench

from penstock.api.jobs import export
from penstock.guards.concurrency import Work


@pytest.fixture
async def exported(caller: Caller, bench: Bench) -> str:
    job = await submit_noop(await caller(), items=3000)
    await bench.work()
    return job


async def test_one_org_cannot_take_all_exports(
    app: FastAPI, caller: Caller, exported: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of three places one org holds two at the most, one of its users one; who finds none waits,
    and is refused where too many wait."""
    turns = app.state.api.turns
    monkeypatch.setitem(turns._kinds, "export", Work("export", 1, 2, 3, 2, wait_s=0.2))
    held: list[asyncio.Event] = []

    async def endless(*args: object) -> AsyncIterator[bytes]:
        held.append(asyncio.Event())
        yield b"head\n"
        await held[-1].wait()

    monkeypatch.setattr(export, "export_pieces", endless)
    users = [await caller(role="viewer", email=f"viewer{n}@acme") for n in range(6)]
    asked = [
        asyncio.create_task(user.post(f"/api/jobs/{exported}/export"))
        for user in (*users, users[0])
    ]
    ended: list[httpx2.Response] = []
    for one in asyncio.as_completed(asked):
        ended.append(await one)
        if len(ended) == 5:
            break
    for answer in ended:
        refused(answer, 429, "TOO_MANY_AT_ONCE")
        assert int(answer.headers["retry-after"]) >= 1
    assert (len(held), turns.gate.running()["export"]) == (2, 2)
    assert sum(one.done() for one in asked) == 5
    monkeypatch.undo()
    other = await caller("other")
    job = await submit_noop(other, items=3)
    assert (await other.post(f"/api/jobs/{job}/export")).status_code == 200
    for event in held:
        event.set()
    await asyncio.gather(*asked)
    assert turns.gate.running()["export"] == 0


async def test_a_reader_that_takes_nothing_is_cut_off(
    app: FastAPI, port: int, caller: Caller, exported: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would hold its org's turn for as long as it likes."""
    monkeypatch.setattr(export, "_PATIENCE_S", 0.3)

    async def plenty(*args: object) -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 1024 * 1024

    monkeypatch.setattr(export, "export_pieces", plenty)
    key = (await caller(role="viewer")).headers["authorization"]
    gate = app.state.api.turns.gate
    async with (
        httpx2.AsyncClient(
            base_url=f"http://127.0.0.1:{port}", headers={"Authorization": key}, timeout=20
        ) as client,
        client.stream("POST", f"/api/jobs/{exported}/export") as answer,
    ):
        assert answer.status_code == 200
        async with asyncio.timeout(20):
            while gate.running()["export"]:
                await asyncio.sleep(0.05)
    assert gate.running()["export"] == 0
