"""API keys: what they may do, who sees them, and when they end."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import httpx2
import pytest
from fastapi import FastAPI
from tests.api.conftest import Browser, Caller, MakePerson, client_of, refused, shaped
from tests.api.signing import sign_in

from penstock.api.accounts.schemas import AuditPage, KeyPage, NewKeyShape
from penstock.api.accounts.session import SessionShape
from penstock.store.database import Database

ORDER = {"pipeline": "noop", "config": {"items": 1}}


@pytest.fixture
async def member(person: MakePerson, browser: Browser) -> httpx2.AsyncClient:
    await person()
    client = await browser()
    await sign_in(client)
    return client


@pytest.fixture
async def admin(person: MakePerson, browser: Browser) -> httpx2.AsyncClient:
    await person("root@house", role="admin")
    client = await browser()
    await sign_in(client, "root@house")
    return client


async def new_key(by: httpx2.AsyncClient, **order: object) -> NewKeyShape:
    return shaped(NewKeyShape, await by.post("/api/keys", json=order), 201)


@pytest.mark.parametrize(
    ("order", "code"),
    [
        ({"scopes": ["root"]}, "INVALID_PARAMETERS"),
        ({"scopes": ["admin"]}, "INVALID_PARAMETERS"),
        ({"expiresAt": "2001-01-01T00:00:00Z"}, "INVALID_PARAMETERS"),
        ({"expiresAt": "2901-01-01T00:00:00"}, "INVALID_PARAMETERS"),
        ({"name": "x" * 300}, "INVALID_PARAMETERS"),
        ({"hash": "x"}, "UNKNOWN_FIELD"),
    ],
)
async def test_bad_keys_are_refused(
    member: httpx2.AsyncClient, order: dict[str, object], code: str
) -> None:
    refused(await member.post("/api/keys", json=order), 422, code)


async def test_a_key_is_shown_once_used_and_revoked(
    app: FastAPI, member: httpx2.AsyncClient, db: Database
) -> None:
    made = await new_key(member, name="nightly import")
    assert made.scopes == ["read", "write"]
    assert made.key.startswith(made.prefix)
    assert made.last_used_at is None
    async with client_of(app, made.key) as program:
        assert (await program.post("/api/jobs", json=ORDER)).status_code == 202
        [listed] = shaped(KeyPage, await member.get("/api/keys")).items
        assert (listed.name, listed.id) == ("nightly import", made.id)
        assert listed.last_used_at is not None
        for _ in range(2):
            assert (await member.delete(f"/api/keys/{made.id}")).status_code == 204
        refused(await program.get("/api/jobs"), 401, "AUTHENTICATION_FAILED")
    [listed] = shaped(KeyPage, await member.get("/api/keys")).items
    assert listed.revoked_at is not None
    async with db.acquire() as conn:
        told = await conn.fetch(
            "SELECT action FROM audit WHERE target = $1 ORDER BY id", f"key:{made.id}"
        )
    assert [row["action"] for row in told] == ["key.create", "key.revoke"]


async def test_a_key_ends_with_its_time(
    app: FastAPI, member: httpx2.AsyncClient, db: Database
) -> None:
    soon = datetime.now(UTC) + timedelta(minutes=5)
    made = await new_key(member, expiresAt=soon.isoformat())
    async with client_of(app, made.key) as program:
        assert (await program.get("/api/jobs")).status_code == 200
        async with db.transaction() as conn:
            await conn.execute("UPDATE api_keys SET expires_at = now()")
        refused(await program.get("/api/jobs"), 401, "AUTHENTICATION_FAILED")


async def test_a_key_to_read_changes_nothing(app: FastAPI, member: httpx2.AsyncClient) -> None:
    job = (await member.post("/api/jobs", json=ORDER)).json()["jobId"]
    made = await new_key(member, scopes=["read"])
    async with client_of(app, made.key) as program:
        assert (await program.get(f"/api/jobs/{job}")).status_code == 200
        refused(await program.post("/api/jobs", json=ORDER), 403, "INSUFFICIENT_PERMISSIONS")
        refused(await program.post(f"/api/jobs/{job}/cancel"), 403, "INSUFFICIENT_PERMISSIONS")


async def test_an_admins_key_without_the_scope_is_a_members(
    app: FastAPI, admin: httpx2.AsyncClient, caller: Caller
) -> None:
    other = await caller("acme")
    job = (await other.post("/api/jobs", json=ORDER)).json()["jobId"]
    full, small = await new_key(admin), await new_key(admin, scopes=["write"])
    looks = await new_key(admin, scopes=["read", "admin"])
    assert full.scopes == ["read", "write", "admin"]
    async with client_of(app, full.key) as program:
        assert (await program.get(f"/api/jobs/{job}")).status_code == 200
        assert (await program.get("/api/audit")).status_code == 200
    async with client_of(app, small.key) as program:
        refused(await program.get(f"/api/jobs/{job}"), 404, "NOT_FOUND")
        refused(await program.get("/api/audit"), 403, "INSUFFICIENT_PERMISSIONS")
        assert shaped(SessionShape, await program.get("/api/session")).user.role == "member"
        assert (await program.post("/api/jobs", json=ORDER)).status_code == 202
        # What it cannot do itself, no key it makes could.
        refused(await program.post("/api/keys", json={}), 403, "INSUFFICIENT_PERMISSIONS")
    async with client_of(app, looks.key) as program:
        assert (await program.get("/api/audit")).status_code == 200
        refused(
            await program.patch("/api/org", json={"sharedJobs": True}),
            403, "INSUFFICIENT_PERMISSIONS",
        )  # fmt: skip


async def test_a_key_never_exceeds_its_user(
    app: FastAPI, admin: httpx2.AsyncClient, caller: Caller, db: Database
) -> None:
    """Whatever is written in the table."""
    async with db.acquire() as conn:
        viewer = await caller(role="viewer")
        await conn.execute("UPDATE api_keys SET scopes = '{read,write,admin}'")
    refused(await viewer.post("/api/jobs", json=ORDER), 403, "INSUFFICIENT_PERMISSIONS")
    refused(await viewer.get("/api/audit"), 403, "INSUFFICIENT_PERMISSIONS")


async def test_everyone_sees_their_own_keys_and_admins_all(
    admin: httpx2.AsyncClient, member: httpx2.AsyncClient, caller: Caller
) -> None:
    colleague = await caller(email="colleague@acme")
    mine = await new_key(member)
    [own] = shaped(KeyPage, await colleague.get("/api/keys")).items
    assert own.email == "colleague@acme"
    unknown = await colleague.delete("/api/keys/999999")
    foreign = await colleague.delete(f"/api/keys/{mine.id}")
    assert foreign.json()["error"] == unknown.json()["error"]
    refused(foreign, 404, "NOT_FOUND")
    for user in ("all", str(mine.user_id)):
        answer = await colleague.get("/api/keys", params={"userId": user})
        refused(answer, 403, "INSUFFICIENT_PERMISSIONS")
    everyones = shaped(KeyPage, await admin.get("/api/keys", params={"userId": "all"})).items
    assert {key.email for key in everyones} == {"ann@acme", "colleague@acme"}
    theirs = await admin.get("/api/keys", params={"userId": str(mine.user_id)})
    assert [key.id for key in shaped(KeyPage, theirs).items] == [mine.id]
    assert (await admin.delete(f"/api/keys/{mine.id}")).status_code == 204


async def test_admins_make_keys_for_others_within_their_role(
    app: FastAPI, admin: httpx2.AsyncClient, member: httpx2.AsyncClient, person: MakePerson,
    browser: Browser,
) -> None:  # fmt: skip
    await person("reader@acme", role="viewer")
    reader = await browser()
    user = (await sign_in(reader, "reader@acme")).user.id
    refused(await reader.post("/api/keys", json={}), 403, "INSUFFICIENT_PERMISSIONS")
    answer = await member.post("/api/keys", json={"userId": user})
    refused(answer, 403, "INSUFFICIENT_PERMISSIONS")
    answer = await admin.post("/api/keys", json={"userId": user, "scopes": ["write"]})
    refused(answer, 422, "INVALID_PARAMETERS")
    made = await new_key(admin, userId=user)
    assert (made.email, made.scopes) == ("reader@acme", ["read"])
    async with client_of(app, made.key) as program:
        assert shaped(SessionShape, await program.get("/api/session")).user.role == "viewer"
    page = shaped(AuditPage, await admin.get("/api/audit", params={"action": "key.create"}))
    assert (page.items[0].email, page.items[0].after["user"]) == ("root@house", user)


async def test_keys_are_listed_page_by_page(member: httpx2.AsyncClient) -> None:
    made = [(await new_key(member, name=str(number))).id for number in range(3)]
    page = shaped(KeyPage, await member.get("/api/keys", params={"pageSize": "2"}))
    after = {"pageSize": "2", "after": page.next or ""}
    rest = shaped(KeyPage, await member.get("/api/keys", params=after))
    assert [key.id for key in (*page.items, *rest.items)] == made[::-1]
    assert rest.next is None
