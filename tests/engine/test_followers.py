"""Followers of the events: each event once and in order, whatever dies in between."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.checker.benches import Tried
from tests.engine.receiving import past_all

from penstock.engine.failpoints import FailpointReached, Failpoints
from penstock.engine.services.follow import follow
from penstock.store.database import Connection
from penstock.store.jobs import followers
from penstock.store.jobs.followers import EventRange


class Recorder:
    """Writes the number of every event it is handed into a table of its own."""

    def __init__(self) -> None:
        self.pages = 0

    async def __call__(self, conn: Connection, events: EventRange) -> frozenset[str]:
        self.pages += 1
        await conn.execute(
            "INSERT INTO heard SELECT id FROM events WHERE (xid, id) > ($1::text::xid8, $2)"
            " AND (xid, id) <= ($3::text::xid8, $4)", *events.start, *events.end,
        )  # fmt: skip
        return frozenset({"normal"})


async def listen(tried: Tried, name: str) -> None:
    async with tried.runtime.db.acquire() as conn:
        await conn.execute("CREATE TABLE IF NOT EXISTS heard (id bigint)")
        await followers.add_cursor(conn, name)


async def heard_and_told(tried: Tried) -> tuple[list[int], list[int]]:
    async with tried.runtime.db.acquire() as conn:
        heard = [row["id"] for row in await conn.fetch("SELECT id FROM heard ORDER BY id")]
        told = [row["id"] for row in await conn.fetch("SELECT id FROM events ORDER BY id")]
    return heard, told


async def test_a_new_follower_hears_what_happens_from_then_on(tried: Tried) -> None:
    await tried.finish(await tried.send({"rows": 1}))
    await listen(tried, "mail")
    before = (await heard_and_told(tried))[1]
    await tried.finish(await tried.send({"rows": 3}))
    await past_all(tried.runtime)
    recorder = Recorder()
    lanes = [one async for one in follow(tried.runtime, "mail", 2, recorder)]
    heard, told = await heard_and_told(tried)
    assert heard == [one for one in told if one not in before]
    assert recorder.pages == len(lanes) > 1
    assert [one async for one in follow(tried.runtime, "mail", 2, recorder)] == []


@pytest.mark.parametrize("place", ["follow_before_commit", "follow_after_commit"])
async def test_a_crash_neither_misses_nor_repeats_an_event(tried: Tried, place: str) -> None:
    await listen(tried, "mail")
    await tried.finish(await tried.send({"rows": 3}))
    await past_all(tried.runtime)
    dying = replace(tried.runtime, failpoints=Failpoints(f"{place}:raise"))
    with pytest.raises(FailpointReached):
        async for _ in follow(dying, "mail", 2, Recorder()):
            pass
    async for _ in follow(tried.runtime, "mail", 2, Recorder()):
        pass
    heard, told = await heard_and_told(tried)
    assert heard == told


async def test_followers_do_not_move_each_other(tried: Tried) -> None:
    await listen(tried, "mail")
    await listen(tried, "chat")
    await tried.finish(await tried.send({"rows": 2}))
    await past_all(tried.runtime)
    for name in ("mail", "chat"):
        async for _ in follow(tried.runtime, name, 100, Recorder()):
            pass
    heard, told = await heard_and_told(tried)
    assert heard == sorted([*told, *told])
