"""Save and delete research requests of an org."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.model.errors import BadInput, NotThere
from penstock.store.accounts.audit_log import Caller, audit
from penstock.store.database import Connection
from penstock.store.research import queries
from penstock.store.research.queries import MAX_SAVED


async def save(conn: Connection, caller: Caller, name: str, request: Mapping[str, Any]) -> None:
    who = caller.who
    if not await queries.save_query(conn, who.org_id, name, request, who.user_id):
        raise BadInput(
            "INVALID_PARAMETERS", f"Your org has saved {MAX_SAVED} queries. Delete one first.",
            limit=MAX_SAVED,
        )  # fmt: skip
    await _audit(conn, caller, "research.query_saved", name)


async def delete(conn: Connection, caller: Caller, name: str) -> None:
    if not await queries.delete_query(conn, caller.who.org_id, name):
        raise NotThere("NOT_FOUND", "There is no saved query of this name.")
    await _audit(conn, caller, "research.query_deleted", name)


async def _audit(conn: Connection, caller: Caller, action: str, name: str) -> None:
    who = caller.who
    await audit(conn, who.org_id, who.user_id, action, f"query:{name}", ip=caller.ip)
