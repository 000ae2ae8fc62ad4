"""Save and delete profiles of suppliers' files, and import exchange rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.model.errors import NotThere
from penstock.store.accounts.audit_log import Caller, audit
from penstock.store.catalog import profiles
from penstock.store.catalog.profiles import Rate
from penstock.store.database import Connection


def no_such_profile() -> NotThere:
    return NotThere("NOT_FOUND", "There is no such profile.")


async def save_profile(
    conn: Connection, caller: Caller, org_id: int, name: str, body: Mapping[str, Any]
) -> int:
    """Save a new version under this name and return its number."""
    before = await profiles.get(conn, org_id, name)
    version = await profiles.save(conn, org_id, caller.who.user_id, name, body)
    await audit(
        conn, org_id, caller.who.user_id, "profile.save", f"profile:{name}", ip=caller.ip,
        before=None if before is None else {"version": before["version"]},
        after={"version": version},
    )  # fmt: skip
    return version


async def delete_profile(conn: Connection, caller: Caller, org_id: int, name: str) -> None:
    if not await profiles.delete(conn, org_id, name):
        raise no_such_profile()
    await audit(conn, org_id, caller.who.user_id, "profile.delete", f"profile:{name}", ip=caller.ip)


async def import_rates(conn: Connection, caller: Caller, base: str, rates: Sequence[Rate]) -> None:
    """Store what currencies were worth in ``base``; a day that is known is replaced."""
    await profiles.set_rates(conn, base, rates)
    await audit(
        conn, None, caller.who.user_id, "rates.import", f"rates:{base}", ip=caller.ip,
        after={"rates": len(rates)},
    )  # fmt: skip
