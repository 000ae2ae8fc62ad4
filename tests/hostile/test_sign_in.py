"""Guessing passwords, and shutting others out by guessing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack

import httpx2
import pytest
from fastapi import FastAPI
from structlog.testing import capture_logs
from tests.api.conftest import PASSWORD, MakePerson, refused
from tests.api.signing import try_to_sign_in

from penstock.accounts.sign_in import account_of, network_of
from penstock.model.text.emails import fold_email
from penstock.settings import Settings
from penstock.store.accounts import accounts
from penstock.store.database import Database

WRONG = "incorrect horse battery"
From = Callable[[str], Awaitable[httpx2.AsyncClient]]


@pytest.fixture
def trusted() -> tuple[str, ...]:
    return ()


@pytest.fixture
def settings(settings: Settings, trusted: tuple[str, ...]) -> Settings:
    limits = {
        "sign_in_failures": 4, "sign_in_failures_account": 12, "sign_in_failures_network": 8,
        "trusted_proxies": trusted,
    }  # fmt: skip
    return settings.model_copy(update=limits)


@pytest.fixture
async def coming_from(app: FastAPI) -> AsyncIterator[From]:
    """A browser at an address of the caller's choice."""
    async with AsyncExitStack() as stack:

        async def open_one(ip: str) -> httpx2.AsyncClient:
            transport = httpx2.ASGITransport(app, client=(ip, 40000))
            return await stack.enter_async_context(
                httpx2.AsyncClient(transport=transport, base_url="http://penstock")
            )

        yield open_one


async def exhaust(client: httpx2.AsyncClient, email: str = "ann@acme", tries: int = 40) -> int:
    """How many wrong passwords were compared before the next was refused."""
    for count in range(tries):
        answer = await try_to_sign_in(client, email, WRONG)
        if answer.status_code == 429:
            return count
        assert answer.status_code == 401
    return tries


async def test_a_stranger_does_not_lock_the_owner_out(
    person: MakePerson, coming_from: From
) -> None:
    await person()
    owner, stranger = await coming_from("198.51.100.7"), await coming_from("203.0.113.9")
    assert await exhaust(stranger) == 4
    refused(await try_to_sign_in(stranger, password=PASSWORD), 429, "RATE_LIMITED")
    assert (await try_to_sign_in(owner)).status_code == 200


async def test_many_networks_together_shut_out_only_networks_that_never_signed_in(
    person: MakePerson, coming_from: From
) -> None:
    await person()
    owner = await coming_from("198.51.100.7")
    assert (await try_to_sign_in(owner)).status_code == 200
    compared = [await exhaust(await coming_from(f"203.0.{third}.9")) for third in range(6)]
    assert compared == [4, 4, 4, 0, 0, 0], "the total of the account"
    refused(await try_to_sign_in(await coming_from("192.0.2.1")), 429, "RATE_LIMITED")
    neighbour = await coming_from("198.51.100.200")
    for client in (owner, neighbour):
        assert (await try_to_sign_in(client)).status_code == 200
    assert await exhaust(neighbour) == 4, "a known network is limited by itself"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("203.0.113.9", "203.0.113.250"),
        ("2001:db8:1:1::1", "2001:db8:1:ffff::2"),
        ("::ffff:203.0.113.9", "203.0.113.1"),
    ],
)
async def test_another_address_of_the_same_network_is_no_new_chance(
    person: MakePerson, coming_from: From, first: str, second: str
) -> None:
    await person()
    assert await exhaust(await coming_from(first)) == 4
    assert await exhaust(await coming_from(second)) == 0


async def test_one_network_tries_few_accounts(person: MakePerson, coming_from: From) -> None:
    await person()
    stranger = await coming_from("203.0.113.9")
    compared = [await exhaust(stranger, f"user{number}@acme") for number in range(4)]
    assert compared == [4, 4, 0, 0]


@pytest.mark.parametrize("spelled", ["adm\u0130n@acme", "ADM\u0130N@acme", "Adm\u0131n@acme"])
async def test_other_letters_that_fold_alike_somewhere_name_no_account(
    person: MakePerson, coming_from: From, spelled: str, db: Database
) -> None:
    await person("admin@acme")
    client = await coming_from("203.0.113.9")
    refused(await try_to_sign_in(client, spelled, PASSWORD), 401, "AUTHENTICATION_FAILED")
    async with db.acquire() as conn:
        assert await accounts.find_user(conn, spelled) is None
        found = await accounts.find_user(conn, "ADMIN@Acme")
        assert found is not None
    assert found.email == "admin@acme"


def test_addresses_are_folded_once_and_alike() -> None:
    for text in ("\u0130", "\u01c5", "\ufb03", "\u03a3\u03a3", "e\u0301", "\u1e9e", "A\u030a"):
        once = fold_email(f"{text}@acme")
        assert fold_email(once) == once
        assert account_of(once) == account_of(f"{text}@acme")
    assert network_of(None) != network_of("127.0.0.1")


@pytest.mark.parametrize(
    ("trusted", "compared"),
    [((), 4), (("127.0.0.1",), 12), (("10.0.0.0/8",), 4)],
    ids=["none", "loopback", "another"],
)
async def test_spoofed_addresses_give_no_more_tries_unless_the_proxy_is_trusted(
    person: MakePerson, port: int, compared: int
) -> None:
    """With a trusted proxy it is the proxy that says who calls; then the account's total holds."""
    await person()
    count = 0
    with capture_logs() as logged:
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
            for number in range(20):
                client.headers["X-Forwarded-For"] = f"203.0.{number}.1"
                answer = await try_to_sign_in(client, password=WRONG)
                count += answer.status_code == 401
    assert count == compared
    said = [one for one in logged if "PENSTOCK_TRUSTED_PROXIES" in one["event"]]
    assert len(said) <= 1


async def test_a_spoofed_scheme_makes_no_cookie_secure(person: MakePerson, port: int) -> None:
    await person()
    async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        client.headers["X-Forwarded-Proto"] = "https"
        answer = await try_to_sign_in(client)
    assert "Secure" not in answer.headers["set-cookie"]


async def test_a_password_is_confirmed_while_strangers_try_the_account(
    person: MakePerson, coming_from: From
) -> None:
    await person()
    owner = await coming_from("198.51.100.7")
    token = (await try_to_sign_in(owner)).json()["csrfToken"]
    for third in range(4):
        await exhaust(await coming_from(f"203.0.{third}.9"))
    order = {"current": PASSWORD, "new": "a longer one of my own"}
    headers = {"X-CSRF-Token": token}
    answer = await owner.post("/api/users/me/password", json=order, headers=headers)
    assert answer.status_code == 204, answer.text
