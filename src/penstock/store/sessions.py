"""Sessions of people in a browser, their passwords, and how often somebody has tried."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from penstock.model.ids import new_id
from penstock.store.accounts import Principal, hash_key, principal_from
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


async def holder_of(conn: Connection, token: str, idle_seconds: float | None) -> Principal | None:
    """Whose session this is. Used, it lives on for another ``idle_seconds``, which is noted once a
    minute; without, this is no use of it."""
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
    """A new session's token of 256 random bits; only its hash is kept."""
    token = secrets.token_urlsafe(32)
    await conn.execute(
        _sql.add_session, new_id(), who.org_id, who.user_id, hash_key(token), ip,
        agent[:_LONGEST_AGENT], lifetime.idle_seconds, lifetime.seconds,
    )  # fmt: skip
    return token


async def listed(
    conn: Connection, before: UUID | None, user_id: int | None, limit: int
) -> list[Any]:
    return await conn.fetch(_sql.open_sessions, before, user_id, limit)


async def end_session(conn: Connection, session_id: UUID) -> Any:
    """Whose it was; None if there is none that may be seen."""
    return await conn.fetchrow(_sql.drop_session, session_id)


async def end_sessions_of(conn: Connection, user_id: int, but: UUID | None = None) -> None:
    await conn.execute(_sql.drop_sessions, user_id, but)


async def password_of(conn: Connection, email: str) -> KnownPassword | None:
    row = await conn.fetchrow(_sql.password, email)
    return None if row is None else KnownPassword(principal_from(row), row["hash"])


async def set_password(conn: Connection, user_id: int, org_id: int, hashed: str) -> None:
    await conn.execute(_sql.set_password, user_id, org_id, hashed)


async def some_admin_can_sign_in(conn: Connection) -> bool:
    return bool(await conn.fetchval(_sql.has_admin_with_password))


@dataclass(frozen=True, slots=True)
class Try:
    """One try to sign in: its rows, or how long to wait for it."""

    ids: Sequence[int] = ()
    wait_ms: int = 0


async def begin_try(conn: Connection, most_by_subject: dict[bytes, int]) -> Try:
    """Count a try against each subject, unless one of them has no more left in this hour."""
    for subject in sorted(most_by_subject):
        await conn.execute(_sql.lock_tries, subject)
    for subject, most in most_by_subject.items():
        wait_ms = await conn.fetchval(_sql.wait_for_try, subject, most - 1)
        if wait_ms is not None:
            return Try(wait_ms=max(1, int(wait_ms)))
    rows = await conn.fetch(_sql.add_tries, list(most_by_subject))
    return Try([row["id"] for row in rows])


async def forgive(conn: Connection, tried: Try, account: bytes) -> None:
    """This try was none, and those before on the account do not count."""
    await conn.execute(_sql.forgive_tries, list(tried.ids), account)


async def forget_ended(conn: Connection) -> None:
    """What has ended, and tries too old to count."""
    await conn.execute(_sql.forget_sessions)
    await conn.execute(_sql.forget_tries)
