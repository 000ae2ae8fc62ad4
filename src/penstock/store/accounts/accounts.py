"""Orgs, users and keys."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg

from penstock.model.errors import BadInput, NotThere
from penstock.model.fairness import PLAN_WEIGHTS
from penstock.model.text.emails import fold_email
from penstock.store.database import Connection, Scope
from penstock.store.queries import load

_sql = load("accounts")
_keys = load("keys")
KEY_PREFIX = "pk_"


SCOPES = ("read", "write", "admin")


@dataclass(frozen=True, slots=True)
class Principal:
    """An authenticated caller. ``role`` is limited by the key's scopes: an admin's key without the
    scope `admin` acts as a member."""

    user_id: int
    org_id: int
    email: str
    role: str
    org: str
    plan: str
    shared_jobs: bool = False
    writes: bool = True
    key_id: int | None = None
    session_id: UUID | None = None

    @property
    def scope(self) -> Scope:
        """Admins see all orgs, viewers their org, members their own jobs unless the org shares."""
        own_only = self.role == "member" and not self.shared_jobs
        owner = self.user_id if own_only else None
        return Scope(self.org_id, owner, self.role == "admin", self.user_id)


@dataclass(frozen=True, slots=True)
class OrgRow:
    """An org. ``max_slices`` None is no cap; ``catalog_key``: the identifier by which
    products of all sources are one; None: rows match inside their own source."""

    id: int
    name: str
    plan: str
    weight: int
    max_slices: int | None
    shared_jobs: bool
    catalog_key: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class OrgUser:
    """A user as its org knows it; `users.UserRow` has more."""

    id: int
    org_id: int
    email: str
    role: str
    created_at: datetime
    disabled_at: datetime | None


_OF_USER = ("user_id", "org_id", "email", "role", "org", "plan", "shared_jobs")


def principal_from(row: Any, **more: Any) -> Principal:
    """The principal of a user's row, with all rights of the role."""
    of_user = {name: row[name] for name in _OF_USER}
    return Principal(**of_user, **({"writes": row["role"] != "viewer"} | more))


def hash_key(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()


async def principal_of(conn: Connection, key: str) -> Principal | None:
    """The principal of a key. The time of last use is updated once a minute."""
    hashed = hash_key(key)
    row = await conn.fetchrow(_sql.principal, hashed)
    if row is None:
        return None
    if row["unused"]:
        await conn.execute(_sql.touch_key, hashed)
    found = principal_from(row, key_id=row["key_id"])
    role = found.role if "admin" in row["scopes"] or found.role != "admin" else "member"
    return replace(found, role=role, writes=found.writes and "write" in row["scopes"])


async def ensure_org(conn: Connection, name: str, plan: str | None = None) -> OrgRow:
    """The org with that name, created if it is missing."""
    known = await _org_named(conn, name)
    if known is not None:
        return known
    chosen = plan or "standard"
    if chosen not in PLAN_WEIGHTS:
        raise BadInput(
            "INVALID_PARAMETERS", f"Unknown plan {chosen!r}: use {', '.join(PLAN_WEIGHTS)}."
        )
    try:
        async with conn.transaction():
            row = await conn.fetchrow(_sql.add_org, name, chosen, PLAN_WEIGHTS[chosen])
            assert row is not None
            await conn.execute(_sql.add_org_time, row["id"])
    except asyncpg.UniqueViolationError:
        return await find_org(conn, name)
    except asyncpg.CheckViolationError as error:
        raise BadInput(
            "INVALID_PARAMETERS",
            f"{name!r} cannot name an org: letters, digits, '.', '_' and '-', at most 63.",
        ) from error
    return OrgRow(**row)


async def find_user(conn: Connection, email: str) -> OrgUser | None:
    """The user with that e-mail address, in any spelling; None if there is none."""
    row = await conn.fetchrow(_sql.find_user, fold_email(email))
    return None if row is None else OrgUser(**row)


async def add_user(conn: Connection, org_id: int, email: str, role: str) -> OrgUser:
    row = await conn.fetchrow(_sql.add_user, org_id, fold_email(email), role)
    assert row is not None
    return OrgUser(**row)


async def ensure_user(conn: Connection, org_id: int, email: str, role: str) -> OrgUser:
    """The user with that e-mail address, created if missing; refused if the org or role differs."""
    user = await find_user(conn, email)
    if user is None:
        return await add_user(conn, org_id, email, role)
    if user.org_id != org_id or user.role != role:
        raise BadInput(
            "INVALID_PARAMETERS",
            f"User {email!r} exists already, in another org or with another role.",
        )
    return user


async def list_orgs(conn: Connection) -> list[OrgRow]:
    return [OrgRow(**row) for row in await conn.fetch(_sql.list_orgs)]


async def knows_org(conn: Connection, name: str) -> bool:
    return await _org_named(conn, name) is not None


async def find_org(conn: Connection, name: str) -> OrgRow:
    org = await _org_named(conn, name)
    if org is None:
        raise NotThere("RESOURCE_NOT_FOUND", f"There is no org named {name!r}.")
    return org


async def _org_named(conn: Connection, name: str) -> OrgRow | None:
    row = await conn.fetchrow(_sql.find_org, name)
    return None if row is None else OrgRow(**row)


async def change_org(
    conn: Connection, org_id: int, plan: str | None, max_slices: int | None,
    shared_jobs: bool | None, catalog_key: str | None = None,
) -> OrgRow:  # fmt: skip
    """Change the given settings; 0 slices remove the cap."""
    weight = None if plan is None else PLAN_WEIGHTS[plan]
    row = await conn.fetchrow(
        _sql.change_org, org_id, plan, weight, max_slices, shared_jobs, catalog_key
    )
    assert row is not None
    return OrgRow(**row)


async def add_key(
    conn: Connection, org_id: int, user_id: int, name: str = "", *,
    scopes: Sequence[str] = SCOPES, expires_at: datetime | None = None,
) -> tuple[int, str]:  # fmt: skip
    """Store a new key of 256 random bits as a hash; return its id and the key."""
    key = KEY_PREFIX + secrets.token_urlsafe(32)
    key_id: int = await conn.fetchval(
        _keys.add_api_key, org_id, user_id, hash_key(key), key[:8], name, expires_at, list(scopes)
    )
    return key_id, key


async def create_key(conn: Connection, org_id: int, user_id: int, name: str = "") -> str:
    """Store a key with all scopes of its user; return the key."""
    _, key = await add_key(conn, org_id, user_id, name)
    return key
