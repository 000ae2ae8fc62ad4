"""Signing in with e-mail and password. Whoever fails learns nothing but that it failed: the same
answer after the same time, whether the address is unknown, disabled or the password wrong."""

from __future__ import annotations

import hashlib
import ipaddress
from dataclasses import dataclass

from penstock.engine import passwords
from penstock.model.errors import NotAllowed, RateLimited
from penstock.settings import Settings
from penstock.store import accounts, sessions
from penstock.store.accounts import Principal
from penstock.store.database import Database
from penstock.store.sessions import Lifetime, Try


@dataclass(frozen=True, slots=True)
class Caller:
    """From where, and with what."""

    ip: str | None
    agent: str = ""


@dataclass(frozen=True, slots=True)
class SignedIn:
    who: Principal
    token: str


async def sign_in(
    settings: Settings, db: Database, email: str, password: str, caller: Caller
) -> SignedIn:
    """A new session, never one that was there before."""
    tried = await _begin_try(settings, db, email, caller)
    async with db.acquire() as conn:
        known = await sessions.password_of(conn, email)
    if not await passwords.matches(password, None if known is None else known.hash):
        raise NotAllowed("AUTHENTICATION_FAILED", "E-mail or password is wrong.")
    assert known is not None
    fresh = await passwords.hash_password(password) if passwords.is_outdated(known.hash) else None
    async with db.acquire() as conn:
        await sessions.forgive(conn, tried, account_of(email))
    who = known.who
    lifetime = Lifetime(settings.session_idle_minutes * 60, settings.session_hours * 3600)
    async with db.scoped(who.scope) as conn:
        if fresh is not None:
            await sessions.set_password(conn, who.user_id, who.org_id, fresh)
        token = await sessions.add_session(conn, who, lifetime, ip=caller.ip, agent=caller.agent)
        await accounts.audit(
            conn, who.org_id, who.user_id, "session.create", f"user:{who.user_id}", ip=caller.ip,
            after={"agent": caller.agent[:200]},
        )  # fmt: skip
    return SignedIn(who, token)


async def confirm(
    settings: Settings, db: Database, who: Principal, password: str, caller: Caller
) -> None:
    """The one who asks must know the password, for what a borrowed session must not do."""
    tried = await _begin_try(settings, db, who.email, caller)
    async with db.acquire() as conn:
        known = await sessions.password_of(conn, who.email)
    if not await passwords.matches(password, None if known is None else known.hash):
        raise NotAllowed("WRONG_PASSWORD", "The password is not the one you have now.")
    async with db.acquire() as conn:
        await sessions.forgive(conn, tried, account_of(who.email))


async def _begin_try(settings: Settings, db: Database, email: str, caller: Caller) -> Try:
    most = {account_of(email): settings.sign_in_failures_account}
    if caller.ip is not None:
        most[_subject("address", network_of(caller.ip))] = settings.sign_in_failures_address
    async with db.transaction() as conn:
        tried = await sessions.begin_try(conn, most)
    if tried.wait_ms:
        raise RateLimited(
            "RATE_LIMITED",
            "Too many failed tries to sign in. Try again later.",
            retry_after_ms=tried.wait_ms,
        )
    return tried


def network_of(ip: str) -> str:
    """Whoever has one IPv6 address has 2^64 of them."""
    address = ipaddress.ip_address(ip)
    if address.version == 4:
        return ip
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((int(address) >> 64 << 64, 64)))


def account_of(email: str) -> bytes:
    return _subject("account", email.lower())


def _subject(kind: str, name: str) -> bytes:
    return hashlib.sha256(f"{kind}:{name}".encode()).digest()
