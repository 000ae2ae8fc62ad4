"""The first person who can sign in."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.accounts.bootstrap import FIRST_ORG
from penstock.accounts.passwords import generate_password, hash_password, require_good
from penstock.settings import Settings
from penstock.store.accounts import accounts, sessions, users
from penstock.store.accounts.audit_log import audit
from penstock.store.database import Connection


@dataclass(frozen=True, slots=True)
class FirstAdmin:
    email: str
    # Unset where it was configured, and so is known.
    password: str | None


async def ensure_admin_can_sign_in(
    conn: Connection, settings: Settings, *, shown: bool
) -> FirstAdmin | None:
    """As long as no admin has a password, the configured one gets one; a new one is made only
    where it will be ``shown``."""
    if await sessions.some_admin_can_sign_in(conn):
        return None
    configured = settings.first_password
    if configured is None and not shown:
        return None
    password = configured or generate_password()
    require_good(password, settings.admin_email)
    hashed = await hash_password(password)
    async with conn.transaction():
        await users.lock_admins(conn)
        if await sessions.some_admin_can_sign_in(conn):
            return None
        org = await accounts.ensure_org(conn, FIRST_ORG)
        user = await accounts.ensure_user(conn, org.id, settings.admin_email, "admin")
        await sessions.set_password(conn, user.id, org.id, hashed)
        await audit(conn, org.id, user.id, "user.reset_password", f"user:{user.id}")
    return FirstAdmin(user.email, None if configured else password)
