"""Sign in with e-mail and password. A failure does not show its reason: the answer and its time are
the same, whether the address is unknown, the user is disabled or the password is wrong."""

from __future__ import annotations

import hashlib
import ipaddress
from dataclasses import dataclass

from penstock.accounts import passwords
from penstock.model.errors import NotAllowed, RateLimited
from penstock.model.text.emails import fold_email
from penstock.settings import Settings
from penstock.store.accounts import sessions
from penstock.store.accounts.accounts import Principal
from penstock.store.accounts.audit_log import audit
from penstock.store.accounts.sessions import Lifetime, TryLimits, TrySubject
from penstock.store.database import Database


@dataclass(frozen=True, slots=True)
class Client:
    """The address and the user agent of a request."""

    ip: str | None
    agent: str = ""


@dataclass(frozen=True, slots=True)
class SignedIn:
    who: Principal
    token: str


async def sign_in(
    settings: Settings, db: Database, email: str, password: str, client: Client
) -> SignedIn:
    """A new session, never one that was there before."""
    tried = await _begin_try(settings, db, email, client)
    async with db.acquire() as conn:
        known = await sessions.password_of(conn, email)
    if not await passwords.matches(password, None if known is None else known.hash):
        raise NotAllowed("AUTHENTICATION_FAILED", "E-mail or password is wrong.")
    assert known is not None
    fresh = await passwords.hash_password(password) if passwords.is_outdated(known.hash) else None
    async with db.acquire() as conn:
        await sessions.forgive(conn, tried)
    who = known.who
    lifetime = Lifetime(settings.session_idle_minutes * 60, settings.session_hours * 3600)
    async with db.scoped(who.scope) as conn:
        if fresh is not None:
            await sessions.set_password(conn, who.user_id, who.org_id, fresh)
        token = await sessions.add_session(conn, who, lifetime, ip=client.ip, agent=client.agent)
        await audit(
            conn, who.org_id, who.user_id, "session.create", f"user:{who.user_id}", ip=client.ip,
            after={"agent": client.agent[:200]},
        )  # fmt: skip
    return SignedIn(who, token)


async def confirm(
    settings: Settings, db: Database, who: Principal, password: str, client: Client
) -> None:
    """The one who asks must know the password, for what a borrowed session must not do. Strangers'
    tries on the account do not count here."""
    tried = await _begin_try(settings, db, who.email, client, signed_in=True)
    async with db.acquire() as conn:
        known = await sessions.password_of(conn, who.email)
    if not await passwords.matches(password, None if known is None else known.hash):
        raise NotAllowed("WRONG_PASSWORD", "The password is not the one you have now.")
    async with db.acquire() as conn:
        await sessions.forgive(conn, tried)


async def _begin_try(
    settings: Settings, db: Database, email: str, client: Client, *, signed_in: bool = False
) -> TrySubject:
    tried = TrySubject(account_of(email), _subject("network", network_of(client.ip)))
    limits = TryLimits(
        settings.sign_in_failures,
        None if signed_in else settings.sign_in_failures_account,
        # Clients over a socket file share one name, but are not one network.
        None if client.ip is None else settings.sign_in_failures_network,
    )
    async with db.transaction() as conn:
        wait_ms = await sessions.begin_try(conn, tried, limits)
    if wait_ms:
        raise RateLimited(
            "RATE_LIMITED",
            "Too many failed tries to sign in. Try again later.",
            retry_after_ms=wait_ms,
        )
    return tried


def network_of(ip: str | None) -> str:
    """The network whose addresses one party can usually choose from: a /24, or a /48 of IPv6."""
    if ip is None:
        return "local"
    address = ipaddress.ip_address(ip)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    bits = 24 if address.version == 4 else 48
    return str(ipaddress.ip_network((address, bits), strict=False))


def account_of(email: str) -> bytes:
    return _subject("account", fold_email(email))


def _subject(kind: str, name: str) -> bytes:
    return hashlib.sha256(f"{kind}:{name}".encode("utf-8", "surrogatepass")).digest()
