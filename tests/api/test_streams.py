"""Events as they happen: each once, in order, resumed without a gap, and only for who may hear."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import httpx2
import pytest
from fastapi import FastAPI
from tests.api.conftest import Caller, refused, submit_noop
from tests.api.listening import Reader, listening, until
from tests.engine.receiving import past_all
from tests.fixtures import Bench

from penstock.api.live import stream, tail
from penstock.api.live.stream import Live, StreamAuthorizer
from penstock.guards.concurrency import Work
from penstock.store.accounts import accounts
from penstock.store.database import Database, DatabaseAway
from penstock.store.jobs import events, jobs


@pytest.fixture
async def wire(port: int, caller: Caller) -> AsyncIterator[Caller]:
    """Callers over a real connection: a stream has no end to wait for."""
    opened: list[httpx2.AsyncClient] = []

    async def call(*args: str, **more: str) -> httpx2.AsyncClient:
        key = (await caller(*args, **more)).headers["authorization"]
        opened.append(
            httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers={"Authorization": key})
        )
        return opened[-1]

    yield call
    for client in opened:
        await client.aclose()


@pytest.fixture
def streams(app: FastAPI) -> Live:
    found: Live = app.state.live
    return found


def ends(reader: Reader) -> bool:
    return "job.completed" in reader.names


async def test_a_job_is_told_from_its_beginning_to_its_end(bench: Bench, wire: Caller) -> None:
    client = await wire()
    job = await submit_noop(client, items=300)
    async with listening(client, f"/api/jobs/{job}/events") as reader:
        await until(lambda: reader.names == ["job.queued"])
        await bench.work()
        await until(lambda: ends(reader))
    polled = (await client.get(f"/api/jobs/{job}/events")).json()["items"]
    assert [block.data for block in reader.events] == polled
    assert [int(block.id) for block in reader.events] == [event["seq"] for event in polled]
    assert [block.event for block in reader.events] == [event["event"] for event in polled]
    assert reader.blocks[0].retry
    progress = next(event for event in polled if event["event"] == "job.progress")
    shown = (await client.get(f"/api/jobs/{job}")).json()
    assert set(progress["data"]["counters"]) == set(shown["counters"])
    assert sum(progress["data"]["counters"].values()) == 2 * progress["data"]["counters"]["total"]


async def test_a_reader_resumes_after_what_it_has_heard(bench: Bench, wire: Caller) -> None:
    client = await wire()
    job = await submit_noop(client, items=3)
    await bench.work()
    whole = (await client.get(f"/api/jobs/{job}/events")).json()["items"]
    for last_id, params in (("1", {"since": 0}), ("", {"since": 1})):
        async with listening(client, f"/api/jobs/{job}/events", last_id, **params) as reader:
            await until(lambda: ends(reader))
        assert [block.data for block in reader.events] == whole[1:]


async def test_all_jobs_are_told_from_now_on(bench: Bench, wire: Caller) -> None:
    mine, theirs = await wire("acme"), await wire("globex")
    admin = await wire("default", role="admin")
    await submit_noop(mine)
    async with (
        listening(mine, "/api/events") as heard,
        listening(theirs, "/api/events") as other,
        listening(admin, "/api/events") as everything,
    ):
        # The first id says where "now" was, so that a lost connection loses nothing.
        await until(lambda: heard.last_id and other.last_id and everything.last_id)
        first = heard.last_id
        job = await submit_noop(mine)
        await bench.work()
        await until(lambda: ends(heard) and heard.names.count("job.completed") == 2)
        await until(lambda: everything.names.count("job.completed") == 2)
        assert not other.events
        assert "worker.started" in everything.names
        assert "worker.started" not in heard.names
    told = [block.data["seq"] for block in heard.events if block.data["jobId"] == job]
    assert told == list(range(1, len(told) + 1))
    async with listening(mine, "/api/events", first) as again:
        await until(lambda: len(again.events) == len(heard.events))
        assert [block.id for block in again.events] == [block.id for block in heard.events]
    page = (await mine.get("/api/events", params={"since": first})).json()
    assert [block.data for block in heard.events] == page["items"]


async def test_polling_can_begin_now(bench: Bench, wire: Caller) -> None:
    client = await wire()
    await submit_noop(client)
    await past_all(bench.runtime)
    now = (await client.get("/api/events", params={"since": "now"})).json()
    assert now["items"] == []
    job = await submit_noop(client)
    await past_all(bench.runtime)
    later = (await client.get("/api/events", params={"since": now["next"]})).json()
    assert [event["jobId"] for event in later["items"]] == [job]


async def test_a_colleague_hears_only_where_the_org_shares(
    bench: Bench, wire: Caller, db: Database, streams: Live
) -> None:
    owner, colleague = await wire(), await wire(email="b@acme")
    streams.authorizer = StreamAuthorizer(every_s=0.1)
    async with listening(colleague, "/api/events") as apart:
        await until(lambda: apart.last_id)
        job = await submit_noop(owner)
        refused(await colleague.get(f"/api/jobs/{job}/events"), 404, "NOT_FOUND")
        async with db.acquire() as conn:
            await conn.execute("UPDATE orgs SET shared_jobs = true")
        # What it may hear has changed: it ends, and begins anew where it was.
        await until(lambda: apart.ended)
        assert not apart.events
    async with listening(colleague, "/api/events", apart.last_id) as together:
        await until(lambda: together.names == ["job.queued"])


async def test_a_revoked_key_hears_no_more(
    bench: Bench, wire: Caller, db: Database, streams: Live
) -> None:
    streams.authorizer = StreamAuthorizer(every_s=0.1)
    client = await wire()
    job = await submit_noop(client)
    async with (
        listening(client, f"/api/jobs/{job}/events") as one,
        listening(client, "/api/events") as all_of_them,
    ):
        await until(lambda: one.events and all_of_them.last_id)
        async with db.acquire() as conn:
            await conn.execute("UPDATE api_keys SET revoked_at = now()")
        await until(lambda: one.ended and all_of_them.ended)
        assert one.blocks[-1].retry
    assert (await client.get("/api/events")).status_code == 401


async def test_foreign_jobs_and_wrong_places_are_refused(wire: Caller) -> None:
    mine, theirs = await wire("acme"), await wire("globex")
    job = await submit_noop(mine)
    stream = {"Accept": "text/event-stream"}
    for path in (f"/api/jobs/{job}/events", "/api/jobs/nothing/events"):
        refused(await theirs.get(path, headers=stream), 404, "NOT_FOUND")
    for path, wrong in ((f"/api/jobs/{job}/events", "1-2"), ("/api/events", "-1")):
        answer = await mine.get(path, headers=stream | {"Last-Event-ID": wrong})
        refused(answer, 400, "INVALID_CURSOR")


async def test_streams_have_a_bound(wire: Caller, streams: Live) -> None:
    client = await wire()
    turns = streams.api.turns
    turns._kinds = turns._kinds | {"stream": Work("stream", 1, 1, 2)}
    async with listening(client, "/api/events"):
        answer = await client.get("/api/events", headers={"Accept": "text/event-stream"})
        refused(answer, 429, "TOO_MANY_AT_ONCE")
        assert int(answer.headers["retry-after"]) > 0
    await until(lambda: turns.gate.running()["stream"] == 0)


async def test_a_quiet_stream_shows_that_it_lives(wire: Caller, streams: Live) -> None:
    client = await wire()
    streams.beat_s = 0.05
    async with listening(client, "/api/events") as reader:
        await until(lambda: len([b for b in reader.blocks if b.comments]) > 3)
        assert not reader.events


async def test_a_server_that_leaves_ends_its_streams(wire: Caller, streams: Live) -> None:
    client = await wire()
    job = await submit_noop(client)
    async with (
        listening(client, f"/api/jobs/{job}/events") as one,
        listening(client, "/api/events") as all_of_them,
    ):
        await until(lambda: one.events and all_of_them.last_id)
        streams.tail.close()
        await until(lambda: one.ended and all_of_them.ended, seconds=2)
        assert one.blocks[-1].retry
        assert all_of_them.blocks[-1].retry
        answer = await client.get("/api/events", headers={"Accept": "text/event-stream"})
        refused(answer, 503, "SERVER_BUSY")


async def test_who_falls_behind_reads_on_from_the_database(
    bench: Bench, wire: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is kept in memory for whoever is slow, and still nothing is missed."""
    monkeypatch.setattr(tail, "_MOST_WAITING", 2)
    monkeypatch.setattr(stream, "_PAGE", 3)
    client = await wire()
    async with listening(client, "/api/events") as reader:
        await until(lambda: reader.last_id)
        ids = [await submit_noop(client, items=2) for _ in range(20)]
        await bench.work()
        await until(lambda: reader.names.count("job.completed") == 20)
    for job in ids:
        told = [block.data["seq"] for block in reader.events if block.data["jobId"] == job]
        assert told == list(range(1, len(told) + 1))


async def test_a_lost_database_is_waited_for(
    bench: Bench, wire: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads, failures = events.tail, 0

    async def fails_twice(*args: Any) -> Any:
        nonlocal failures
        failures += 1
        if failures <= 2:
            raise DatabaseAway("gone for a moment")
        return await reads(*args)

    client = await wire()
    async with listening(client, "/api/events") as reader:
        await until(lambda: reader.last_id)
        monkeypatch.setattr(events, "tail", fails_twice)
        await submit_noop(client)
        await until(lambda: reader.names == ["job.queued"])
    assert failures > 2


async def test_one_reader_serves_all_and_rests_with_the_last(wire: Caller, streams: Live) -> None:
    client = await wire()
    async with (
        listening(client, "/api/events") as one,
        listening(client, "/api/events") as two,
    ):
        await until(lambda: one.last_id and two.last_id)
        reading = streams.tail._reading
        assert reading is not None
        assert not reading.done()
    await until(lambda: reading.done() and not streams.tail._listeners)
    async with listening(client, "/api/events") as later:
        await until(lambda: later.last_id)
        await submit_noop(client)
        await until(lambda: later.names == ["job.queued"])


async def test_a_job_is_told_in_order_whichever_transaction_began_first(
    bench: Bench, wire: Caller, db: Database
) -> None:
    """The one that began first told last: in the stream over all jobs it comes last, too."""
    client = await wire()
    job = await submit_noop(client)
    async with listening(client, "/api/events", "0-0") as reader:
        await until(lambda: reader.names == ["job.queued"])
        async with db.acquire() as early:
            begun = early.transaction()
            await begun.start()
            await early.execute("SELECT pg_current_xact_id()")
            await client.post(f"/api/jobs/{job}/pause")
            await jobs.resume(early, UUID(job))
            await begun.commit()
        await until(lambda: len(reader.events) == 3)
    assert reader.names == ["job.queued", "job.paused", "job.resumed"]
    assert reader.numbers == [1, 2, 3]


async def test_accounts_are_asked_once_for_many_streams(streams: Live) -> None:
    asked = 0

    async def identify() -> accounts.Principal:
        nonlocal asked
        asked += 1
        await asyncio.sleep(0.01)
        return accounts.Principal(1, 1, "a@b", "member", "acme", "standard")

    scope = accounts.Principal(1, 1, "a@b", "member", "acme", "standard").scope
    caller = stream.Caller(scope, b"key", identify)
    assert all(await asyncio.gather(*(streams.authorizer.lets(caller) for _ in range(50))))
    assert asked == 1
