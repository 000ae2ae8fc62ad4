"""Import products of a connected shop: checks, and the job that is submitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from penstock.engine.submit import Order
from penstock.model.errors import NotThere
from penstock.settings import Settings
from penstock.store.accounts.audit_log import Caller
from penstock.store.database import Connection
from penstock.store.shops import connections

PIPELINE = "shop_import"


@dataclass(frozen=True, slots=True)
class ShopImport:
    """What a caller asks for: all products, some by id, or those that changed since a time."""

    connection_id: UUID
    all: bool
    product_ids: Sequence[str] | None
    since: datetime | Literal["last"] | None
    config: Mapping[str, Any]
    priority: int
    name: str = ""
    due_at: datetime | None = None


async def import_order(
    conn: Connection, caller: Caller, asked: ShopImport, settings: Settings, key: str | None
) -> Order:
    """The job of an import. The connection must be one of the caller's own org."""
    found = await connections.get_connection(conn, asked.connection_id)
    if found is None or found.org_id != caller.who.org_id:
        raise NotThere("NOT_FOUND", "There is no such connection.")
    config: dict[str, Any] = {"thumbnails": list(settings.thumbnail_boxes), **asked.config}
    config |= {"connectionId": str(found.id), "provider": found.provider}
    if asked.all:
        config["all"] = True
    if asked.product_ids is not None:
        config["productIds"] = list(asked.product_ids)
    if asked.since is not None:
        since = asked.since
        config["since"] = since if isinstance(since, str) else since.isoformat()
    return Order(
        pipeline=PIPELINE, config=config, priority=asked.priority,
        name=asked.name or f"Import from {found.name}"[:200], due_at=asked.due_at, ip=caller.ip,
        idempotency_key=key,
    )  # fmt: skip
