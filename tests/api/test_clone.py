"""A job asked for again."""

from __future__ import annotations

from uuid import UUID

import httpx2
import orjson
from tests.api.conftest import Caller, file_of, refused, shaped, submit_noop
from tests.fixtures import Bench

from penstock.api.jobs.schemas import FullJob, Receipt
from penstock.engine.runtime import Runtime
from penstock.store.database import Database


async def cloned(client: httpx2.AsyncClient, job: str, **body: object) -> FullJob:
    answer = await client.post(f"/api/jobs/{job}/clone", json=body)
    made = shaped(Receipt, answer, 202)
    assert answer.headers["location"] == f"/api/jobs/{made.job_id}"
    return shaped(FullJob, await client.get(f"/api/jobs/{made.job_id}"))


async def test_a_clone_is_the_same_work_once_more(
    client: httpx2.AsyncClient, bench: Bench, db: Database
) -> None:
    fields = {"name": "Spring", "priority": "high", "config": '{"mapping": {"title": "title"}}'}
    job = (await client.post("/api/jobs", files=file_of(), data=fields)).json()["jobId"]
    await bench.work()
    answer = await client.post(f"/api/jobs/{job}/clone")
    made = shaped(Receipt, answer, 202)
    await bench.work()
    old = shaped(FullJob, await client.get(f"/api/jobs/{job}"))
    new = shaped(FullJob, await client.get(f"/api/jobs/{made.job_id}"))
    assert new.id != old.id
    for same in ("pipeline", "config", "file", "name", "priority", "org", "user_id", "counters"):
        assert getattr(new, same) == getattr(old, same), same
    events = (await client.get(f"/api/jobs/{made.job_id}/events")).json()["items"]
    assert events[0]["data"]["madeFrom"] == f"job:{job}"
    async with db.acquire() as conn:
        audited = await conn.fetchrow("SELECT * FROM audit WHERE action = 'job.clone'")
    assert audited is not None
    assert audited["target"] == f"job:{job}"
    assert orjson.loads(audited["after"])["jobId"] == str(made.job_id)


async def test_priority_and_config_may_differ(client: httpx2.AsyncClient) -> None:
    job = await submit_noop(client, config={"items": 3, "payloadBytes": 7})
    made = await cloned(client, job, priority=42, config={"items": 5})
    assert (made.priority, made.config["items"], made.config["payloadBytes"]) == (42, 5, 7)
    for body, code in (
        ({"config": {"nope": 1}}, "UNKNOWN_FIELD"),
        ({"config": {"items": -1}}, "INVALID_CONFIG"),
        ({"priority": 101}, "INVALID_PARAMETERS"),
        ({"userId": 1}, "UNKNOWN_FIELD"),
    ):
        refused(await client.post(f"/api/jobs/{job}/clone", json=body), 422, code)


async def test_a_key_makes_one_clone(client: httpx2.AsyncClient, db: Database) -> None:
    first, second = await submit_noop(client), await submit_noop(client)
    key = {"Idempotency-Key": "again"}
    once = await client.post(f"/api/jobs/{first}/clone", headers=key)
    twice = await client.post(f"/api/jobs/{first}/clone", headers=key)
    assert (once.status_code, once.content) == (202, twice.content)
    assert twice.headers["idempotency-replayed"] == "true"
    # Another job is another request, however alike the two are.
    other = await client.post(f"/api/jobs/{second}/clone", headers=key)
    refused(other, 422, "IDEMPOTENCY_MISMATCH")
    async with db.acquire() as conn:
        assert await conn.fetchval("SELECT count(*) FROM jobs") == 3
        assert await conn.fetchval("SELECT count(*) FROM audit WHERE action = 'job.clone'") == 1


async def test_a_file_that_is_gone_is_said_so(
    client: httpx2.AsyncClient, runtime: Runtime, db: Database
) -> None:
    job = (await client.post("/api/jobs", files=file_of())).json()["jobId"]
    async with db.acquire() as conn:
        await runtime.blobs.remove(await conn.fetchval("SELECT blob_key FROM files"))
    problem = refused(await client.post(f"/api/jobs/{job}/clone"), 404, "FILE_NOT_FOUND")
    assert "deleted" in problem.detail
    async with db.acquire() as conn:
        assert await conn.fetchval("SELECT count(*) FROM jobs") == 1


async def test_whose_the_clone_is(
    client: httpx2.AsyncClient, caller: Caller, bench: Bench, db: Database
) -> None:
    job = (await client.post("/api/jobs", files=file_of())).json()["jobId"]
    mine = bench.who
    neighbour = await caller(role="admin")
    made = await cloned(neighbour, job)
    assert (made.org, made.user_id != mine.user_id) == ("acme", True)
    # An admin of another org helps out: the job stays where its file and its reader are.
    house = await caller("house", role="admin")
    key = {"Idempotency-Key": "k"}
    answer = await house.post(f"/api/jobs/{job}/clone", headers=key)
    assert answer.status_code == 202, answer.text
    assert (await house.post(f"/api/jobs/{job}/clone", headers=key)).content == answer.content
    seen = shaped(FullJob, await client.get(f"/api/jobs/{answer.json()['jobId']}"))
    assert (seen.org, seen.user_id) == ("acme", mine.user_id)
    # The admin's key is the admin's: the member has not used it.
    assert (await client.post("/api/jobs", files=file_of(), headers=key)).status_code == 202


async def test_viewers_and_strangers_clone_nothing(
    client: httpx2.AsyncClient, caller: Caller, bench: Bench
) -> None:
    job = await submit_noop(client)
    viewer = await caller(role="viewer")
    refused(await viewer.post(f"/api/jobs/{job}/clone"), 403, "INSUFFICIENT_PERMISSIONS")
    for stranger in (await caller("other"), await caller(email="colleague@acme")):
        refused(await stranger.post(f"/api/jobs/{job}/clone"), 404, "NOT_FOUND")
    assert (await bench.job(UUID(job)))["seq"] == 1
