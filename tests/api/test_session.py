"""Signing in: what is refused, what a session may do, and when it ends."""

from __future__ import annotations

import asyncio
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any, Literal

import httpx2
import pytest
from argon2 import Parameters, PasswordHasher, extract_parameters
from fastapi import FastAPI
from tests.api.conftest import PASSWORD, Browser, Caller, MakePerson, refused, shaped
from tests.api.signing import sign_in, try_to_sign_in
from tests.api.test_access import plain
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from penstock.accounts import passwords
from penstock.api.accounts.session import SessionShape
from penstock.settings import Settings
from penstock.store.accounts import accounts
from penstock.store.database import Database

WRONG = "incorrect horse battery"


@pytest.fixture
def failures_of_address() -> int:
    return 100


@pytest.fixture
def settings(settings: Settings, failures_of_address: int) -> Settings:
    limits = {
        "sign_in_failures": 5,
        "sign_in_failures_network": failures_of_address,
    }
    return settings.model_copy(update=limits)


async def test_signing_in_opens_a_session(person: MakePerson, browser: Browser) -> None:
    await person()
    client = await browser()
    refused(await client.get("/api/session"), 401, "AUTHENTICATION_FAILED")
    answer = await try_to_sign_in(client)
    found = shaped(SessionShape, answer)
    assert (found.user.email, found.user.role, found.user.org.name) == (
        "ann@acme", "member", "acme",
    )  # fmt: skip
    assert found.flags.global_pending is False
    cookie = answer.headers["set-cookie"]
    for part in ("penstock_session=", "HttpOnly", "SameSite=strict", "Path=/"):
        assert part in cookie
    assert "Secure" not in cookie
    assert shaped(SessionShape, await client.get("/api/session")) == found
    assert (await client.get("/api/jobs")).status_code == 200


async def test_over_https_the_cookie_is_secure(app: FastAPI, person: MakePerson) -> None:
    await person()
    transport = httpx2.ASGITransport(app)
    async with httpx2.AsyncClient(transport=transport, base_url="https://penstock") as client:
        answer = await try_to_sign_in(client)
    assert "Secure" in answer.headers["set-cookie"]


async def test_a_wrong_password_and_an_unknown_user_get_the_same_answer(
    person: MakePerson, browser: Browser, db: Database
) -> None:
    await person()
    await person("off@acme")
    async with db.transaction() as conn:
        await conn.execute("UPDATE users SET disabled_at = now() WHERE email = 'off@acme'")
        org = await accounts.ensure_org(conn, "acme")
        await accounts.ensure_user(conn, org.id, "keyed@acme", "member")
    client = await browser()
    first = await try_to_sign_in(client, password=WRONG)
    refused(first, 401, "AUTHENTICATION_FAILED")
    for email, password in (
        ("nobody@acme", PASSWORD), ("off@acme", PASSWORD), ("keyed@acme", PASSWORD),
        ("ann@acme'--", PASSWORD),
    ):  # fmt: skip
        assert plain(await try_to_sign_in(client, email, password)) == plain(first)
    assert "set-cookie" not in first.headers


class Watched(PasswordHasher):
    """Keeps what it was to compare with, but for salt and key."""

    def __init__(self) -> None:
        usual = passwords._hasher
        super().__init__(usual.time_cost, usual.memory_cost, usual.parallelism)
        self.compared: list[Parameters] = []

    def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:
        self.compared.append(extract_parameters(str(hash)))
        return super().verify(hash, password)


async def test_an_unknown_user_takes_as_long_as_a_wrong_password(
    person: MakePerson, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each costs one comparison, as expensive as the other."""
    await person()
    client = await browser()
    watched = Watched()
    monkeypatch.setattr(passwords, "_hasher", watched)
    for email in ("ann@acme", "nobody@acme"):
        refused(await try_to_sign_in(client, email, WRONG), 401, "AUTHENTICATION_FAILED")
    known, unknown = watched.compared
    assert known == unknown


def test_passwords_are_kept_as_argon2id_at_its_usual_cost() -> None:
    """Seen in a module of its own: in all other tests it is cheaper."""
    spec = spec_from_file_location("passwords_as_they_are", passwords.__file__)
    assert spec is not None
    assert spec.loader is not None
    real = module_from_spec(spec)
    spec.loader.exec_module(real)
    kept = real._hasher.hash(PASSWORD)
    assert kept.startswith("$argon2id$v=19$m=65536,t=3,p=4$")
    assert extract_parameters(real._UNMATCHED) == extract_parameters(kept)


async def test_failures_are_limited_per_account_known_or_not(
    person: MakePerson, browser: Browser, db: Database
) -> None:
    await person()
    client = await browser()
    for email in ("ann@acme", "nobody@acme"):
        answers = await asyncio.gather(*(try_to_sign_in(client, email, WRONG) for _ in range(9)))
        codes = sorted(answer.status_code for answer in answers)
        assert codes == [401] * 5 + [429] * 4
        late = await try_to_sign_in(client, email.upper(), PASSWORD)
        refused(late, 429, "RATE_LIMITED")
        assert 3500 < int(late.headers["retry-after"]) <= 3600
    # An hour later they are forgotten.
    async with db.transaction() as conn:
        await conn.execute("UPDATE sign_in_tries SET at = at - interval '1 hour'")
    assert (await try_to_sign_in(client)).status_code == 200


async def test_the_right_password_takes_earlier_failures_away(
    person: MakePerson, browser: Browser
) -> None:
    await person()
    client = await browser()
    for _ in range(3):
        for _ in range(4):
            refused(await try_to_sign_in(client, password=WRONG), 401, "AUTHENTICATION_FAILED")
        assert (await try_to_sign_in(client)).status_code == 200


@pytest.mark.parametrize("failures_of_address", [6])
async def test_failures_are_limited_per_address(browser: Browser) -> None:
    client = await browser()
    for number in range(6):
        answer = await try_to_sign_in(client, f"somebody{number}@acme")
        refused(answer, 401, "AUTHENTICATION_FAILED")
    refused(await try_to_sign_in(client, "another@acme"), 429, "RATE_LIMITED")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 422, "INVALID_PARAMETERS"),
        ({"email": "ann@acme"}, 422, "INVALID_PARAMETERS"),
        ({"email": "ann@acme", "password": PASSWORD, "role": "admin"}, 422, "UNKNOWN_FIELD"),
        ({"email": "ann@acme", "password": "x" * 2000}, 422, "INVALID_PARAMETERS"),
        ({"email": ["ann@acme"], "password": PASSWORD}, 422, "INVALID_PARAMETERS"),
    ],
)
async def test_bad_bodies_are_refused(
    browser: Browser, body: dict[str, Any], status: int, code: str
) -> None:
    client = await browser()
    refused(await client.post("/api/session", json=body), status, code)


async def test_only_json_signs_in(person: MakePerson, browser: Browser) -> None:
    """A form on another site could otherwise sign its visitors in as somebody else."""
    await person()
    client = await browser()
    raw = b'{"email": "ann@acme", "password": "correct horse battery"}'
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        answer = await client.post("/api/session", content=raw, headers={"content-type": kind})
        refused(answer, 415, "UNSUPPORTED_TYPE")


async def test_a_change_without_its_token_is_refused(person: MakePerson, browser: Browser) -> None:
    await person()
    client, other = await browser(), await browser()
    found = shaped(SessionShape, await try_to_sign_in(client))
    stranger = shaped(SessionShape, await try_to_sign_in(other))
    order = {"pipeline": "noop", "config": {"items": 1}}
    for token in (None, "", "x", stranger.csrf_token, "é"):
        headers = {} if token is None else {b"X-CSRF-Token": token.encode()}
        answer = await client.post("/api/jobs", json=order, headers=headers)
        refused(answer, 403, "CSRF_FAILED")
        refused(await client.delete("/api/session", headers=headers), 403, "CSRF_FAILED")
    assert found.csrf_token
    headers = {b"X-CSRF-Token": found.csrf_token.encode()}
    assert (await client.post("/api/jobs", json=order, headers=headers)).status_code == 202


async def test_a_session_ends_when_it_is_idle_and_when_it_is_old(
    person: MakePerson, browser: Browser, db: Database
) -> None:
    await person()
    client = await browser()
    for column in ("idle_until", "expires_at"):
        await sign_in(client)
        assert (await client.get("/api/jobs")).status_code == 200
        async with db.transaction() as conn:
            await conn.execute(f"UPDATE sessions SET {column} = now()")
        refused(await client.get("/api/jobs"), 401, "AUTHENTICATION_FAILED")
        refused(await client.get("/api/session"), 401, "AUTHENTICATION_FAILED")


async def test_a_session_in_use_does_not_become_idle(
    person: MakePerson, browser: Browser, db: Database
) -> None:
    await person()
    client = await browser()
    await sign_in(client)
    async with db.transaction() as conn:
        await conn.execute(
            "UPDATE sessions SET seen_at = now() - interval '2 minutes',"
            " idle_until = now() + interval '1 minute', expires_at = now() + interval '9 hours'"
        )
    assert (await client.get("/api/jobs")).status_code == 200
    async with db.acquire() as conn:
        later = "SELECT idle_until > now() + interval '7 hours', expires_at > idle_until"
        assert tuple(await conn.fetchrow(f"{later} FROM sessions") or ()) == (True, True)


async def test_signing_out_ends_the_session_on_the_server(
    person: MakePerson, browser: Browser
) -> None:
    await person()
    client, thief = await browser(), await browser()
    await sign_in(client)
    stolen = client.cookies["penstock_session"]
    assert (await client.delete("/api/session")).status_code == 204
    assert "penstock_session" not in client.cookies
    thief.cookies.set("penstock_session", stolen)
    refused(await thief.get("/api/jobs"), 401, "AUTHENTICATION_FAILED")


async def test_whatever_session_a_browser_comes_with_it_leaves_with_another(
    person: MakePerson, browser: Browser, db: Database
) -> None:
    """Nobody can plant a session and have it signed in."""
    await person()
    client, planter = await browser(), await browser()
    await sign_in(client)
    planted = client.cookies["penstock_session"]
    for token in (planted, "made-up"):
        client.cookies.clear()
        client.cookies.set("penstock_session", token)
        fresh = (await try_to_sign_in(client)).cookies["penstock_session"]
        assert fresh != token
        planter.cookies.set("penstock_session", token)
        refused(await planter.get("/api/jobs"), 401, "AUTHENTICATION_FAILED")
    async with db.acquire() as conn:
        kept = await conn.fetch("SELECT hash FROM sessions")
    assert all(len(row["hash"]) == 32 for row in kept)


async def test_a_disabled_user_is_out_at_once(
    person: MakePerson, browser: Browser, db: Database
) -> None:
    await person()
    client = await browser()
    await sign_in(client)
    async with db.transaction() as conn:
        await conn.execute("UPDATE users SET disabled_at = now()")
    refused(await client.get("/api/jobs"), 401, "AUTHENTICATION_FAILED")


async def test_a_viewer_reads_and_changes_nothing(person: MakePerson, browser: Browser) -> None:
    await person(role="viewer")
    client = await browser()
    await sign_in(client)
    assert (await client.get("/api/jobs")).status_code == 200
    answer = await client.post("/api/jobs", json={"pipeline": "noop"})
    refused(answer, 403, "INSUFFICIENT_PERMISSIONS")
    assert (await client.delete("/api/session")).status_code == 204


async def test_a_key_is_no_session_and_goes_before_one(
    person: MakePerson, browser: Browser, caller: Caller
) -> None:
    keyed = await caller(email="robot@acme")
    found = shaped(SessionShape, await keyed.get("/api/session"))
    assert (found.user.email, found.csrf_token) == ("robot@acme", None)
    await person()
    client = await browser()
    await sign_in(client)
    answer = await client.get("/api/session", headers=dict(keyed.headers))
    assert shaped(SessionShape, answer).user.email == "robot@acme"
    answer = await client.get("/api/session", headers={"Authorization": "Bearer pk_wrong"})
    refused(answer, 401, "AUTHENTICATION_FAILED")


async def test_signing_in_and_out_is_written_down(
    person: MakePerson, browser: Browser, db: Database
) -> None:
    await person()
    client = await browser()
    await sign_in(client)
    await client.delete("/api/session")
    async with db.acquire() as conn:
        rows = await conn.fetch(
            "SELECT action, host(ip) AS ip, user_id FROM audit WHERE action LIKE 'session%'"
            " ORDER BY id"
        )
    assert [row["action"] for row in rows] == ["session.create", "session.delete"]
    assert {row["ip"] for row in rows} == {"127.0.0.1"}
    assert all(row["user_id"] for row in rows)


async def test_nothing_of_a_password_or_a_token_is_kept_in_plain(
    person: MakePerson, browser: Browser, db: Database
) -> None:
    await person()
    client = await browser()
    await sign_in(client)
    await try_to_sign_in(client, email=WRONG, password=WRONG)
    async with db.acquire() as conn:
        kept = ""
        for table in ("users", "passwords", "sessions", "sign_in_tries", "audit"):
            for row in await conn.fetch(f"SELECT t::text AS text FROM {table} AS t"):
                kept += row["text"]
    for secret in (PASSWORD, WRONG, client.cookies["penstock_session"]):
        assert secret not in kept


async def test_a_web_socket_with_a_session_is_opened_by_our_own_page_only(
    person: MakePerson, browser: Browser, port: int
) -> None:
    """No page can add a header to a socket, and the browser sends the cookie along."""
    await person()
    client = await browser()
    await sign_in(client)
    url, cookie = (
        f"ws://127.0.0.1:{port}/ws",
        f"penstock_session={client.cookies['penstock_session']}",
    )
    for origin in (None, "http://evil.example", f"http://127.0.0.1:{port}.evil.example", "null"):
        headers = {"Cookie": cookie} | ({} if origin is None else {"Origin": origin})
        with pytest.raises(InvalidStatus) as refusal:
            await connect(url, additional_headers=headers)
        assert refusal.value.response.status_code == 403
    ours = {"Cookie": cookie, "Origin": f"http://127.0.0.1:{port}"}
    async with connect(url, additional_headers=ours) as socket:
        await socket.send('{"subscribe": "all"}')
        assert "subscribed" in str(await socket.recv())
