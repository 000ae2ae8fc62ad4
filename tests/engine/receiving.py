"""A receiver of webhooks on this machine, and an engine that may reach it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import Any
from uuid import UUID

import asyncpg
from standardwebhooks import Webhook
from tests.checker.polling import until
from tests.guards.servers import Seen, answering, serving

from penstock.engine.runtime import Runtime
from penstock.store.accounts.accounts import Principal
from penstock.store.accounts.audit_log import Caller
from penstock.webhooks import endpoints
from penstock.webhooks.endpoints import EndpointSecret, EndpointSettings
from penstock.webhooks.outbox import Outbox


@dataclass
class Got:
    """One request that a receiver got."""

    headers: dict[str, str]
    body: bytes
    # The status that the receiver gave.
    answered: str = ""

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    def verified(self, secret: str) -> Any:
        """What the reference library makes of it; it raises where anything is wrong."""
        return Webhook(secret).verify(self.body, self.headers)


@dataclass
class Receiver:
    """Answers with ``status``, or as ``plan`` says for one request after another."""

    seen: Seen
    status: str = "204 No Content"
    headers: str = ""
    body: bytes = b""
    plan: list[str] = field(default_factory=list)
    answered: list[str] = field(default_factory=list)
    # Cleared, it keeps senders waiting.
    lets_go: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.seen.port}/hook?team=1"

    @property
    def got(self) -> list[Got]:
        said = chain(self.answered, repeat(""))
        return [_read(raw, status) for raw, status in zip(self.seen.requests, said, strict=False)]


def _read(raw: bytes, status: str) -> Got:
    head, _, body = raw.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")[1:]
    pairs = (line.partition(": ") for line in lines)
    return Got({name.lower(): value for name, _, value in pairs}, body, status)


@asynccontextmanager
async def receiving() -> AsyncIterator[Receiver]:
    receiver: Receiver

    async def handle(request: bytes, writer: asyncio.StreamWriter) -> None:
        status = receiver.plan.pop(0) if receiver.plan else receiver.status
        # In the order in which requests came, however long each is kept waiting.
        receiver.answered.append(status)
        await receiver.lets_go.wait()
        await answering(status, receiver.headers, receiver.body)(request, writer)

    async with serving(handle) as seen:
        receiver = Receiver(seen)
        receiver.lets_go.set()
        yield receiver


async def subscribe(runtime: Runtime, who: Principal, url: str, *events: str) -> EndpointSecret:
    settings = EndpointSettings(url, events=events or None)
    checked = await endpoints.check_settings(runtime, settings)
    async with runtime.db.transaction() as conn:
        return await endpoints.create(runtime, conn, Caller(who), checked)


async def past_all(runtime: Runtime) -> None:
    """An event is told once nothing that is older can still be committed, by anyone on the server:
    tests that run beside this one keep transactions open."""

    async def passed() -> bool:
        async with runtime.db.acquire() as conn:
            return bool(
                await conn.fetchval(
                    "SELECT NOT EXISTS (SELECT FROM events "
                    "WHERE xid >= pg_snapshot_xmin(pg_current_snapshot()))"
                )
            )

    await until(passed, "older transactions to end", timeout=60)


async def tell(runtime: Runtime) -> int:
    """What the leader does, once."""
    await past_all(runtime)
    return await Outbox(runtime).run_once()


async def deliveries(runtime: Runtime, endpoint_id: UUID) -> list[Any]:
    async with runtime.db.acquire() as conn:
        return await conn.fetch(
            "SELECT * FROM webhook_deliveries WHERE endpoint_id = $1 ORDER BY id", endpoint_id
        )


async def streams(runtime: Runtime) -> list[Any]:
    async with runtime.db.acquire() as conn:
        return await conn.fetch(
            "SELECT * FROM jobs WHERE pipeline = 'webhooks' ORDER BY created_at, id"
        )


async def all_due(runtime: Runtime) -> list[float]:
    """Time passes until every retry is due; answers how long each would have waited, in seconds."""
    while True:
        try:
            return await _all_due(runtime)
        except asyncpg.DeadlockDetectedError:
            # Workers lock in their order; who changes everything at once has none.
            await asyncio.sleep(0.05)


async def _all_due(runtime: Runtime) -> list[float]:
    async with runtime.db.transaction() as conn:
        waits = await conn.fetch(
            "UPDATE job_items i SET due_at = now()"
            " FROM (SELECT job_id, row_no, due_at FROM job_items) AS b"
            " WHERE b.job_id = i.job_id AND b.row_no = i.row_no AND i.status = 'PENDING'"
            " AND i.due_at IS NOT NULL"
            " RETURNING extract(epoch FROM b.due_at - i.updated_at)::float8 AS wait"
        )
        await conn.execute("UPDATE job_stages SET ready_at = now() WHERE pending > 0")
        await conn.execute("UPDATE jobs SET ready_at = now() WHERE pending > 0")
    return [row["wait"] for row in waits]
