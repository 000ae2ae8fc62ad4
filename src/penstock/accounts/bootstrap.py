"""The first admin, whose key is kept in a file that only its owner can read."""

from __future__ import annotations

import os
from pathlib import Path

from penstock.store.accounts import users
from penstock.store.accounts.accounts import (
    OrgUser,
    add_key,
    add_user,
    ensure_org,
    find_user,
    principal_of,
)
from penstock.store.accounts.audit_log import audit
from penstock.store.database import Connection

FIRST_ORG = "default"
FIRST_ADMIN = "admin@localhost"
_KEY_NAME = "first admin key"


async def bootstrap(conn: Connection, key_file: Path) -> str | None:
    """Make sure that the key in the file belongs to an admin; return the key if it is new."""
    async with conn.transaction():
        await users.lock_admins(conn)
        if key_file.exists():
            known = await principal_of(conn, key_file.read_text("utf-8").strip())
            if known is not None and known.role == "admin":
                return None
        org = await ensure_org(conn, FIRST_ORG)
        user = await local_user(conn, org.id)
        if user.role != "admin" or user.disabled_at is not None:
            # An operator took the rights of this user away, so it gets no key either.
            return None
        key_id, key = await add_key(conn, org.id, user.id, _KEY_NAME)
        await audit(
            conn, org.id, user.id, "key.create", f"key:{key_id}",
            after={"user": user.id, "name": _KEY_NAME},
        )  # fmt: skip
        write_private(key_file, key)
    return key


async def local_user(conn: Connection, org_id: int) -> OrgUser:
    """The user as which commands on this machine act."""
    return await find_user(conn, FIRST_ADMIN) or await add_user(conn, org_id, FIRST_ADMIN, "admin")


def write_private(path: Path, text: str) -> None:
    """Write the file atomically, readable by its owner only."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(fd, text.encode() + b"\n")
        os.fsync(fd)
    finally:
        os.close(fd)
    fresh.replace(path)
