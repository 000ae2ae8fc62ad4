"""Open sessions: seen and ended by whoever they belong to, and by admins."""

from __future__ import annotations

import httpx2
import pytest
from tests.api.conftest import PASSWORD, Browser, Caller, MakePerson, refused, shaped
from tests.api.signing import sign_in, try_to_sign_in

from penstock.api.accounts.schemas import SessionPage
from penstock.settings import Settings
from penstock.store.database import Database


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"sign_in_failures": 3})


async def open_sessions(client: httpx2.AsyncClient, **query: object) -> SessionPage:
    return shaped(SessionPage, await client.get("/api/sessions", params=query))  # type: ignore[arg-type]


async def test_everyone_sees_where_they_are_signed_in(person: MakePerson, browser: Browser) -> None:
    await person()
    await person("bob@acme")
    desk, phone, bobs = await browser(), await browser(), await browser()
    desk.headers["User-Agent"] = "Desk/1.0"
    await sign_in(desk)
    await sign_in(phone)
    await sign_in(bobs, "bob@acme")
    seen = await open_sessions(desk)
    assert [(one.email, one.current) for one in seen.items] == [
        ("ann@acme", False), ("ann@acme", True),
    ]  # fmt: skip
    mine = seen.items[1]
    assert (mine.agent, mine.created_at <= mine.seen_at < mine.expires_at) == ("Desk/1.0", True)
    assert "hash" not in str(seen)
    first = await open_sessions(desk, pageSize=1)
    rest = await open_sessions(desk, pageSize=1, after=first.next)
    assert [*first.items, *rest.items] == seen.items
    assert rest.next is None


async def test_one_session_is_ended(
    person: MakePerson, browser: Browser, caller: Caller, db: Database
) -> None:
    await person()
    desk, phone = await browser(), await browser()
    await sign_in(phone)
    await sign_in(desk)
    phones = (await open_sessions(desk)).items[1].id
    assert (await desk.delete(f"/api/sessions/{phones}")).status_code == 204
    refused(await phone.get("/api/session"), 401, "AUTHENTICATION_FAILED")
    refused(await desk.delete(f"/api/sessions/{phones}"), 404, "NOT_FOUND")
    refused(await desk.delete("/api/sessions/none"), 404, "NOT_FOUND")
    async with db.acquire() as conn:
        noted = await conn.fetchval("SELECT count(*) FROM audit WHERE action = 'session.delete'")
    assert noted == 1
    # Without the token a page of another site would do.
    del desk.headers["X-CSRF-Token"]
    refused(await desk.delete("/api/sessions"), 403, "CSRF_FAILED")


async def test_all_others_are_ended(person: MakePerson, browser: Browser) -> None:
    await person("eve@acme", role="viewer")
    one, two, here = await browser(), await browser(), await browser()
    for client in (one, two, here):
        await sign_in(client, "eve@acme")
    assert (await here.delete("/api/sessions")).status_code == 204
    for client in (one, two):
        refused(await client.get("/api/session"), 401, "AUTHENTICATION_FAILED")
    assert [session.current for session in (await open_sessions(here)).items] == [True]


async def test_only_admins_see_and_end_those_of_others(
    person: MakePerson, browser: Browser, caller: Caller
) -> None:
    await person()
    client = await browser()
    await sign_in(client)
    member, admin = await caller(), await caller("house", role="admin")
    for whose in ("all", "1"):
        answer = await member.get("/api/sessions", params={"userId": whose})
        refused(answer, 403, "INSUFFICIENT_PERMISSIONS")
    (seen,) = (await open_sessions(admin, userId="all")).items
    assert (await open_sessions(admin)).items == []
    refused(await member.delete(f"/api/sessions/{seen.id}"), 404, "NOT_FOUND")
    assert (await admin.delete(f"/api/sessions/{seen.id}")).status_code == 204
    refused(await client.get("/api/session"), 401, "AUTHENTICATION_FAILED")


async def test_a_reset_password_ends_sessions_and_forgives_failed_tries(
    person: MakePerson, browser: Browser, caller: Caller
) -> None:
    await person()
    client, locked = await browser(), await browser()
    found = await sign_in(client)
    for _ in range(3):
        await try_to_sign_in(locked, "Ann@acme", "wrong horse battery")
    refused(await try_to_sign_in(locked), 429, "RATE_LIMITED")
    admin = await caller(role="admin")
    order = {"password": "a horse of another colour"}
    answer = await admin.post(f"/api/users/{found.user.id}/password", json=order)
    assert answer.status_code == 200, answer.text
    refused(await client.get("/api/session"), 401, "AUTHENTICATION_FAILED")
    refused(await try_to_sign_in(locked, password=PASSWORD), 401, "AUTHENTICATION_FAILED")
    assert (await try_to_sign_in(locked, password=order["password"])).status_code == 200
