"""Create, change, rotate and delete feeds."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from penstock.app.owned import audit_owned, is_creator_or_admin, require_change
from penstock.engine.runtime import Runtime
from penstock.model.errors import NotThere, PermanentError
from penstock.model.feeds import FeedSettings
from penstock.model.ids import new_id
from penstock.model.text.redaction import register_secret
from penstock.store.accounts.audit_log import Caller
from penstock.store.database import Connection, Transaction
from penstock.store.feeds import feeds as store
from penstock.store.feeds.feeds import FeedRow

MOST_FEEDS = 50


@dataclass(frozen=True, slots=True)
class FeedOrder:
    name: str
    enabled: bool
    settings: FeedSettings


def no_such_feed() -> NotThere:
    """The same for an id that is unknown, another org's, or no id at all."""
    return NotThere("NOT_FOUND", "There is no such feed.")


def hash_secret(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def new_secret() -> str:
    """192 random bits."""
    secret = secrets.token_hex(24)
    register_secret(secret)
    return secret


async def get_feed(conn: Connection, feed_id: UUID) -> FeedRow:
    found = await store.get(conn, feed_id)
    if found is None:
        raise no_such_feed()
    return found


async def create(
    conn: Connection, caller: Caller, order: FeedOrder, org_id: int
) -> tuple[FeedRow, str]:
    """The feed and its secret, which is not shown again."""
    if len(await store.list_feeds(conn, org_id, MOST_FEEDS)) >= MOST_FEEDS:
        raise PermanentError(
            "INVALID_STATE", f"An org has at most {MOST_FEEDS} feeds. Delete one first."
        )
    feed_id, secret = new_id(), new_secret()
    if not await store.add(
        conn, feed_id, org_id, caller.who.user_id, order.name, hash_secret(secret), order.settings,
        order.enabled,
    ):  # fmt: skip
        raise _name_taken(order.name)
    made = await get_feed(conn, feed_id)
    await audit_owned(conn, caller, "feed", made, "create", after=_audit_values(made))
    return made, secret


async def change(conn: Connection, caller: Caller, feed_id: UUID, order: FeedOrder) -> FeedRow:
    before = await _get_changeable(conn, caller, feed_id)
    if await store.name_taken(conn, before.org_id, order.name, feed_id):
        raise _name_taken(order.name)
    await store.change(conn, feed_id, order.name, order.settings, order.enabled)
    after = await get_feed(conn, feed_id)
    await audit_owned(
        conn,
        caller,
        "feed",
        after,
        "change",
        before=_audit_values(before),
        after=_audit_values(after),
    )
    return after


async def rotate(conn: Connection, caller: Caller, feed_id: UUID) -> tuple[FeedRow, str]:
    """Replace the secret. The old address is no longer valid."""
    found = await _get_changeable(conn, caller, feed_id)
    secret = new_secret()
    await store.rotate(conn, feed_id, hash_secret(secret))
    await audit_owned(conn, caller, "feed", found, "rotate")
    return await get_feed(conn, feed_id), secret


async def delete(runtime: Runtime, transaction: Transaction, caller: Caller, feed_id: UUID) -> None:
    async with transaction() as conn:
        found = await _get_changeable(conn, caller, feed_id)
        if not await store.delete(conn, found):
            raise no_such_feed()
        await audit_owned(conn, caller, "feed", found, "delete", before=_audit_values(found))
    async with runtime.db.transaction() as conn:
        await store.release_files(conn, found)


async def _get_changeable(conn: Connection, caller: Caller, feed_id: UUID) -> FeedRow:
    found = await get_feed(conn, feed_id)
    require_change(is_creator_or_admin(caller, found), "feed")
    return found


def _name_taken(name: str) -> PermanentError:
    return PermanentError("INVALID_STATE", f"There is a feed named {name!r} already.")


def _audit_values(row: FeedRow) -> dict[str, Any]:
    return {"name": row.name, "enabled": row.enabled, "source": row.settings.source}
