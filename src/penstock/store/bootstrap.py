"""The first admin, whose key is kept in a file that only its owner can read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from penstock.store.accounts.accounts import (
    add_user,
    create_key,
    ensure_org,
    find_user,
    principal_of,
)
from penstock.store.database import Connection

FIRST_ORG = "default"
FIRST_ADMIN = "admin@localhost"


async def bootstrap(conn: Connection, key_file: Path) -> str | None:
    """Make sure the key in the file is an admin's; answers the key if it is new."""
    async with conn.transaction():
        await one_at_a_time(conn)
        if key_file.exists():
            known = await principal_of(conn, key_file.read_text("utf-8").strip())
            if known is not None and known.role == "admin":
                return None
        org = await ensure_org(conn, FIRST_ORG)
        user = await local_user(conn, org["id"])
        if user["role"] != "admin" or user["disabled_at"] is not None:
            # The first admin was disabled on purpose: then it gets no key.
            return None
        key = await create_key(conn, org["id"], user["id"], "first admin key")
        write_private(key_file, key)
    return key


async def local_user(conn: Connection, org_id: int) -> Any:
    """The user that commands on this machine act as."""
    return await find_user(conn, FIRST_ADMIN) or await add_user(conn, org_id, FIRST_ADMIN, "admin")


async def one_at_a_time(conn: Connection) -> None:
    """Wait for another process that is creating the first admin."""
    await conn.execute("SELECT pg_advisory_xact_lock(hashtextextended('penstock.bootstrap', 0))")


def write_private(path: Path, text: str) -> None:
    """Write the file atomically, with its mode from the start."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.write(fd, text.encode() + b"\n")
        os.fsync(fd)
    finally:
        os.close(fd)
    fresh.replace(path)
