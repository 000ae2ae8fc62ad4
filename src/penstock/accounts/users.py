"""Users, their passwords, keys and rights: every change audited, with who asked and from where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from penstock.accounts import passwords
from penstock.accounts.sign_in import account_of
from penstock.model.errors import BadInput, NotAllowed, NotThere, PermanentError
from penstock.store.accounts import accounts, keys, sessions, users
from penstock.store.accounts.accounts import SCOPES, Principal
from penstock.store.accounts.audit_log import Caller, audit
from penstock.store.accounts.keys import KeyRow
from penstock.store.accounts.users import UserRow
from penstock.store.database import Connection
from penstock.store.errors import UniqueViolationError

_OF_ROLE = {"admin": SCOPES, "member": ("read", "write"), "viewer": ("read",)}


@dataclass(frozen=True, slots=True)
class NewUser:
    email: str
    role: str
    org: str
    # None: has keys only.
    password_hash: str | None


async def add_user(conn: Connection, caller: Caller, wanted: NewUser) -> UserRow:
    org = await accounts.find_org(conn, wanted.org)
    taken = PermanentError("ALREADY_EXISTS", f"There is a user {wanted.email!r} already.")
    if await accounts.find_user(conn, wanted.email) is not None:
        raise taken
    try:
        user = await accounts.add_user(conn, org.id, wanted.email, wanted.role)
    except UniqueViolationError as error:
        raise taken from error
    if wanted.password_hash is not None:
        await sessions.set_password(conn, user.id, org.id, wanted.password_hash)
    told = {"email": user.email, "role": wanted.role, "org": wanted.org}
    await _audit(conn, caller, user.org_id, user.id, "create", after=told)
    return await _existing(conn, user.id)


async def change_user(
    conn: Connection, caller: Caller, user_id: int, role: str | None, disabled: bool | None
) -> UserRow:
    """None keeps a setting. The last admin cannot be disabled or get another role."""
    await users.lock_admins(conn)
    before = await _existing(conn, user_id)
    stays_admin = (role or before.role) == "admin" and not (
        before.disabled_at is not None if disabled is None else disabled
    )
    is_admin = before.role == "admin" and before.disabled_at is None
    if is_admin and not stays_admin and not await users.has_other_admin(conn, user_id):
        raise PermanentError("INVALID_STATE", "This is the last admin. Make another one first.")
    if role is not None and role != before.role:
        await users.set_role(conn, user_id, role)
        await _audit(
            conn,
            caller,
            before.org_id,
            user_id,
            "role",
            before={"role": before.role},
            after={"role": role},
        )
    if disabled is not None and disabled != (before.disabled_at is not None):
        await users.set_disabled(conn, user_id, disabled)
        if disabled:
            await sessions.end_sessions_of(conn, user_id)
        verb = "disable" if disabled else "enable"
        await _audit(conn, caller, before.org_id, user_id, verb)
    return await _existing(conn, user_id)


async def reset_password(conn: Connection, caller: Caller, user_id: int, hashed: str) -> UserRow:
    """Ends all sessions of the user, and forgets failed attempts to sign in."""
    user = await _existing(conn, user_id)
    await sessions.set_password(conn, user_id, user.org_id, hashed)
    await sessions.end_sessions_of(conn, user_id)
    await sessions.forgive_account(conn, account_of(user.email))
    await _audit(conn, caller, user.org_id, user.id, "reset_password")
    return user


async def change_own_password(conn: Connection, caller: Caller, hashed: str) -> None:
    """All sessions end but the one that asks."""
    who = caller.who
    await sessions.set_password(conn, who.user_id, who.org_id, hashed)
    await sessions.end_sessions_of(conn, who.user_id, but=who.session_id)
    await _audit(conn, caller, who.org_id, who.user_id, "change_password")


async def end_session(conn: Connection, caller: Caller, session_id: UUID) -> None:
    ended = await sessions.end_session(conn, session_id)
    if ended is None:
        raise no_such_session()
    await _note_ended(conn, caller, ended.org_id, ended.user_id)


async def end_other_sessions(conn: Connection, caller: Caller) -> None:
    who = caller.who
    await sessions.end_sessions_of(conn, who.user_id, but=who.session_id)
    await _note_ended(conn, caller, who.org_id, who.user_id, after={"all": True})


async def _note_ended(
    conn: Connection, caller: Caller, org_id: int, user_id: int, **told: Any
) -> None:
    await audit(
        conn, org_id, caller.who.user_id, "session.delete", f"user:{user_id}", ip=caller.ip, **told
    )


@dataclass(frozen=True, slots=True)
class NewKey:
    name: str = ""
    # None: all that the user may do.
    scopes: Sequence[str] | None = None
    expires_at: datetime | None = None


async def add_key(
    conn: Connection, caller: Caller, user_id: int, wanted: NewKey
) -> tuple[KeyRow, str]:
    """The key's row, and the key itself, for the only time."""
    user = await _existing(conn, user_id)
    possible = _OF_ROLE[user.role]
    scopes = possible if wanted.scopes is None else ("read", *wanted.scopes)
    beyond = sorted(set(scopes) - set(possible))
    if beyond:
        raise BadInput(
            "INVALID_PARAMETERS",
            f"A {user.role} cannot have a key with the scope {beyond[0]!r}.",
        )
    key_id, key = await accounts.add_key(
        conn, user.org_id, user_id, wanted.name, scopes=sorted(set(scopes), key=SCOPES.index),
        expires_at=wanted.expires_at,
    )  # fmt: skip
    told = {"user": user_id, "name": wanted.name, "scopes": sorted(set(scopes), key=SCOPES.index),
            "expiresAt": wanted.expires_at}  # fmt: skip
    await audit(
        conn, user.org_id, caller.who.user_id, "key.create", f"key:{key_id}", ip=caller.ip,
        after=told,
    )  # fmt: skip
    row = await keys.get(conn, key_id)
    assert row is not None
    return row, key


async def revoke_key(conn: Connection, caller: Caller, key_id: int) -> None:
    """Twice is the same as once."""
    key = await keys.get(conn, key_id)
    if key is None:
        raise no_such_key()
    if await keys.revoke(conn, key_id):
        await audit(
            conn, key.org_id, caller.who.user_id, "key.revoke", f"key:{key_id}", ip=caller.ip,
            before={"user": key.user_id, "name": key.name},
        )  # fmt: skip


async def chosen_password(given: str | None, email: str) -> tuple[str, str]:
    """The password and its hash: the given one, if it is good enough, or a new one."""
    password = given or passwords.generate_password()
    passwords.require_good(password, email)
    return password, await passwords.hash_password(password)


def no_such_user() -> NotThere:
    return NotThere("NOT_FOUND", "There is no such user.")


def no_such_session() -> NotThere:
    return NotThere("NOT_FOUND", "There is no such session.")


def no_such_key() -> NotThere:
    return NotThere("NOT_FOUND", "There is no such key.")


def require_more_than_a_key(who: Principal) -> None:
    """A key that leaks must not make others that outlive it."""
    if who.session_id is None and who.role != "admin":
        raise NotAllowed(
            "INSUFFICIENT_PERMISSIONS",
            "Sign in for this: a key makes other keys only with the scope `admin`.",
        )


async def _existing(conn: Connection, user_id: int) -> UserRow:
    user = await users.get(conn, user_id)
    if user is None:
        raise no_such_user()
    return user


async def _audit(
    conn: Connection, caller: Caller, org_id: int, user_id: int, verb: str, **told: Any
) -> None:
    await audit(
        conn, org_id, caller.who.user_id, f"user.{verb}", f"user:{user_id}", ip=caller.ip, **told
    )
