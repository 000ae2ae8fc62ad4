"""Browser sessions, passwords, and failed sign-in attempts."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from penstock.model.ids import new_id
from penstock.model.text.emails import fold_email
from penstock.store.accounts.accounts import Principal, hash_key, principal_from
from penstock.store.database import Connection
from penstock.store.queries import load

_sql = load("sessions")
_LONGEST_AGENT = 200


@dataclass(frozen=True, slots=True)
class KnownPassword:
    who: Principal
    hash: str


@dataclass(frozen=True, slots=True)
class Lifetime:
    idle_seconds: float
    seconds: float


@dataclass(frozen=True, slots=True)
class SessionRow:
    """An open session of a browser, without the hash of its token."""

    id: UUID
    org_id: int
    user_id: int
    email: str
    ip: str | None
    agent: str
    created_at: datetime
    seen_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class SessionUser:
    user_id: int
    org_id: int


async def holder_of(conn: Connection, token: str, idle_seconds: float | None) -> Principal | None:
    """The principal of a session. ``idle_seconds`` extends the session, which is written once a
    minute; without it the session is not extended."""
    hashed = hash_key(token)
    row = await conn.fetchrow(_sql.holder, hashed)
    if row is None:
        return None
    if row["unused"] and idle_seconds is not None:
        await conn.execute(_sql.touch_session, hashed, idle_seconds)
    return principal_from(row, session_id=row["session_id"])


async def add_session(
    conn: Connection, who: Principal, lifetime: Lifetime, *, ip: str | None, agent: str
) -> str:
    """Create a session; answers its token of 256 random bits. Only its hash is stored."""
    token = secrets.token_urlsafe(32)
    await conn.execute(
        _sql.add_session, new_id(), who.org_id, who.user_id, hash_key(token), ip,
        agent[:_LONGEST_AGENT], lifetime.idle_seconds, lifetime.seconds,
    )  # fmt: skip
    return token


async def list_sessions(
    conn: Connection, before: UUID | None, user_id: int | None, limit: int
) -> list[SessionRow]:
    rows = await conn.fetch(_sql.open_sessions, before, user_id, limit)
    return [SessionRow(**row) for row in rows]


async def end_session(conn: Connection, session_id: UUID) -> SessionUser | None:
    """Answers the user of the ended session; None if there is none in this scope."""
    row = await conn.fetchrow(_sql.drop_session, session_id)
    return None if row is None else SessionUser(**row)


async def end_sessions_of(conn: Connection, user_id: int, but: UUID | None = None) -> None:
    await conn.execute(_sql.drop_sessions, user_id, but)


async def password_of(conn: Connection, email: str) -> KnownPassword | None:
    row = await conn.fetchrow(_sql.password, fold_email(email))
    return None if row is None else KnownPassword(principal_from(row), row["hash"])


async def set_password(conn: Connection, user_id: int, org_id: int, hashed: str) -> None:
    await conn.execute(_sql.set_password, user_id, org_id, hashed)


async def some_admin_can_sign_in(conn: Connection) -> bool:
    return bool(await conn.fetchval(_sql.has_admin_with_password))


@dataclass(frozen=True, slots=True)
class TrySubject:
    """The account and the network of a sign-in attempt, both as hashes."""

    account: bytes
    network: bytes


@dataclass(frozen=True, slots=True)
class TryLimits:
    """Allowed failures per hour: of a network on one account, on an account in total, of a network
    in total. None is no limit."""

    pair: int
    account: int | None
    network: int | None


async def begin_try(conn: Connection, tried: TrySubject, limits: TryLimits) -> int:
    """Count an attempt and return 0, or return the milliseconds until the next one is allowed. The
    account's total does not apply to a network that has signed in to the account before."""
    for subject in sorted({tried.account, tried.network}):
        await conn.execute(_sql.lock_tries, subject)
    waits = [await conn.fetchval(_sql.wait_for_pair, tried.account, tried.network, limits.pair - 1)]
    known = await conn.fetchval(_sql.knows_network, tried.account, tried.network)
    if limits.account is not None and not known:
        waits.append(await conn.fetchval(_sql.wait_for_account, tried.account, limits.account - 1))
    if limits.network is not None:
        waits.append(await conn.fetchval(_sql.wait_for_network, tried.network, limits.network - 1))
    needed = [max(1, int(wait)) for wait in waits if wait is not None]
    if not needed:
        await conn.execute(_sql.add_try, tried.account, tried.network)
    return max(needed, default=0)


async def forgive(conn: Connection, tried: TrySubject) -> None:
    """The password was right: forget this and earlier attempts from the same network. Attempts from
    other networks still count, since they may be an attacker's."""
    await conn.execute(_sql.forgive_pair, tried.account, tried.network)
    await conn.execute(_sql.know_network, tried.account, tried.network)


async def forgive_account(conn: Connection, account: bytes) -> None:
    """Forget all attempts on this account."""
    await conn.execute(_sql.forgive_account, account)


async def forget_ended(conn: Connection) -> None:
    """Delete ended sessions, old attempts, and networks not seen for a long time."""
    await conn.execute(_sql.forget_sessions)
    await conn.execute(_sql.forget_tries)
    await conn.execute(_sql.forget_networks)
