"""Asking for jobs and looking at them."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import httpx2
import pytest
from tests.api.conftest import CSV, Caller, file_of, refused, shaped, submit_noop
from tests.api.test_files import files_on_disk, rows_of
from tests.fixtures import Bench

from penstock.api.jobs.schemas import FullJob, JobPage, Receipt
from penstock.model.ids import first_id_of
from penstock.settings import Settings
from penstock.store.database import Database
from penstock.store.jobs import jobs as store_jobs


async def test_standing_jobs_are_listed_on_request_only(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    """They send notifications and webhooks and never end: in a list they look stuck."""
    standing = str(await bench.submit("noop", {"items": 1, "standing": True}))
    other = str(await bench.submit("noop", {"items": 1}))
    await bench.work()

    async def listed(**query: str | bool) -> list[str]:
        page = shaped(JobPage, await client.get("/api/jobs", params=query))
        return [str(one.id) for one in page.items]

    assert await listed() == await listed(standing=False) == [other]
    assert await listed(state="running") == []
    assert await listed(standing=True) == await listed(pipeline="noop") == [other, standing]
    shown = shaped(FullJob, await client.get(f"/api/jobs/{standing}"))
    assert (shown.state, shown.standing) == ("running", True)
    assert shown.progress.message == "Standing: 1 of 1 done so far, takes more at any time"
    assert shown.progress.estimated_remaining_ms is None
    assert not shaped(FullJob, await client.get(f"/api/jobs/{other}")).standing


async def test_a_file_becomes_a_job_and_its_results(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    answer = await client.post(
        "/api/jobs",
        files=file_of(),
        data={"config": '{"mapping": {"sku": "sku"}}', "priority": "high", "name": "Spring"},
    )
    receipt = shaped(Receipt, answer, 202)
    assert answer.headers["location"] == f"/api/jobs/{receipt.job_id}"
    assert list(answer.json()) == ["jobId", "position", "estimatedWaitMs"]
    waiting = shaped(FullJob, await client.get(answer.headers["location"]))
    assert (waiting.state, waiting.priority, waiting.name) == ("queued", 10, "Spring")
    assert waiting.progress.message == "Waiting for a worker"
    assert waiting.file is not None
    assert (waiting.file.name, waiting.file.size) == ("goods.csv", len(CSV))
    await bench.work()
    done = shaped(FullJob, await client.get(answer.headers["location"]))
    assert (done.state, done.counters.total, done.counters.done) == ("done", 2, 2)
    assert (done.progress.percent, done.progress.rows_done, done.errors) == (100, 2, {})
    assert done.summary is not None
    assert done.config == {"mapping": {"sku": "sku"}}
    assert (done.org, done.lane, done.user_id) == ("acme", "standard", bench.who.user_id)


async def test_a_job_of_a_file_uploaded_before(
    client: httpx2.AsyncClient, db: Database, settings: Settings
) -> None:
    file = (await client.post("/api/files", files=file_of())).json()
    answer = await client.post("/api/jobs", json={"fileId": file["id"], "priority": 7})
    job = shaped(FullJob, await client.get(answer.headers["location"]))
    assert job.file is not None
    assert (str(job.file.id), job.priority, job.name) == (file["id"], 7, "goods.csv")
    assert await rows_of(db, "files") == 1
    # Refused for what it holds, but kept: it was accepted as a file.
    empty = (await client.post("/api/files", files=file_of(b""))).json()
    refused(await client.post("/api/jobs", json={"fileId": empty["id"]}), 422, "EMPTY_FILE")
    assert len(files_on_disk(settings)) == 2


async def test_a_form_without_a_file(client: httpx2.AsyncClient, db: Database) -> None:
    fields = {"pipeline": (None, "noop"), "config": (None, '{"items": 2}')}
    answer = await client.post("/api/jobs", files=fields)
    job = shaped(FullJob, await client.get(answer.headers["location"]))
    assert (job.file, job.counters.total, job.priority) == (None, 2, 5)
    answer = await client.post("/api/jobs", files={"name": (None, "x")})
    assert "needs a file" in refused(answer, 422, "INVALID_PARAMETERS").detail
    assert await rows_of(db, "files") == 0


async def test_errors_are_counted_by_code(client: httpx2.AsyncClient, bench: Bench) -> None:
    config = {"items": 10, "failEvery": 5, "failHow": "fail", "failCode": "VALIDATION_ERROR"}
    job = await submit_noop(client, config=config)
    await bench.work()
    shown = shaped(FullJob, await client.get(f"/api/jobs/{job}"))
    assert shown.errors == {"VALIDATION_ERROR": 2}
    assert (shown.counters.done, shown.counters.error) == (8, 2)


async def test_what_is_refused_leaves_nothing_behind(
    client: httpx2.AsyncClient, settings: Settings, db: Database
) -> None:
    cases: list[tuple[dict[str, Any], dict[str, str], int, str]] = [
        (file_of(b""), {}, 422, "EMPTY_FILE"),
        (file_of(b"sku,title\n"), {}, 422, "NO_ROWS"),
        (file_of(b"\x89PNG\r\n\x1a\n", "a.csv"), {}, 415, "UNSUPPORTED_TYPE"),
        (file_of(), {"config": '{"maping": {}}'}, 422, "UNKNOWN_FIELD"),
        (file_of(), {"config": '{"mapping": 3}'}, 422, "INVALID_CONFIG"),
        (file_of(), {"config": "{"}, 400, "INVALID_JSON"),
        (file_of(), {"config": "[]"}, 422, "INVALID_PARAMETERS"),
        (file_of(), {"priority": "101"}, 422, "INVALID_PARAMETERS"),
        (file_of(), {"priority": "urgent"}, 422, "INVALID_PARAMETERS"),
        (file_of(), {"pipeline": "nope"}, 422, "INVALID_PARAMETERS"),
        (file_of(), {"pipeline": "noop"}, 422, "INVALID_PARAMETERS"),
        (file_of(), {"name": "a\0b"}, 422, "INVALID_PARAMETERS"),
        (file_of(), {"orgId": "1"}, 422, "UNKNOWN_FIELD"),
        ({"file2": ("a.csv", CSV)}, {}, 422, "UNKNOWN_FIELD"),
    ]
    for files, data, status, code in cases:
        answer = await client.post("/api/jobs", files=files, data=data)
        refused(answer, status, code)
        assert files_on_disk(settings) == [], (data, code)
    answer = await client.post("/api/jobs", data={"name": "no file"}, files={})
    assert answer.status_code == 415
    assert (
        await rows_of(db, "files") == await rows_of(db, "jobs") == await rows_of(db, "events") == 0
    )


async def test_a_refused_file_does_not_take_its_twin_along(
    client: httpx2.AsyncClient, settings: Settings
) -> None:
    await client.post("/api/files", files=file_of())
    refused(await client.post("/api/jobs", files=file_of(), data={"pipeline": "x"}), 422,
            "INVALID_PARAMETERS")  # fmt: skip
    assert len(files_on_disk(settings)) == 1


async def test_refused_and_accepted_twins_at_once(
    client: httpx2.AsyncClient, settings: Settings, db: Database
) -> None:
    """Whatever order they come in, an accepted job has its file."""
    bad = {"config": '{"nope": 1}'}
    posts = [
        client.post("/api/jobs", files=file_of(), data=bad if number % 2 else {})
        for number in range(20)
    ]
    codes = [answer.status_code for answer in await asyncio.gather(*posts)]
    assert set(codes) <= {202, 422, 503}
    assert codes.count(422) == 10
    accepted = codes.count(202)
    assert await rows_of(db, "files") == await rows_of(db, "jobs") == accepted
    assert len(files_on_disk(settings)) == min(1, accepted)


async def test_fields_nobody_knows_are_named(client: httpx2.AsyncClient, db: Database) -> None:
    for field in ("org_id", "orgId", "role", "state", "attempts", "leaseToken", "file_id"):
        answer = await client.post("/api/jobs", json={"pipeline": "noop", field: 1})
        assert field in refused(answer, 422, "UNKNOWN_FIELD").detail
    refused(await client.get("/api/jobs?org_id=2"), 422, "UNKNOWN_FIELD")
    assert await rows_of(db, "jobs") == 0


async def test_a_file_that_is_not_there(client: httpx2.AsyncClient, caller: Caller) -> None:
    other = await caller("other")
    theirs = (await other.post("/api/files", files=file_of())).json()["id"]
    unknown = "00000000-0000-4000-8000-000000000000"
    answers = []
    for file in (theirs, unknown):
        answer = await client.post("/api/jobs", json={"fileId": file})
        answers.append(refused(answer, 404, "FILE_NOT_FOUND").detail.replace(file, "…"))
    assert answers[0] == answers[1]
    refused(await client.post("/api/jobs", json={"fileId": 3}), 422, "INVALID_PARAMETERS")
    refused(await client.post("/api/jobs", json={}), 422, "INVALID_PARAMETERS")


async def test_strict_json(client: httpx2.AsyncClient, db: Database) -> None:
    def config(text: str) -> bytes:
        return f'{{"pipeline": "noop", "config": {{"items": {text}}}}}'.encode()

    bodies = [
        *(b"", b"{", b"[]", b'"x"', b"\xff\xfe", b'{"pipeline": "noop", "pipeline": "noop"}'),
        *map(config, ("NaN", "Infinity", "1e400", '"\\u0000"', '"\\ud800"', "9" * 5000, "9" * 30)),
        *map(config, ("[" * 100_000, "[" * 300 + "]" * 300, '{"a": 1, "a": 2}')),
    ]
    for body in bodies:
        answer = await client.post(
            "/api/jobs", content=body, headers={"Content-Type": "application/json"}
        )
        refused(answer, 400, "INVALID_JSON")
    large = b'{"name": "' + b"x" * 1024 * 1024 + b'"}'
    answer = await client.post(
        "/api/jobs", content=large, headers={"Content-Type": "application/json"}
    )
    refused(answer, 413, "BODY_TOO_LARGE")
    answer = await client.post("/api/jobs", content=b"a=b", headers={"Content-Type": "text/plain"})
    refused(answer, 415, "UNSUPPORTED_TYPE")
    # The text of an escape is no escape.
    answer = await client.post(
        "/api/jobs",
        content=b'{"pipeline": "noop", "name": "a\\\\u0000"}',
        headers={"Content-Type": "application/json"},
    )
    assert answer.status_code == 202
    assert await rows_of(db, "jobs") == 1


async def test_the_same_key_is_the_same_job(
    client: httpx2.AsyncClient, caller: Caller, settings: Settings, db: Database
) -> None:
    headers = {"Idempotency-Key": "order 1"}
    first = await client.post("/api/jobs", files=file_of(), headers=headers)
    again = await client.post("/api/jobs", files=file_of(), headers=headers)
    assert (first.status_code, again.status_code) == (202, 202)
    assert first.content == again.content
    assert first.headers["location"] == again.headers["location"]
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert await rows_of(db, "files") == await rows_of(db, "jobs") == 1
    for files, data in ((file_of(CSV + b"3,x,1\n"), {}), (file_of(), {"priority": "1"})):
        other = await client.post("/api/jobs", files=files, data=data, headers=headers)
        refused(other, 422, "IDEMPOTENCY_MISMATCH")
    assert len(files_on_disk(settings)) == 1
    colleague = await caller(email="second@acme")
    theirs = await colleague.post("/api/jobs", files=file_of(), headers=headers)
    assert theirs.json()["jobId"] != first.json()["jobId"]
    for key in ("", "k" * 256, "tab\tkey", "é"):
        bad = await client.post(
            "/api/jobs", json={"pipeline": "noop"}, headers={b"Idempotency-Key": key.encode()}
        )
        refused(bad, 400, "INVALID_IDEMPOTENCY_KEY")


@pytest.mark.parametrize("with_file", [False, True])
async def test_twenty_at_once_with_one_key_are_one_job(
    client: httpx2.AsyncClient, db: Database, settings: Settings, with_file: bool
) -> None:
    def one() -> Any:
        headers = {"Idempotency-Key": "once"}
        if with_file:
            return client.post("/api/jobs", files=file_of(), headers=headers)
        return client.post("/api/jobs", json={"pipeline": "noop"}, headers=headers)

    answers = await asyncio.gather(*(one() for _ in range(20)))
    accepted = {answer.content for answer in answers if answer.status_code == 202}
    assert len(accepted) == 1
    for answer in answers:
        if answer.status_code != 202:
            refused(answer, 409, "IDEMPOTENCY_CONFLICT")
    assert (await one()).content in accepted
    assert await rows_of(db, "jobs") == 1
    assert await rows_of(db, "files") == len(files_on_disk(settings)) == int(with_file)


async def test_jobs_are_listed_newest_first_without_gap_or_double(
    client: httpx2.AsyncClient, db: Database
) -> None:
    made = [await submit_noop(client) for _ in range(23)]
    async with db.acquire() as conn:
        # Equal times must not lose anyone at the border of a page.
        await conn.execute("UPDATE jobs SET created_at = date_trunc('day', now())")
    seen: list[str] = []
    after = ""
    while True:
        page = shaped(JobPage, await client.get(f"/api/jobs?pageSize=5&after={after}"))
        seen += [str(job.id) for job in page.items]
        if page.next is None:
            break
        after = page.next
    assert sorted(seen) == sorted(made)
    assert len(seen) == 23


async def test_jobs_are_found_by_state_and_pipeline(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    done = await submit_noop(client)
    await bench.work()
    waiting, paused, cancelled = [await submit_noop(client) for _ in range(3)]
    await client.post(f"/api/jobs/{paused}/pause")
    await client.post(f"/api/jobs/{cancelled}/cancel")

    async def found(query: str) -> set[str]:
        page = shaped(JobPage, await client.get(f"/api/jobs?{query}"))
        return {str(job.id) for job in page.items}

    assert await found("state=queued") == {waiting}
    async with bench.runtime.db.acquire() as conn:
        await conn.execute(
            "UPDATE jobs SET due_at = now() + interval '1 hour' WHERE id = $1", waiting
        )
        assert await found("state=delayed") == {waiting}
        assert await found("state=queued") == set()
        await conn.execute("UPDATE jobs SET due_at = NULL")
    assert await found("state=paused") == {paused}
    assert await found("state=done,cancelled") == {done, cancelled}
    assert await found("state=queued&state=paused&pipeline=noop") == {waiting, paused}
    assert await found("pipeline=extraction") == set()
    assert await found("state=") == {done, waiting, paused, cancelled}
    for query in (
        "state=nope",
        "pageSize=0",
        "pageSize=201",
        "pageSize=x",
        "pipeline=%00",
        "after=%00",
    ):
        refused(await client.get(f"/api/jobs?{query}"), 422, "INVALID_PARAMETERS")
    first = (await client.get("/api/jobs?pageSize=1")).json()["next"]
    for cursor in ("x", "a" * 600, "W10", first + "x", "é"):
        refused(await client.get(f"/api/jobs?after={cursor}"), 400, "INVALID_CURSOR")
    refused(await client.get(f"/api/jobs?state=done&after={first}"), 400, "INVALID_CURSOR")


async def test_jobs_are_found_by_name_owner_and_time_and_left_out(
    client: httpx2.AsyncClient, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_jobs, "_LOOKED_AT", 2)
    spring, summer = [await submit_noop(client, name=f"{one} List 100%") for one in ("Spring", "X")]
    colleague, viewer = await caller(email="b@acme"), await caller(role="viewer")
    theirs = await submit_noop(colleague, name="spring")
    await client.post(f"/api/jobs/{summer}/pause")

    async def found(query: str, who: httpx2.AsyncClient = viewer) -> list[str]:
        page = shaped(JobPage, await who.get(f"/api/jobs?{query}"))
        assert page.next is None
        return [str(job.id) for job in page.items]

    assert await found("") == [theirs, summer, spring]
    assert await found("q=SPRING") == [theirs, spring]
    assert await found("q=100%25") == [summer, spring]
    assert await found("q=_") == []
    assert await found("notState=paused") == [theirs, spring]
    assert await found("notState=paused,queued") == []
    assert await found("userId=me") == []
    assert await found("userId=me", client) == [summer, spring]
    one = shaped(FullJob, await client.get(f"/api/jobs/{spring}"))
    assert one.owner == "member@acme"
    assert await found(f"userId={one.user_id}") == [summer, spring]
    assert await found("to=2030-01-01T00:00:00Z") == [theirs, summer, spring]
    for query in ("userId=you", "userId=0", "notState=nope", "from=yesterday", "q=%00"):
        refused(await client.get(f"/api/jobs?{query}"), 422, "INVALID_PARAMETERS")


async def test_jobs_of_a_time_are_found_by_their_ids(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    """Where they begin is known without looking through all that came after."""
    old, new = await submit_noop(client), await submit_noop(client)
    made = first_id_of(datetime(2026, 1, 5, tzinfo=UTC))
    async with bench.runtime.db.acquire() as conn:
        await conn.execute("ALTER TABLE job_stages DROP CONSTRAINT job_stages_job_id_fkey")
        await conn.execute(
            "UPDATE jobs SET id = $2, created_at = '2026-01-05' WHERE id = $1", UUID(old), made
        )
    for query, right in (
        ("from=2026-01-05T00:00:00Z&to=2026-01-06T00:00:00Z", [str(made)]),
        ("to=2026-01-05T00:00:00Z", []),
        ("from=2026-01-06T00:00:00Z", [new]),
    ):
        page = shaped(JobPage, await client.get(f"/api/jobs?{query}"))
        assert [str(job.id) for job in page.items] == right
