"""Webhooks over HTTP: made, changed, tested, looked at, and whose they are."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest
from tests.api.conftest import Caller, refused, shaped, submit_noop
from tests.engine.receiving import Receiver, receiving, tell
from tests.fixtures import Bench

from penstock.api.webhooks.schemas import (
    DeliveryPage,
    DeliveryReceipt,
    FullDelivery,
    MadeWebhook,
    WebhookPage,
    WebhookShape,
)
from penstock.guards.sealing import Sealer
from penstock.settings import Settings
from penstock.store.database import Database


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"webhook_allow": "127.0.0.0/8"})


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as made:
        yield made


async def create(client: httpx2.AsyncClient, url: str, **more: Any) -> MadeWebhook:
    answer = await client.post("/api/webhooks", json={"url": url, **more})
    return shaped(MadeWebhook, answer, 201)


async def test_from_creation_to_the_log(
    client: httpx2.AsyncClient, bench: Bench, receiver: Receiver
) -> None:
    made = await create(client, receiver.url, description="ERP", events=["job.completed"])
    job_id = await submit_noop(client)
    await bench.work()
    await tell(bench.runtime)
    await bench.work()
    assert receiver.got[0].verified(made.secret)["jobId"] == job_id
    page = shaped(DeliveryPage, await client.get(f"/api/webhooks/{made.id}/deliveries"))
    [delivery] = page.items
    assert (delivery.state, delivery.tries, str(delivery.job_id)) == ("delivered", 1, job_id)
    assert delivery.message_id == receiver.got[0].id
    full = shaped(FullDelivery, await client.get(f"/api/webhooks/deliveries/{delivery.id}"))
    assert (full.attempts[0].status, full.payload["jobId"]) == (204, job_id)
    again = await client.post(f"/api/webhooks/deliveries/{delivery.id}/redeliver")
    assert shaped(DeliveryReceipt, again, 202).delivery_id == delivery.id
    await bench.work()
    assert [got.id for got in receiver.got] == [delivery.message_id] * 2


async def test_the_secret_is_shown_once(
    client: httpx2.AsyncClient, db: Database, receiver: Receiver
) -> None:
    answer = await client.post("/api/webhooks", json={"url": receiver.url})
    made = shaped(MadeWebhook, answer, 201)
    assert answer.headers["cache-control"] == "no-store"
    assert made.secret.startswith("whsec_")
    shown = shaped(WebhookShape, await client.get(f"/api/webhooks/{made.id}"))
    assert shown.events == ["job.completed", "job.failed", "job.cancelled", "job.dead_lettered"]
    rotated = await client.post(f"/api/webhooks/{made.id}/rotate", json={"overlapHours": 2})
    fresh = shaped(MadeWebhook, rotated)
    assert fresh.secret != made.secret
    assert fresh.old_secret_until is not None
    for path in ("/api/webhooks", f"/api/webhooks/{made.id}"):
        assert "whsec_" not in (await client.get(path)).text
    async with db.acquire() as conn:
        kept = await conn.fetch("SELECT to_jsonb(w)::text AS w FROM webhook_endpoints w")
        told = await conn.fetch("SELECT to_jsonb(a)::text AS a FROM audit a")
    for secret in (made.secret, fresh.secret):
        assert not any(secret.removeprefix("whsec_") in str(dict(row)) for row in (*kept, *told))


async def test_changing_and_deleting(
    client: httpx2.AsyncClient, caller: Caller, receiver: Receiver
) -> None:
    made = await create(client, receiver.url)
    change = {"events": ["job.*", "job.progress"], "enabled": False, "description": "off"}
    changed = shaped(WebhookShape, await client.patch(f"/api/webhooks/{made.id}", json=change))
    assert (changed.events, changed.enabled, changed.url) == (
        ["job.*", "job.progress"], False, receiver.url,
    )  # fmt: skip
    refused(await client.post(f"/api/webhooks/{made.id}/test"), 409, "INVALID_STATE")
    assert (await client.delete(f"/api/webhooks/{made.id}")).status_code == 204
    refused(await client.get(f"/api/webhooks/{made.id}"), 404, "NOT_FOUND")
    refused(await client.delete(f"/api/webhooks/{made.id}"), 404, "NOT_FOUND")
    assert shaped(WebhookPage, await client.get("/api/webhooks")).items == []


async def test_a_test_is_accepted_and_sent(
    client: httpx2.AsyncClient, bench: Bench, receiver: Receiver
) -> None:
    made = await create(client, receiver.url)
    asked = shaped(DeliveryReceipt, await client.post(f"/api/webhooks/{made.id}/test"), 202)
    path = f"/api/webhooks/deliveries/{asked.delivery_id}"
    assert shaped(FullDelivery, await client.get(path)).state == "waiting"
    refused(await client.post(f"{path}/redeliver"), 409, "INVALID_STATE")
    await tell(bench.runtime)
    await bench.work()
    assert shaped(FullDelivery, await client.get(path)).state == "delivered"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"url": "http://10.0.0.1/"}, "URL_NOT_ALLOWED"),
        ({"url": "http://localhost.localdomain@example.com/"}, "URL_NOT_ALLOWED"),
        ({"url": "ftp://example.com/"}, "URL_NOT_ALLOWED"),
        ({"url": "x" * 5000}, "INVALID_PARAMETERS"),
        ({}, "INVALID_PARAMETERS"),
        ({"url": "http://127.0.0.1/", "events": []}, "INVALID_PARAMETERS"),
        ({"url": "http://127.0.0.1/", "events": ["job.nonsense"]}, "INVALID_PARAMETERS"),
        ({"url": "http://127.0.0.1/", "events": ["*"] * 51}, "INVALID_PARAMETERS"),
        ({"url": "http://127.0.0.1/", "secret": "mine"}, "UNKNOWN_FIELD"),
        ({"url": "http://127.0.0.1/", "orgId": 2}, "UNKNOWN_FIELD"),
    ],
)
async def test_what_is_refused(client: httpx2.AsyncClient, body: Any, code: str) -> None:
    refused(await client.post("/api/webhooks", json=body), 422, code)


async def test_whose_they_are(caller: Caller, receiver: Receiver) -> None:
    owner = await caller("acme")
    colleague = await caller("acme", email="colleague@acme")
    viewer = await caller("acme", role="viewer")
    stranger = await caller("other")
    admin = await caller("default", role="admin")
    made = await create(owner, receiver.url)
    path = f"/api/webhooks/{made.id}"
    calls = [("PATCH", path, {"enabled": True}), ("POST", f"{path}/rotate", {}),
             ("POST", f"{path}/test", {}), ("DELETE", path, None)]  # fmt: skip
    for reader in (owner, colleague, viewer, admin):
        assert (await reader.get(path)).status_code == 200
        assert len(shaped(WebhookPage, await reader.get("/api/webhooks")).items) == 1
    unknown = f"/api/webhooks/{uuid4()}"
    for method, where, body in [("GET", path, None), ("GET", f"{path}/deliveries", None), *calls]:
        theirs = await stranger.request(method, where, json=body)
        nobodys = await stranger.request(method, where.replace(path, unknown), json=body)
        assert refused(theirs, 404, "NOT_FOUND").detail == refused(nobodys, 404, "NOT_FOUND").detail
    assert shaped(WebhookPage, await stranger.get("/api/webhooks")).items == []
    for method, where, body in calls:
        for other in (colleague, viewer):
            answer = await other.request(method, where, json=body)
            refused(answer, 403, "INSUFFICIENT_PERMISSIONS")
    refused(await viewer.post("/api/webhooks", json={"url": receiver.url}), 403,
            "INSUFFICIENT_PERMISSIONS")  # fmt: skip
    for method, where, body in calls:
        answer = await admin.request(method, where, json=body)
        assert answer.status_code in (200, 202, 204), answer.text


async def test_the_log_of_others(caller: Caller, bench: Bench, receiver: Receiver) -> None:
    owner, colleague = await caller("acme"), await caller("acme", email="colleague@acme")
    made = await create(owner, receiver.url)
    asked = (await owner.post(f"/api/webhooks/{made.id}/test")).json()["deliveryId"]
    log = f"/api/webhooks/{made.id}/deliveries"
    assert len(shaped(DeliveryPage, await owner.get(log)).items) == 1
    assert shaped(DeliveryPage, await colleague.get(log)).items == []
    stranger = await caller("other")
    for other in (colleague, stranger):
        refused(await other.get(f"/api/webhooks/deliveries/{asked}"), 404, "NOT_FOUND")
        path = f"/api/webhooks/deliveries/{asked}/redeliver"
        refused(await other.post(path), 404, "NOT_FOUND")
    refused(await owner.get("/api/webhooks/deliveries/nonsense"), 404, "NOT_FOUND")


async def test_pages_of_the_log(client: httpx2.AsyncClient, receiver: Receiver) -> None:
    made = await create(client, receiver.url)
    asked = [
        UUID((await client.post(f"/api/webhooks/{made.id}/test")).json()["deliveryId"])
        for _ in range(5)
    ]
    log, seen, after = f"/api/webhooks/{made.id}/deliveries", [], ""
    for _ in range(3):
        page = shaped(DeliveryPage, await client.get(log, params={"pageSize": 2, "after": after}))
        seen += [one.id for one in page.items]
        after = page.next or ""
    assert seen == sorted(asked, reverse=True)
    assert after == ""
    some = await client.get(log, params={"state": "delivered,failed"})
    assert shaped(DeliveryPage, some).items == []


async def test_changes_are_audited(
    client: httpx2.AsyncClient, db: Database, receiver: Receiver
) -> None:
    made = await create(client, receiver.url)
    path = f"/api/webhooks/{made.id}"
    await client.patch(path, json={"description": "x"})
    await client.post(f"{path}/rotate")
    await client.post(f"{path}/test")
    await client.delete(path)
    async with db.acquire() as conn:
        rows = await conn.fetch(
            "SELECT action FROM audit WHERE target = $1 ORDER BY id", f"webhook:{made.id}"
        )
    assert [row["action"].partition(".")[2] for row in rows] == [
        "create", "change", "rotate", "test", "delete",
    ]  # fmt: skip


async def test_without_a_key_nothing_is_sealed(
    client: httpx2.AsyncClient, bench: Bench, receiver: Receiver
) -> None:
    object.__setattr__(bench.runtime, "sealer", Sealer(lambda: None))
    problem = refused(
        await client.post("/api/webhooks", json={"url": receiver.url}), 503, "SECRET_KEY_MISSING"
    )
    assert "PENSTOCK_SECRET_KEY" in problem.detail
    assert shaped(WebhookPage, await client.get("/api/webhooks")).items == []
