"""Dead letters over HTTP: who sees which, what becomes of them, and nothing twice."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

import httpx2
import orjson
import pytest
from fastapi import FastAPI
from tests.api.conftest import Caller, client_of, file_of, refused, shaped, submit_noop
from tests.api.test_access import UNKNOWN, plain
from tests.fixtures import Bench

from penstock.api.http.access import Api
from penstock.api.jobs.dead_letter_schemas import (
    BulkLetters,
    FullLetter,
    GroupPage,
    LetterPage,
    LetterShape,
)
from penstock.api.jobs.schemas import FullJob, Receipt
from penstock.app import dead_letters as engine
from penstock.engine import ending
from penstock.engine.failpoints import Failpoints
from penstock.engine.runtime import Runtime
from penstock.model.errors import ItemError, Unavailable
from penstock.store.database import Database


async def failed(
    client: httpx2.AsyncClient, runtime: Runtime, code: str = "JOB_TIMEOUT",
    message: str = "too long", job: str = "",
) -> str:  # fmt: skip
    """A job of theirs that failed for good; answers its letter."""
    job_id = UUID(job or await submit_noop(client))
    async with runtime.db.transaction() as conn:
        await ending.fail(
            conn, job_id, ItemError(code, message, details={"row": 3}), "w", trace="Traceback …"
        )
        return str(await conn.fetchval("SELECT id FROM dead_letters WHERE job_id = $1", job_id))


async def listed(client: httpx2.AsyncClient, **query: str | int) -> list[LetterShape]:
    page = shaped(LetterPage, await client.get("/api/dead-letters", params=query))
    return page.items


async def test_a_letter_is_listed_and_shown(client: httpx2.AsyncClient, runtime: Runtime) -> None:
    job = await submit_noop(client, name="Spring", config={"items": 4})
    letter = await failed(client, runtime, job=job)
    (shown,) = await listed(client)
    assert (str(shown.id), str(shown.job_id)) == (letter, job)
    assert (shown.state, shown.code, shown.name, shown.attempts) == (
        "open",
        "JOB_TIMEOUT",
        "Spring",
        1,
    )
    full = shaped(FullLetter, await client.get(f"/api/dead-letters/{letter}"))
    assert full.config["items"] == 4
    assert full.details == {"row": 3}
    events = (await client.get(f"/api/jobs/{job}/events")).json()["items"]
    assert letter in [e["data"].get("letterId") for e in events]


async def test_the_trace_is_for_admins(
    client: httpx2.AsyncClient, caller: Caller, runtime: Runtime
) -> None:
    letter = await failed(client, runtime)
    for caller_of in (client, await caller(role="viewer")):
        shown = shaped(FullLetter, await caller_of.get(f"/api/dead-letters/{letter}"))
        assert shown.trace is None
    admin = await caller("house", role="admin")
    shown = shaped(FullLetter, await admin.get(f"/api/dead-letters/{letter}"))
    assert shown.trace == "Traceback …"


async def test_pages_and_filters(client: httpx2.AsyncClient, runtime: Runtime) -> None:
    made = [
        await failed(client, runtime, code, f"row {n} is wrong")
        for n, code in enumerate(["A_CODE", "B_CODE", "A_CODE", "A_CODE", "B_CODE"])
    ]
    await client.post(f"/api/dead-letters/{made[3]}/discard", json={"reason": "known"})
    seen: list[str] = []
    after = ""
    while True:
        answer = await client.get("/api/dead-letters", params={"pageSize": 2, "after": after})
        page = shaped(LetterPage, answer)
        seen += [str(letter.id) for letter in page.items]
        if page.next is None:
            break
        after = page.next
    assert seen == made[::-1]
    assert [str(x.id) for x in await listed(client, code="B_CODE")] == [made[4], made[1]]
    assert [str(x.id) for x in await listed(client, state="discarded")] == [made[3]]
    both = await listed(client, state="open,discarded", code="A_CODE")
    assert [str(x.id) for x in both] == [made[3], made[2], made[0]]
    alike = both[0].signature
    assert [str(x.id) for x in await listed(client, signature=alike)] == [made[3], made[2], made[0]]
    assert await listed(client, pipeline="extraction") == []
    third = both[1].last_failed_at
    later = [str(x.id) for x in await listed(client, since=third.isoformat())]
    assert later == [made[4], made[3], made[2]]
    assert len(await listed(client, until=third.isoformat())) == 2
    cursor: dict[str, str | int] = {"pageSize": 2, "after": after, "code": "A_CODE"}
    refused(await client.get("/api/dead-letters", params=cursor), 400, "INVALID_CURSOR")
    for nonsense in (
        "since=soon",
        "since=9999-12-31T23:00:00-12:00",
        "state=nope",
        "signature=%00",
    ):
        refused(await client.get(f"/api/dead-letters?{nonsense}"), 422, "INVALID_PARAMETERS")


async def test_groups_count_what_is_open(
    client: httpx2.AsyncClient, caller: Caller, runtime: Runtime
) -> None:
    made = [await failed(client, runtime, "A_CODE", f"row {n} is wrong") for n in range(3)]
    other = await failed(client, runtime, "B_CODE", "another thing")
    colleague = await caller(email="second@acme")
    theirs = await failed(colleague, runtime, "A_CODE", "row 77 is wrong")

    async def groups(by: httpx2.AsyncClient) -> dict[str | None, tuple[int, str]]:
        page = shaped(GroupPage, await by.get("/api/dead-letters/groups"))
        return {g.code: (g.count, str(g.newest_letter_id)) for g in page.items}

    assert await groups(client) == {"A_CODE": (3, made[2]), "B_CODE": (1, other)}
    assert await groups(colleague) == {"A_CODE": (1, theirs)}
    assert await groups(await caller(role="viewer")) == {
        "A_CODE": (4, theirs),
        "B_CODE": (1, other),
    }
    admin = await caller("house", role="admin")
    assert await groups(admin) == {"A_CODE": (4, theirs), "B_CODE": (1, other)}
    assert await groups(await caller("other")) == {}
    await client.post(f"/api/dead-letters/{other}/reprocess")
    await client.post(f"/api/dead-letters/{made[0]}/discard", json={"reason": "known"})
    assert await groups(client) == {"A_CODE": (2, made[2])}
    # Emptied, a group begins anew.
    (before,) = [x for x in await listed(client) if x.code == "B_CODE"]
    await failed(client, runtime, "B_CODE", "another thing")
    page = shaped(GroupPage, await client.get("/api/dead-letters/groups?pageSize=1"))
    assert page.next is not None
    answer = await client.get("/api/dead-letters/groups", params={"after": page.next})
    (second,) = shaped(GroupPage, answer).items
    assert (second.count, second.first_failed_at > before.first_failed_at) == (1, True)


async def test_reprocess_makes_a_job_of_the_same_user_at_priority_10(
    client: httpx2.AsyncClient, caller: Caller, bench: Bench, runtime: Runtime, db: Database
) -> None:
    job = (await client.post("/api/jobs", files=file_of(), data={"name": "Spring"})).json()["jobId"]
    letter = await failed(client, runtime, job=job)
    admin = await caller("house", role="admin")
    answer = await admin.post(f"/api/dead-letters/{letter}/reprocess")
    made = shaped(Receipt, answer, 202)
    assert answer.headers["location"] == f"/api/jobs/{made.job_id}"
    await bench.work()
    new = shaped(FullJob, await client.get(f"/api/jobs/{made.job_id}"))
    assert (new.state, new.priority, new.name, new.org) == ("done", 10, "Spring", "acme")
    shown = shaped(FullLetter, await client.get(f"/api/dead-letters/{letter}"))
    assert (shown.state, shown.new_job_id) == ("reprocessed", made.job_id)
    assert shown.closed_at is not None
    again = refused(
        await client.post(f"/api/dead-letters/{letter}/reprocess"), 409, "INVALID_STATE"
    )
    assert again.error.details == {"state": "reprocessed", "newJobId": str(made.job_id)}
    discard = await client.post(f"/api/dead-letters/{letter}/discard", json={"reason": "no"})
    refused(discard, 409, "INVALID_STATE")
    async with db.acquire() as conn:
        (audited,) = await conn.fetch("SELECT * FROM audit WHERE action LIKE 'dead_letter.%'")
    assert audited["target"] == f"dead-letter:{letter}"
    assert orjson.loads(audited["before"]) == {"state": "open"}
    assert orjson.loads(audited["after"])["newJobId"] == str(made.job_id)


async def test_a_job_that_fails_again_leaves_a_second_letter(
    client: httpx2.AsyncClient, runtime: Runtime
) -> None:
    first = await failed(client, runtime)
    made = shaped(Receipt, await client.post(f"/api/dead-letters/{first}/reprocess"), 202)
    second = await failed(client, runtime, job=str(made.job_id))
    assert [str(x.id) for x in await listed(client, state="open")] == [second]


async def test_a_job_taken_up_again_itself_closes_its_letter(
    client: httpx2.AsyncClient, bench: Bench, runtime: Runtime
) -> None:
    job = await submit_noop(client)
    letter = await failed(client, runtime, job=job)
    assert (await client.post(f"/api/jobs/{job}/reprocess")).status_code == 200
    shown = shaped(FullLetter, await client.get(f"/api/dead-letters/{letter}"))
    assert (shown.state, str(shown.new_job_id)) == ("reprocessed", job)
    refused(await client.post(f"/api/dead-letters/{letter}/reprocess"), 409, "INVALID_STATE")
    assert shaped(GroupPage, await client.get("/api/dead-letters/groups")).items == []
    # If it fails once more, that is another letter.
    await bench.work()
    again = await client.post(f"/api/jobs/{job}/reprocess", json={"statuses": ["DONE"]})
    assert again.status_code == 200, again.text
    async with runtime.db.transaction() as conn:
        await ending.fail(conn, UUID(job), ItemError("JOB_TIMEOUT", "again"), None)
    assert [x.state for x in await listed(client)] == ["open", "reprocessed"]


async def test_discard_needs_a_reason_and_keeps_it(
    client: httpx2.AsyncClient, runtime: Runtime, db: Database
) -> None:
    letter = await failed(client, runtime)
    for body in ({}, {"reason": ""}, {"reason": "x" * 501}, {"reason": "a\nb"}):
        answer = await client.post(f"/api/dead-letters/{letter}/discard", json=body)
        refused(answer, 422, "INVALID_PARAMETERS")
    answer = await client.post(f"/api/dead-letters/{letter}/discard", json={"reason": "known"})
    shown = shaped(FullLetter, answer)
    assert (shown.state, shown.reason, shown.new_job_id) == ("discarded", "known", None)
    async with db.acquire() as conn:
        (audited,) = await conn.fetch("SELECT * FROM audit WHERE action LIKE 'dead_letter.%'")
    assert orjson.loads(audited["after"]) == {"state": "discarded", "reason": "known"}


async def test_a_foreign_letter_is_an_unknown_one(
    app: FastAPI, client: httpx2.AsyncClient, caller: Caller, runtime: Runtime
) -> None:
    letter = await failed(client, runtime)
    routes = [("GET", ""), ("POST", "/reprocess"), ("POST", "/discard")]
    strangers = [await caller("other"), await caller(email="colleague@acme")]
    for method, path in routes:
        body = {"reason": "x"} if path == "/discard" else None
        for stranger in strangers:
            foreign = await stranger.request(method, f"/api/dead-letters/{letter}{path}", json=body)
            unknown = await stranger.request(
                method, f"/api/dead-letters/{UNKNOWN}{path}", json=body
            )
            refused(foreign, 404, "NOT_FOUND")
            assert plain(foreign) == plain(unknown)
        async with client_of(app, None) as nobody:
            answer = await nobody.request(method, f"/api/dead-letters/{letter}{path}", json=body)
            refused(answer, 401, "AUTHENTICATION_FAILED")
    viewer = await caller(role="viewer")
    for path in (f"/{letter}/reprocess", f"/{letter}/discard", "/reprocess", "/discard"):
        answer = await viewer.post(f"/api/dead-letters{path}", json={"reason": "x"})
        refused(answer, 403, "INSUFFICIENT_PERMISSIONS")
    for stranger in strangers:
        assert await listed(stranger) == []
        bulk = await stranger.post("/api/dead-letters/reprocess", json={"all": True})
        assert shaped(BulkLetters, bulk).count == 0
    assert [x.state for x in await listed(client)] == ["open"]


class TestBulk:
    @pytest.fixture(autouse=True)
    def _small(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(engine, "_CHUNK", 2)
        monkeypatch.setattr(engine, "MOST_PER_CALL", 5)

    async def test_all_that_match_run_again_in_chunks(
        self, client: httpx2.AsyncClient, runtime: Runtime, db: Database
    ) -> None:
        made = [await failed(client, runtime, "A_CODE") for _ in range(7)]
        kept = await failed(client, runtime, "B_CODE")
        body = {"code": "A_CODE"}
        dry = await client.post("/api/dead-letters/reprocess", json=body | {"dryRun": True})
        counted = shaped(BulkLetters, dry)
        assert (counted.count, counted.jobs, counted.more) == (7, [], False)
        first = shaped(BulkLetters, await client.post("/api/dead-letters/reprocess", json=body))
        assert (first.count, len(set(first.jobs)), first.more) == (5, 5, True)
        second = shaped(BulkLetters, await client.post("/api/dead-letters/reprocess", json=body))
        assert (second.count, second.more, second.next) == (2, False, None)
        rows = await listed(client, state="reprocessed")
        assert {str(x.id) for x in rows} == set(made)
        assert {x.new_job_id for x in rows} == {*first.jobs, *second.jobs}
        assert [str(x.id) for x in await listed(client, state="open")] == [kept]
        async with db.acquire() as conn:
            assert await conn.fetchval("SELECT count(*) FROM jobs") == 8 + 7
            assert (
                await conn.fetchval(
                    "SELECT count(*) FROM audit WHERE action = 'dead_letter.reprocess'"
                )
                == 7
            )

    async def test_all_that_match_are_discarded(
        self, client: httpx2.AsyncClient, runtime: Runtime
    ) -> None:
        made = [await failed(client, runtime, "A_CODE", f"row {n}") for n in range(6)]
        other = await failed(client, runtime, "B_CODE")
        signature = (await listed(client, code="A_CODE"))[0].signature
        body = {"signature": signature, "reason": "known"}
        first = shaped(BulkLetters, await client.post("/api/dead-letters/discard", json=body))
        assert (first.count, first.more, first.jobs) == (5, True, [])
        body["after"] = first.next or ""
        second = shaped(BulkLetters, await client.post("/api/dead-letters/discard", json=body))
        assert (second.count, second.more) == (1, False)
        assert {str(x.id) for x in await listed(client, state="discarded")} == set(made)
        assert [str(x.id) for x in await listed(client, state="open")] == [other]

    async def test_since_and_until(self, client: httpx2.AsyncClient, runtime: Runtime) -> None:
        for _ in range(3):
            await failed(client, runtime)
        middle: datetime = (await listed(client))[1].last_failed_at
        body = {
            "since": middle.isoformat(),
            "until": (middle + timedelta(microseconds=1)).isoformat(),
        }
        done = shaped(BulkLetters, await client.post("/api/dead-letters/reprocess", json=body))
        assert done.count == 1
        assert [x.state for x in await listed(client)] == ["open", "reprocessed", "open"]

    async def test_nothing_said_is_not_everything(self, client: httpx2.AsyncClient) -> None:
        answer = await client.post("/api/dead-letters/reprocess")
        refused(answer, 422, "INVALID_PARAMETERS")
        answer = await client.post("/api/dead-letters/discard", json={"all": True})
        refused(answer, 422, "INVALID_PARAMETERS")
        answer = await client.post("/api/dead-letters/reprocess", json={"codes": "A"})
        refused(answer, 422, "UNKNOWN_FIELD")

    async def test_two_calls_at_once_run_nothing_twice(
        self, client: httpx2.AsyncClient, runtime: Runtime, db: Database
    ) -> None:
        made = [await failed(client, runtime) for _ in range(10)]
        calls = [client.post("/api/dead-letters/reprocess", json={"all": True}) for _ in range(6)]
        calls += [client.post(f"/api/dead-letters/{letter}/reprocess") for letter in made[:4]]
        answers = await asyncio.gather(*calls)
        assert {a.status_code for a in answers} <= {200, 202, 409}
        async with db.acquire() as conn:
            assert await conn.fetchval("SELECT count(*) FROM jobs") == 20
            assert await conn.fetchval("SELECT count(DISTINCT new_job_id) FROM dead_letters") == 10
            assert await conn.fetchval("SELECT sum(open) FROM dead_letter_groups") == 0

    async def test_a_death_between_chunks_loses_and_doubles_nothing(
        self, app: FastAPI, client: httpx2.AsyncClient, runtime: Runtime, db: Database
    ) -> None:
        for _ in range(5):
            await failed(client, runtime)
        sound: Api = app.state.api
        dying = replace(runtime, failpoints=Failpoints("between_chunks:raise"))
        app.state.api = replace(sound, runtime=dying)
        answer = await client.post("/api/dead-letters/reprocess", json={"all": True})
        refused(answer, 500, "INTERNAL_ERROR")
        app.state.api = sound
        assert len(await listed(client, state="reprocessed")) == 2
        answer = await client.post("/api/dead-letters/reprocess", json={"all": True})
        assert shaped(BulkLetters, answer).count == 3
        async with db.acquire() as conn:
            assert await conn.fetchval("SELECT count(*) FROM jobs") == 10

    async def test_one_that_cannot_run_keeps_no_other(
        self, client: httpx2.AsyncClient, runtime: Runtime, db: Database
    ) -> None:
        stuck = await failed(client, runtime)
        async with db.acquire() as conn:
            await conn.execute("UPDATE dead_letters SET pipeline = 'gone'")
        for _ in range(2):
            await failed(client, runtime)
        answer = await client.post("/api/dead-letters/reprocess", json={"all": True})
        done = shaped(BulkLetters, answer)
        assert done.count == 2
        assert [(str(one.id), one.code) for one in done.refused] == [(stuck, "INVALID_PARAMETERS")]
        assert [str(x.id) for x in await listed(client, state="open")] == [stuck]
        alone = await client.post(f"/api/dead-letters/{stuck}/reprocess")
        refused(alone, 422, "INVALID_PARAMETERS")

    async def test_an_overload_is_told_as_such(
        self, client: httpx2.AsyncClient, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await failed(client, runtime)

        async def submit(*args: object) -> None:
            raise Unavailable("SERVICE_UNAVAILABLE", "Too much waits already.")

        monkeypatch.setattr(engine, "submit", submit)
        answer = await client.post("/api/dead-letters/reprocess", json={"all": True})
        refused(answer, 503, "SERVICE_UNAVAILABLE")
        assert [x.state for x in await listed(client)] == ["open"]
