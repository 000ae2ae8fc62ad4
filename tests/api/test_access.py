"""Who may do what: every route for every kind of caller."""

from __future__ import annotations

import re
from uuid import UUID

import httpx2
import pytest
from fastapi import FastAPI
from tests.api.conftest import Caller, client_of, file_of, refused, submit_noop
from tests.fixtures import Bench

from penstock.api.jobs.schemas import JobPage
from penstock.store.database import Database

OF_JOB = [
    *(("GET", path) for path in ("", "/items", "/events")),
    *(("POST", f"/{verb}") for verb in ("pause", "resume", "priority", "cancel")),
    *(("POST", f"/{verb}") for verb in ("reprocess", "kickoff", "export")),
]
CHANGES = ("/pause", "/resume", "/priority", "/cancel", "/reprocess", "/kickoff")
BODIES = {"/priority": {"priority": 7}}
UNKNOWN = "00000000-0000-4000-8000-000000000000"


def plain(answer: httpx2.Response) -> str:
    """The body without what tells requests apart."""
    text = re.sub(r'"(timestamp|requestId|instance)":"[^"]*"', "", answer.text)
    return f"{answer.status_code} {text}"


async def test_a_foreign_id_answers_exactly_as_an_unknown_one(
    client: httpx2.AsyncClient, caller: Caller, bench: Bench
) -> None:
    job = await submit_noop(client)
    strangers = [
        await caller("other"),
        await caller(email="colleague@acme"),
        await caller("other", role="viewer"),
    ]
    for method, path in OF_JOB:
        for stranger in strangers:
            foreign = await stranger.request(
                method, f"/api/jobs/{job}{path}", json=BODIES.get(path)
            )
            unknown = await stranger.request(
                method, f"/api/jobs/{UNKNOWN}{path}", json=BODIES.get(path)
            )
            assert plain(foreign) == plain(unknown), path
            if stranger is strangers[2] and path in CHANGES:
                refused(foreign, 403, "INSUFFICIENT_PERMISSIONS")
            else:
                refused(foreign, 404, "NOT_FOUND")
        for malformed in ("1", "x" * 300, UNKNOWN.replace("-", ""), f"{{{UNKNOWN}}}", "é"):
            answer = await client.request(
                method, f"/api/jobs/{malformed}{path}", json=BODIES.get(path)
            )
            unknown = await client.request(
                method, f"/api/jobs/{UNKNOWN}{path}", json=BODIES.get(path)
            )
            assert plain(answer) == plain(unknown)
    # The attempts changed nothing.
    assert (await bench.job(UUID(job)))["state"] == "queued"


async def test_a_colleagues_cancel_takes_no_lease(
    client: httpx2.AsyncClient, caller: Caller, bench: Bench, db: Database
) -> None:
    """Slices carry the org alone: only the job's own policy keeps colleagues apart."""
    job = await submit_noop(client)
    async with db.acquire() as conn:
        await conn.execute(
            "INSERT INTO slices (id, kind, job_id, org_id, pipeline, stage, position, worker, "
            "expires_at, expected_ms, vstart) SELECT gen_random_uuid(), 'items', id, org_id, "
            "'noop', 'x', 0, 'w', now() + interval '1 hour', 1, 0 FROM jobs"
        )
    colleague = await caller(email="colleague@acme")
    refused(await colleague.post(f"/api/jobs/{job}/cancel"), 404, "NOT_FOUND")
    async with db.acquire() as conn:
        assert await conn.fetchval("SELECT count(*) FROM slices") == 1


async def test_without_a_valid_key_there_is_one_answer(
    app: FastAPI, client: httpx2.AsyncClient, db: Database
) -> None:
    job = await submit_noop(client)
    key = client.headers["authorization"].removeprefix("Bearer ")
    async with client_of(app, None) as nobody:
        first = await nobody.get("/api/jobs")
        for method, path in [("GET", ""), ("POST", ""), *OF_JOB]:
            address = f"/api/jobs/{job}{path}" if (method, path) in OF_JOB else "/api/jobs"
            answer = await nobody.request(method, address)
            assert plain(answer) == plain(first)
        assert plain(await nobody.post("/api/files", files=file_of())) == plain(first)
        assert plain(await nobody.get("/api/jobs/1?nope=1")) == plain(first)
        for header in (
            "Bearer",
            "Bearer x",
            f"Basic {key}",
            key,
            "Bearer \u00e9",
            f"Bearer {key}x",
        ):
            answer = await nobody.get("/api/jobs", headers={b"Authorization": header.encode()})
            assert plain(answer) == plain(first)
    refused(first, 401, "AUTHENTICATION_FAILED")
    assert first.headers["www-authenticate"] == 'Bearer realm="penstock"'
    for change in ("revoked_at = now()", "revoked_at = NULL, expires_at = now()"):
        async with db.acquire() as conn:
            await conn.execute(f"UPDATE api_keys SET {change}")
        assert plain(await client.get("/api/jobs")) == plain(first)
    async with db.acquire() as conn:
        await conn.execute("UPDATE api_keys SET expires_at = NULL")
        assert (await client.get("/api/jobs")).status_code == 200
        await conn.execute("UPDATE users SET disabled_at = now()")
    assert plain(await client.get("/api/jobs")) == plain(first)


async def test_who_sees_which_jobs(
    client: httpx2.AsyncClient, caller: Caller, db: Database
) -> None:
    mine = await submit_noop(client)
    colleague = await caller(email="colleague@acme")
    theirs = await submit_noop(colleague)
    other = await caller("other")
    foreign = await submit_noop(other)

    async def seen(by: httpx2.AsyncClient) -> set[str]:
        page = JobPage.model_validate_json((await by.get("/api/jobs")).content)
        return {str(job.id) for job in page.items}

    assert await seen(client) == {mine}
    assert await seen(other) == {foreign}
    assert await seen(await caller(role="viewer")) == {mine, theirs}
    assert await seen(await caller("house", role="admin")) == {mine, theirs, foreign}
    async with db.acquire() as conn:
        await conn.execute("UPDATE orgs SET shared_jobs = true WHERE name = 'acme'")
    assert await seen(client) == {mine, theirs}
    assert (await client.post(f"/api/jobs/{theirs}/cancel")).status_code == 200


@pytest.mark.parametrize("role", ["viewer", "admin"])
async def test_roles_on_every_route(
    client: httpx2.AsyncClient, caller: Caller, bench: Bench, role: str
) -> None:
    job = await submit_noop(client)
    by = await caller(role=role)
    for method, path in OF_JOB:
        answer = await by.request(method, f"/api/jobs/{job}{path}", json=BODIES.get(path))
        if role == "viewer" and path in CHANGES:
            refused(answer, 403, "INSUFFICIENT_PERMISSIONS")
        else:
            assert answer.status_code == 200, path
    for answer in (
        await by.post("/api/jobs", json={"pipeline": "noop"}),
        await by.post("/api/jobs", files=file_of()),
    ):
        if role == "viewer":
            refused(answer, 403, "INSUFFICIENT_PERMISSIONS")
        else:
            assert answer.status_code == 202
