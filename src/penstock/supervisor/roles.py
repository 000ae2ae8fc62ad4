"""The roles and the database of the embedded server. Every step only repairs what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from penstock.supervisor.credentials import (
    API,
    DATABASE,
    OWNER,
    scram_verifier,
    verifier_matches,
)

if TYPE_CHECKING:
    import asyncpg

    Connection = asyncpg.Connection[asyncpg.Record]

ADMIN = "penstock_admin"

# role → (may log in, may create roles); only the bootstrap user is a superuser.
_ROLES = {OWNER: (True, True), API: (True, False), ADMIN: (False, False)}

# (granted role, to, admin option); SET without INHERIT, so that a role is taken knowingly.
_GRANTS = ((API, OWNER, True), (ADMIN, OWNER, True), (ADMIN, API, False))


async def ensure_roles(connection: Connection, passwords: Mapping[str, str]) -> None:
    """The database is created last, so that every client that can connect finds all roles."""
    found = {
        row["rolname"]: row
        for row in await connection.fetch(
            "SELECT rolname, rolcanlogin, rolcreaterole, rolpassword,"
            " rolsuper OR rolbypassrls OR rolreplication OR rolcreatedb AS too_strong"
            " FROM pg_authid WHERE rolname = ANY($1::text[])",
            list(_ROLES),
        )
    }
    for role, wanted in _ROLES.items():
        row = found.get(role)
        if row is None:
            await connection.execute(f"CREATE ROLE {role} {_attributes(*wanted)}")
        elif row["too_strong"] or (row["rolcanlogin"], row["rolcreaterole"]) != wanted:
            await connection.execute(f"ALTER ROLE {role} {_attributes(*wanted)}")
        password = passwords.get(role)
        if password and not verifier_matches(password, row["rolpassword"] if row else None):
            await connection.execute(f"ALTER ROLE {role} PASSWORD '{scram_verifier(password)}'")
    await _ensure_grants(connection)
    await _ensure_database(connection)


def _attributes(login: bool, create_role: bool) -> str:
    return (
        f"{'LOGIN' if login else 'NOLOGIN'} {'CREATEROLE' if create_role else 'NOCREATEROLE'}"
        " NOSUPERUSER NOCREATEDB NOREPLICATION NOBYPASSRLS"
    )


async def _ensure_grants(connection: Connection) -> None:
    present = {
        (row["granted"], row["member"], row["admin_option"])
        for row in await connection.fetch(
            "SELECT roleid::regrole::text AS granted, member::regrole::text AS member,"
            " admin_option FROM pg_auth_members WHERE set_option AND NOT inherit_option"
        )
    }
    for granted, member, admin in _GRANTS:
        if (granted, member, admin) not in present:
            await connection.execute(
                f"GRANT {granted} TO {member} WITH INHERIT FALSE, SET TRUE, ADMIN {admin}"
            )


async def _ensure_database(connection: Connection) -> None:
    owner = await connection.fetchval(
        "SELECT datdba::regrole::text FROM pg_database WHERE datname = $1", DATABASE
    )
    if owner is None:
        await connection.execute(f"CREATE DATABASE {DATABASE} OWNER {OWNER}")
    elif owner != OWNER:
        await connection.execute(f"ALTER DATABASE {DATABASE} OWNER TO {OWNER}")
