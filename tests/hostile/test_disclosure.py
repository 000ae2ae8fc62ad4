"""What callers learn that they need not know."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from tests.api.conftest import Caller, client_of

from penstock.settings import Settings

SECRET = "canary-secret"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"webhook_allow": "127.0.0.1/32"})


async def made_webhook(client: httpx2.AsyncClient) -> Any:
    url = f"http://127.0.0.1:9/{SECRET}/x?token={SECRET}"
    answer = await client.post("/api/webhooks", json={"url": url})
    assert answer.status_code == 201, answer.text
    return answer.json()


async def test_only_those_who_may_change_a_webhook_see_its_url(caller: Caller) -> None:
    owner, admin = await caller(), await caller("house", role="admin")
    viewer, colleague = await caller(role="viewer"), await caller(email="other@acme")
    made = await made_webhook(owner)
    await owner.post(f"/api/webhooks/{made['id']}/test")
    paths = ["/api/webhooks", f"/api/webhooks/{made['id']}"]
    for who in (viewer, colleague):
        for path in paths:
            answer = await who.get(path)
            assert answer.status_code == 200
            assert SECRET not in answer.text
            assert "http://127.0.0.1:9/" in answer.text
    for who in (owner, admin):
        for path in paths:
            assert SECRET in (await who.get(path)).text
    log = f"/api/webhooks/{made['id']}/deliveries"
    for one in (await viewer.get(log)).json()["items"]:
        shown = await viewer.get(f"/api/webhooks/deliveries/{one['id']}")
        assert shown.status_code == 200
        assert SECRET not in shown.text


async def test_strangers_learn_the_status_alone(app: FastAPI, caller: Caller) -> None:
    viewer = await caller(role="viewer")
    async with client_of(app, None) as nobody:
        assert (await nobody.get("/health")).json() == {"status": "degraded"}
        told = (await nobody.get("/health/queue")).json()
        assert told == {"status": "healthy", "level": "healthy"}
        assert "version" not in (await nobody.get("/")).json()
    known = (await viewer.get("/health/queue")).json()
    assert {"depth", "waiting", "active", "delayed", "workers", "deadLetters"} < set(known)
    assert {"status", "paused", "metrics", "timestamp"} < set(known)
    members = {"waiting", "active", "completed", "failed", "delayed", "total"}
    assert set(known["metrics"]) == members
    async with client_of(app, "pk_wrong") as wrong:
        assert (await wrong.get("/health")).json() == {"status": "degraded"}
