"""Webhooks of requests: signed with the org's secret, retried and logged like other deliveries."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest
from standardwebhooks import Webhook, WebhookVerificationError
from tests.fixtures import Bench
from tests.research.support import Researcher

from penstock.app.research.requests import request_secret
from penstock.providers.sandbox.http import HttpServer, Request, Response
from penstock.store.accounts.audit_log import Caller
from penstock.webhooks.outbox import Outbox


@dataclass
class Receiver:
    """A server that notes what it is sent, and answers with the given statuses, then with 200."""

    statuses: list[int] = field(default_factory=list)
    got: list[Request] = field(default_factory=list)
    url: str = ""

    async def answer(self, request: Request) -> Response:
        self.got.append(request)
        return Response(self.statuses.pop(0) if self.statuses else 200)


@asynccontextmanager
async def receiving(*statuses: int) -> AsyncIterator[Receiver]:
    receiver = Receiver(list(statuses))
    server = HttpServer(receiver.answer)
    port = await server.start(0)
    receiver.url = f"http://127.0.0.1:{port}/hook"
    try:
        yield receiver
    finally:
        await server.close()


async def secret_of(bench: Bench) -> str:
    async with bench.runtime.db.transaction() as conn:
        return await request_secret(bench.runtime, conn, Caller(bench.who, None), rotate=False)


async def deliver(research: Researcher) -> None:
    """Run the outbox, then the deliveries that it made, with all due times moved to now."""
    for _ in range(200):
        # Events are read once no older transaction runs on the server, such as one of autovacuum.
        await Outbox(research.bench.runtime).run_once()
        await research.bench.work()
        async with research.bench.runtime.db.transaction() as conn:
            await conn.execute("UPDATE job_items SET due_at = now() WHERE due_at IS NOT NULL")
            await conn.execute("UPDATE job_stages SET ready_at = now() WHERE pending > 0")
            await conn.execute("UPDATE jobs SET ready_at = now() WHERE state = 'running'")
            waiting = await conn.fetchval(
                "SELECT count(*) FROM webhook_deliveries WHERE state IN ('waiting', 'pending')"
            )
            # The jobs with a webhook, each of which sends one message in the end.
            unsent = await conn.fetchval(
                "SELECT count(*) FROM research_requests r WHERE r.endpoint_id IS NOT NULL AND NOT"
                " EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.about_job = r.job_id)"
            )
        if not waiting and not unsent:
            return
        await asyncio.sleep(0.05)


def verified(secret: str, request: Request) -> dict[str, Any]:
    found: dict[str, Any] = Webhook(secret).verify(request.body, dict(request.headers))
    return found


async def test_the_public_library_verifies_the_signature(
    research: Researcher, bench: Bench
) -> None:
    await research.add_sources("json")
    async with receiving() as receiver:
        job = await research.run("Mug", requestId="req-7", webhookUrl=receiver.url)
        await deliver(research)
    assert len(receiver.got) == 1
    told = verified(await secret_of(bench), receiver.got[0])
    assert (told["type"], told["jobId"], told["requestId"]) == ("job.completed", str(job), "req-7")
    with pytest.raises(WebhookVerificationError):
        verified("whsec_" + "A" * 44, receiver.got[0])


async def test_failures_are_retried_under_one_id_and_become_a_dead_letter(
    research: Researcher, bench: Bench
) -> None:
    await research.add_sources("json")
    async with receiving(500, 503) as receiver:
        await research.run("Mug", webhookUrl=receiver.url)
        await deliver(research)
        assert len(receiver.got) == 3
        assert len({one.headers["webhook-id"] for one in receiver.got}) == 1
    async with receiving(*[500] * 10) as receiver:
        await research.run("Lamp", webhookUrl=receiver.url)
        await deliver(research)
    async with bench.runtime.db.acquire() as conn:
        states = [row["state"] for row in await conn.fetch(
            "SELECT state FROM webhook_deliveries ORDER BY id")]  # fmt: skip
        letters = await conn.fetchval("SELECT count(*) FROM dead_letters")
        endpoints = await conn.fetch("SELECT for_requests, url FROM webhook_endpoints")
    assert states == ["delivered", "failed"]
    assert letters == 1
    assert [row["for_requests"] for row in endpoints] == [True, True]


async def test_one_request_does_not_hear_of_another(research: Researcher) -> None:
    await research.add_sources("json")
    async with receiving() as one, receiving() as other:
        await research.run("Mug", requestId="a", webhookUrl=one.url)
        await research.run("Lamp", requestId="b", webhookUrl=other.url)
        await research.run("Chair", requestId="c")
        await deliver(research)
    assert [orjson.loads(got.body)["requestId"] for got in one.got] == ["a"]
    assert [orjson.loads(got.body)["requestId"] for got in other.got] == ["b"]


async def test_webhook_dispatch(research: Researcher, bench: Bench) -> None:
    async with receiving() as receiver:
        body = {"webhookId": "w-1", "url": receiver.url, "event": "order.created",
                "data": {"n": 1}, "signature": "abc"}  # fmt: skip
        job = await bench.submit("webhook-dispatch", body)
        await research.work(job)
    assert (await bench.job(job))["done"] == 1
    [got] = receiver.got
    assert got.headers["x-signature"] == "abc"
    told = verified(await secret_of(bench), got)
    assert (told["event"], told["webhookId"], told["data"]) == ("order.created", "w-1", {"n": 1})
    refused = await bench.submit("webhook-dispatch", {**body, "url": "http://169.254.169.254/"})
    await research.work(refused)
    assert (await bench.job(refused))["error"] == 1
