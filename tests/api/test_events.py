"""Events of all jobs: in commit order, without gaps, and only for who may hear them."""

from __future__ import annotations

from typing import Any

import httpx2
from tests.api.conftest import Caller
from tests.engine.receiving import past_all
from tests.fixtures import Bench


async def heard(client: httpx2.AsyncClient) -> list[dict[str, Any]]:
    """Everything, a few at a time."""
    events: list[dict[str, Any]] = []
    since = "0-0"
    while True:
        page = (await client.get("/api/events", params={"since": since, "limit": 3})).json()
        if not page["items"]:
            return events
        events += page["items"]
        since = page["next"]


async def test_every_job_is_told_whole_and_only_to_its_own(bench: Bench, caller: Caller) -> None:
    mine, theirs = await caller("acme"), await caller("globex")
    admin = await caller("default", role="admin")
    answers = [
        await client.post("/api/jobs", json={"pipeline": "noop", "config": {"items": 2}})
        for client in (mine, theirs, mine)
    ]
    ids = [answer.json()["jobId"] for answer in answers]
    await bench.work()
    await past_all(bench.runtime)
    for client, jobs in ((mine, {ids[0], ids[2]}), (theirs, {ids[1]})):
        events = await heard(client)
        assert {event["jobId"] for event in events} == jobs
        for job in jobs:
            told = [event["seq"] for event in events if event["jobId"] == job]
            assert told == list(range(1, len(told) + 1))
    everything = await heard(admin)
    assert {event["jobId"] for event in everything} == {*ids, None}
    assert "worker.started" in {event["event"] for event in everything}


async def test_a_wrong_place_is_refused(caller: Caller) -> None:
    client = await caller("acme")
    answer = await client.get("/api/events", params={"since": "yesterday"})
    assert answer.status_code == 422
