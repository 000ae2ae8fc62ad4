"""What `penstock webhooks` does on the database, in the name of the local admin."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from penstock.api.webhooks.schemas import delivery_shape, full_delivery, webhook_shape
from penstock.cli.errors import NOT_FOUND, CliError
from penstock.cli.local_session import local_admin, opened, opened_engine, quiet_logs
from penstock.engine.runtime import Runtime
from penstock.model.ticket import Ticket
from penstock.settings import Settings
from penstock.store import webhooks as store
from penstock.store.accounts import accounts
from penstock.store.accounts.accounts import Principal
from penstock.store.database import Connection, from_json
from penstock.webhooks import endpoints
from penstock.webhooks.endpoints import Wanted

_MOST_LISTED = 1000


@dataclass(frozen=True)
class _Acting:
    runtime: Runtime
    conn: Connection
    who: Principal

    async def audit(self, row: Any, verb: str, after: Any = None) -> None:
        await accounts.audit(
            self.conn, row["org_id"], self.who.user_id, f"webhook.{verb}", f"webhook:{row['id']}",
            after=after,
        )  # fmt: skip


@asynccontextmanager
async def _engine() -> AsyncIterator[Runtime]:
    quiet_logs()
    async with opened_engine(Settings(), "webhooks", listens=False) as runtime:
        yield runtime


@asynccontextmanager
async def _acting(runtime: Runtime) -> AsyncIterator[_Acting]:
    async with runtime.db.transaction() as conn:
        yield _Acting(runtime, conn, await local_admin(conn))


@asynccontextmanager
async def _reading() -> AsyncIterator[Connection]:
    quiet_logs()
    async with opened(Settings()) as session, session.db.acquire() as conn:
        yield conn


async def listed(org: str) -> list[dict[str, Any]]:
    async with _reading() as conn:
        org_id = (await accounts.find_org(conn, org))["id"]
        rows = await store.list_endpoints(conn, None, _MOST_LISTED, org_id)
    return [webhook_shape(row) for row in rows]


async def found(webhook_id: UUID) -> dict[str, Any]:
    async with _reading() as conn:
        return webhook_shape(await _load(conn, webhook_id))


async def create(org: str, url: str, events: list[str] | None, description: str) -> dict[str, Any]:
    async with _engine() as runtime:
        wanted = await endpoints.checked(runtime, Wanted(url, description, events or None))
        async with _acting(runtime) as act:
            org_id = (await accounts.find_org(act.conn, org))["id"]
            made = await endpoints.create(runtime, act.conn, org_id, act.who.user_id, wanted)
            row = await _load(act.conn, made.id)
            await act.audit(row, "create", {"url": row["url"], "events": list(row["events"])})
    return webhook_shape(row) | {"secret": made.secret}


async def change(
    webhook_id: UUID, url: str | None, events: list[str] | None, description: str | None,
    enabled: bool | None,
) -> dict[str, Any]:  # fmt: skip
    async with _engine() as runtime:
        wanted = await endpoints.checked(runtime, Wanted(url, description, events or None, enabled))
        async with _acting(runtime) as act:
            await _load(act.conn, webhook_id)
            await endpoints.change(act.conn, webhook_id, wanted)
            row = await _load(act.conn, webhook_id)
            shape = webhook_shape(row)
            after = {name: shape[name] for name in ("url", "description", "events", "enabled")}
            await act.audit(row, "change", after)
    return shape


async def delete(webhook_id: UUID) -> None:
    async with _engine() as runtime, _acting(runtime) as act:
        row = await _load(act.conn, webhook_id)
        await store.delete_endpoint(act.conn, webhook_id)
        await act.audit(row, "delete")


async def rotate(webhook_id: UUID, overlap_hours: float) -> dict[str, Any]:
    async with _engine() as runtime, _acting(runtime) as act:
        await _load(act.conn, webhook_id)
        made = await endpoints.rotate(runtime, act.conn, webhook_id, overlap_hours)
        if made is None:
            raise _missing(webhook_id)
        row = await _load(act.conn, webhook_id)
        await act.audit(row, "rotate", {"overlapHours": overlap_hours})
    return webhook_shape(row) | {"secret": made.secret}


async def test(webhook_id: UUID) -> UUID:
    async with _engine() as runtime, _acting(runtime) as act:
        row = await _load(act.conn, webhook_id)
        delivery_id = await endpoints.ask_test(act.conn, row)
        await act.audit(row, "test", {"deliveryId": str(delivery_id)})
    return delivery_id


async def deliveries(webhook_id: UUID, limit: int) -> list[dict[str, Any]]:
    async with _reading() as conn:
        await _load(conn, webhook_id)
        rows = await store.list_deliveries(conn, webhook_id, None, None, limit)
    return [delivery_shape(row) for row in rows]


async def delivery(delivery_id: UUID) -> dict[str, Any]:
    async with _reading() as conn:
        row = await _load_delivery(conn, delivery_id)
    return full_delivery(row) | {"attempts": from_json(row["attempts"])}


async def redeliver(delivery_id: UUID) -> UUID:
    async with _engine() as runtime:
        async with _acting(runtime) as act:
            row = await _load_delivery(act.conn, delivery_id)
            lane = await endpoints.redeliver(runtime, act.conn, row, act.who.user_id)
            endpoint = {"org_id": row["org_id"], "id": row["endpoint_id"]}
            await act.audit(endpoint, "redeliver", {"deliveryId": str(delivery_id)})
        await runtime.broker.send(Ticket(lane))
    return delivery_id


async def _load(conn: Connection, webhook_id: UUID) -> Any:
    row = await store.get_endpoint(conn, webhook_id)
    if row is None:
        raise _missing(webhook_id)
    return row


async def _load_delivery(conn: Connection, delivery_id: UUID) -> Any:
    row = await store.get_delivery(conn, delivery_id)
    if row is None:
        raise CliError(NOT_FOUND, f"There is no delivery {delivery_id}.")
    return row


def _missing(webhook_id: UUID) -> CliError:
    return CliError(NOT_FOUND, f"There is no webhook {webhook_id}.")
