"""Users and their passwords: what is refused first, then what works, and who is told of it."""

from __future__ import annotations

import asyncio

import httpx2
import pytest
from tests.api.conftest import PASSWORD, Browser, Caller, MakePerson, refused, shaped
from tests.api.signing import sign_in, try_to_sign_in

from penstock.api.accounts.schemas import (
    AuditPage,
    FullOrg,
    NewPassword,
    NewUserShape,
    OrgPage,
    OrgShape,
    UserPage,
    UserShape,
)
from penstock.api.jobs.schemas import JobPage
from penstock.store.database import Database

ANOTHER = "quite another password"


@pytest.fixture
async def admin(caller: Caller) -> httpx2.AsyncClient:
    return await caller("house", role="admin")


async def changes(admin: httpx2.AsyncClient, target: str) -> list[str]:
    page = shaped(AuditPage, await admin.get("/api/audit", params={"target": target}))
    return [entry.action for entry in reversed(page.items)]


async def test_only_admins_manage_users(caller: Caller) -> None:
    for role in ("member", "viewer"):
        by = await caller(role=role)
        body = {"email": "x@acme", "role": "admin"}
        refused(await by.post("/api/users", json=body), 403, "INSUFFICIENT_PERMISSIONS")
        refused(await by.get("/api/users"), 403, "INSUFFICIENT_PERMISSIONS")
        refused(
            await by.patch("/api/users/1", json={"role": "admin"}), 403, "INSUFFICIENT_PERMISSIONS"
        )
        refused(await by.post("/api/users/1/password"), 403, "INSUFFICIENT_PERMISSIONS")
        refused(await by.get("/api/audit"), 403, "INSUFFICIENT_PERMISSIONS")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "INVALID_PARAMETERS"),
        ({"email": "no address"}, "INVALID_PARAMETERS"),
        ({"email": "a@b", "role": "root"}, "INVALID_PARAMETERS"),
        ({"email": "a@b", "password": "short"}, "WEAK_PASSWORD"),
        ({"email": "a@b", "password": "aaaaaaaaaaaaaaaa"}, "WEAK_PASSWORD"),
        ({"email": "longlonglong@b", "password": "LongLongLong"}, "WEAK_PASSWORD"),
        ({"email": "a@b", "orgId": 1}, "UNKNOWN_FIELD"),
    ],
)
async def test_bad_users_are_refused(
    admin: httpx2.AsyncClient, body: dict[str, str], code: str
) -> None:
    refused(await admin.post("/api/users", json=body), 422, code)


async def test_a_user_is_made_and_signs_in_with_the_password_shown(
    admin: httpx2.AsyncClient, caller: Caller, browser: Browser
) -> None:
    await caller("acme")
    body = {"email": "New@Acme", "role": "member", "org": "acme"}
    made = shaped(NewUserShape, await admin.post("/api/users", json=body), 201)
    assert (made.email, made.org, made.role) == ("new@acme", "acme", "member")
    assert made.password
    person = await browser()
    assert (await try_to_sign_in(person, "NEW@acme", made.password)).status_code == 200
    again = await admin.post("/api/users", json={**body, "email": "NEW@ACME"})
    refused(again, 409, "ALREADY_EXISTS")
    refused(
        await admin.post("/api/users", json={**body, "email": "x@y", "org": "nowhere"}),
        404, "RESOURCE_NOT_FOUND",
    )  # fmt: skip
    shown = shaped(UserShape, await admin.get(f"/api/users/{made.id}"))
    assert shown.password_changed_at
    assert await changes(admin, f"user:{made.id}") == ["user.create", "session.create"]


async def test_users_are_listed_page_by_page(admin: httpx2.AsyncClient, caller: Caller) -> None:
    for number in range(4):
        await caller("acme", email=f"u{number}@acme")
    params = {"org": "acme", "pageSize": "3"}
    page = shaped(UserPage, await admin.get("/api/users", params=params))
    rest = shaped(UserPage, await admin.get("/api/users", params={**params, "after": page.next}))
    assert [user.email for user in (*page.items, *rest.items)] == [f"u{n}@acme" for n in range(4)]
    assert rest.next is None
    everybody = shaped(UserPage, await admin.get("/api/users"))
    assert len(everybody.items) == 5


@pytest.mark.parametrize("user_id", ["0", "01", "-1", "x", "1e3", "9" * 30, "999", "%00"])
async def test_who_is_unknown_is_not_found(admin: httpx2.AsyncClient, user_id: str) -> None:
    refused(await admin.get(f"/api/users/{user_id}"), 404, "NOT_FOUND")
    refused(await admin.patch(f"/api/users/{user_id}", json={"role": "admin"}), 404, "NOT_FOUND")


async def test_another_role_counts_from_the_next_request_on(
    admin: httpx2.AsyncClient, client: httpx2.AsyncClient, db: Database
) -> None:
    async with db.acquire() as conn:
        user = await conn.fetchval("SELECT id FROM users WHERE email = 'member@acme'")
    order = {"pipeline": "noop", "config": {"items": 1}}
    assert (await client.post("/api/jobs", json=order)).status_code == 202
    answer = await admin.patch(f"/api/users/{user}", json={"role": "viewer"})
    assert shaped(UserShape, answer).role == "viewer"
    refused(await client.post("/api/jobs", json=order), 403, "INSUFFICIENT_PERMISSIONS")
    shaped(UserShape, await admin.patch(f"/api/users/{user}", json={"disabled": True}))
    refused(await client.get("/api/jobs"), 401, "AUTHENTICATION_FAILED")
    shaped(UserShape, await admin.patch(f"/api/users/{user}", json={"disabled": False}))
    assert (await client.get("/api/jobs")).status_code == 200
    told = await changes(admin, f"user:{user}")
    assert told == ["user.role", "user.disable", "user.enable"]


async def test_the_last_admin_stays_one_whoever_asks_at_once(caller: Caller, db: Database) -> None:
    admins = [await caller("house", role="admin", email=f"a{n}@house") for n in range(3)]
    async with db.acquire() as conn:
        ids = [row["id"] for row in await conn.fetch("SELECT id FROM users ORDER BY id")]
    answers = await asyncio.gather(
        *(
            by.patch(f"/api/users/{other}", json=change)
            for by, other, change in (
                (admins[0], ids[1], {"role": "member"}),
                (admins[1], ids[2], {"disabled": True}),
                (admins[2], ids[0], {"role": "viewer", "disabled": True}),
            )
        )
    )
    assert {answer.status_code for answer in answers} <= {200, 401, 403, 409}
    async with db.acquire() as conn:
        left = await conn.fetch("SELECT id FROM users WHERE role = 'admin' AND disabled_at IS NULL")
    assert left


async def test_a_disabled_user_has_no_session_left(
    admin: httpx2.AsyncClient, person: MakePerson, browser: Browser, db: Database
) -> None:
    await person()
    client = await browser()
    found = await sign_in(client)
    shaped(UserShape, await admin.patch(f"/api/users/{found.user.id}", json={"disabled": True}))
    refused(await client.get("/api/session"), 401, "AUTHENTICATION_FAILED")
    shaped(UserShape, await admin.patch(f"/api/users/{found.user.id}", json={"disabled": False}))
    refused(await client.get("/api/session"), 401, "AUTHENTICATION_FAILED")


async def test_a_reset_password_ends_every_session(
    admin: httpx2.AsyncClient, person: MakePerson, browser: Browser
) -> None:
    await person()
    client = await browser()
    found = await sign_in(client)
    answer = await admin.post(f"/api/users/{found.user.id}/password")
    fresh = shaped(NewPassword, answer).password
    assert fresh
    refused(await client.get("/api/session"), 401, "AUTHENTICATION_FAILED")
    refused(await try_to_sign_in(client), 401, "AUTHENTICATION_FAILED")
    assert (await try_to_sign_in(client, password=fresh)).status_code == 200


async def test_changing_your_password_ends_all_sessions_but_this_one(
    person: MakePerson, browser: Browser
) -> None:
    await person(role="viewer")
    here, there = await browser(), await browser()
    await sign_in(here)
    await sign_in(there)
    wrong = {"current": ANOTHER, "new": ANOTHER}
    refused(await here.post("/api/users/me/password", json=wrong), 403, "WRONG_PASSWORD")
    assert (await there.get("/api/session")).status_code == 200
    weak = {"current": PASSWORD, "new": "aaaaaaaaaaaaaaa"}
    refused(await here.post("/api/users/me/password", json=weak), 422, "WEAK_PASSWORD")
    right = {"current": PASSWORD, "new": ANOTHER}
    assert (await here.post("/api/users/me/password", json=right)).status_code == 204
    assert (await here.get("/api/session")).status_code == 200
    refused(await there.get("/api/session"), 401, "AUTHENTICATION_FAILED")
    refused(await try_to_sign_in(there), 401, "AUTHENTICATION_FAILED")
    assert (await try_to_sign_in(there, password=ANOTHER)).status_code == 200


async def test_a_key_changes_no_password(client: httpx2.AsyncClient) -> None:
    body = {"current": PASSWORD, "new": ANOTHER}
    answer = await client.post("/api/users/me/password", json=body)
    refused(answer, 403, "INSUFFICIENT_PERMISSIONS")


async def test_an_org_shares_its_jobs_when_an_admin_says_so(
    admin: httpx2.AsyncClient, client: httpx2.AsyncClient, caller: Caller
) -> None:
    colleague = await caller(email="colleague@acme")
    order = {"pipeline": "noop", "config": {"items": 1}}
    assert (await colleague.post("/api/jobs", json=order)).status_code == 202
    assert shaped(FullOrg, await client.get("/api/org")).shared_jobs is False
    change = {"sharedJobs": True}
    refused(await client.patch("/api/org", json=change), 403, "INSUFFICIENT_PERMISSIONS")
    refused(await client.get("/api/org", params={"org": "house"}), 403, "INSUFFICIENT_PERMISSIONS")
    assert shaped(JobPage, await client.get("/api/jobs")).items == []
    changed = await admin.patch("/api/org", params={"org": "acme"}, json=change)
    assert shaped(OrgShape, changed).shared_jobs is True
    assert len(shaped(JobPage, await client.get("/api/jobs")).items) == 1
    assert await changes(admin, "org:acme") == ["org.change"]


async def test_orgs_are_made_and_listed(admin: httpx2.AsyncClient) -> None:
    made = await admin.post("/api/orgs", json={"name": "fresh", "plan": "premium"})
    assert shaped(OrgShape, made, 201).plan == "premium"
    refused(await admin.post("/api/orgs", json={"name": "fresh"}), 409, "ALREADY_EXISTS")
    refused(await admin.post("/api/orgs", json={"name": "not so"}), 422, "INVALID_PARAMETERS")
    listed = shaped(OrgPage, await admin.get("/api/orgs"))
    assert [org.name for org in listed.items] == ["fresh", "house"]


async def test_the_audit_is_read_page_by_page(
    admin: httpx2.AsyncClient, client: httpx2.AsyncClient
) -> None:
    for number in range(3):
        answer = await admin.patch("/api/org", json={"maxSlices": number + 1})
        shaped(OrgShape, answer)
    params = {"action": "org.change", "org": "house", "pageSize": "2"}
    page = shaped(AuditPage, await admin.get("/api/audit", params=params))
    rest = shaped(AuditPage, await admin.get("/api/audit", params={**params, "after": page.next}))
    seen = [*page.items, *rest.items]
    assert [entry.after["max_slices"] for entry in seen] == [3, 2, 1]
    assert (seen[-1].before["max_slices"], seen[0].email, seen[0].ip, seen[0].org) == (
        None, "admin@house", "127.0.0.1", "house",
    )  # fmt: skip
    assert rest.next is None
    by = shaped(AuditPage, await admin.get("/api/audit", params={"userId": str(seen[0].user_id)}))
    assert {entry.email for entry in by.items} == {"admin@house"}
    refused(await admin.get("/api/audit", params={"after": "x"}), 400, "INVALID_CURSOR")
