"""Messages of shops: a product has changed.

Shops send a message for each product, often thousands in a minute, and the same one again. So a
message asks for one import of all changes, in the next minute: however many come, there is one job
per minute and connection.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from penstock.app.shop_imports import ShopImport, import_order
from penstock.app.shops.connections import provider_of
from penstock.engine.runtime import Runtime
from penstock.engine.submit import Order
from penstock.model.errors import BadInput, NotAllowed
from penstock.model.fairness import DEFAULT_PRIORITY
from penstock.model.shops.provider import ShopChange, ShopConnection
from penstock.store.accounts.audit_log import Caller
from penstock.store.shops import connections as store

_WINDOW = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class RequestedImport:
    """The import that a message asks for, in the name of the connection's creator."""

    caller: Caller
    order: Order


def not_signed() -> NotAllowed:
    """The same for an unknown connection, so that ids cannot be tried."""
    return NotAllowed("AUTHENTICATION_FAILED", "This message is not signed by the shop.")


async def receive(
    runtime: Runtime, connection_id: UUID, headers: Mapping[str, str], body: bytes, now: datetime
) -> RequestedImport | None:
    """Check a message; None if there is nothing to import."""
    async with runtime.db.acquire() as conn:
        shop = await store.open_connection(conn, runtime.sealer, connection_id)
        creator = await store.creator_of(conn, connection_id)
        if shop is None or creator is None:
            raise not_signed()
        change = _read(runtime, shop, headers, body)
        # An incremental list does not contain deleted products; the next full import finds them.
        if change is None or change.kind == "deleted":
            return None
        window = datetime.fromtimestamp(now.timestamp() // 60 * 60, UTC)
        asked = ShopImport(
            connection_id, False, None, "last", {}, DEFAULT_PRIORITY,
            f"Changes of {shop.name}"[:200], window + _WINDOW,
        )  # fmt: skip
        caller = Caller(creator)
        key = f"shop-webhook {connection_id} {window:%Y-%m-%dT%H:%M}"
        return RequestedImport(
            caller, await import_order(conn, caller, asked, runtime.settings, key)
        )


def _read(
    runtime: Runtime, shop: ShopConnection, headers: Mapping[str, str], body: bytes
) -> ShopChange | None:
    try:
        return provider_of(runtime, shop.provider).read_webhook(shop, headers, body)
    except (NotAllowed, BadInput) as error:
        raise not_signed() from error
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput("INVALID_JSON", "The message is not what the shop documents.") from error
