"""`Idempotency-Key`: the same request twice is done once, and answered the same to the byte."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2
import pytest
from tests.api.conftest import CSV, Caller, file_of, refused, submit_noop
from tests.api.test_files import rows_of
from tests.fixtures import Bench

from penstock.engine.idempotency import digest_of
from penstock.store.database import Database

KEY = {"Idempotency-Key": "k-1"}


def same(first: httpx2.Response, second: httpx2.Response) -> None:
    assert (first.status_code, first.content) == (second.status_code, second.content)
    for name in ("content-type", "location"):
        assert first.headers.get(name) == second.headers.get(name)
    assert "idempotency-replayed" not in first.headers
    assert second.headers["idempotency-replayed"] == "true"


async def test_files(client: httpx2.AsyncClient, caller: Caller, db: Database) -> None:
    first = await client.post("/api/files", files=file_of(), headers=KEY)
    same(first, await client.post("/api/files", files=file_of(), headers=KEY))
    assert await rows_of(db, "files") == 1
    for other in (file_of(CSV + b"3,Saw,1\n"), file_of(name="other.csv")):
        answer = await client.post("/api/files", files=other, headers=KEY)
        refused(answer, 422, "IDEMPOTENCY_MISMATCH")
    stranger = await caller("other")
    assert (await stranger.post("/api/files", files=file_of(), headers=KEY)).status_code == 201
    bad = await client.post("/api/files", files=file_of(), headers={"Idempotency-Key": "x" * 256})
    refused(bad, 400, "INVALID_IDEMPOTENCY_KEY")


async def test_a_key_of_one_call_is_none_of_another(client: httpx2.AsyncClient) -> None:
    await client.post("/api/files", files=file_of(), headers=KEY)
    answer = await client.post("/api/jobs", json={"pipeline": "noop"}, headers=KEY)
    refused(answer, 422, "IDEMPOTENCY_MISMATCH")


async def test_operations(client: httpx2.AsyncClient, db: Database) -> None:
    await submit_noop(client)
    order: dict[str, Any] = {"action": "pause", "filter": {"all": True}}
    first = await client.post("/api/bulk", json=order, headers=KEY)
    assert first.status_code == 202
    same(first, await client.post("/api/bulk", json=order, headers=KEY))
    assert await rows_of(db, "bulk_operations") == 1
    order["action"] = "resume"
    answer = await client.post("/api/bulk", json=order, headers=KEY)
    refused(answer, 422, "IDEMPOTENCY_MISMATCH")


async def test_many_at_once_make_one(client: httpx2.AsyncClient, db: Database) -> None:
    answers = await asyncio.gather(
        *(client.post("/api/files", files=file_of(), headers=KEY) for _ in range(20))
    )
    made = [one for one in answers if one.status_code == 201]
    assert len({one.content for one in made}) == 1
    for one in answers:
        if one.status_code != 201:
            refused(one, 409, "IDEMPOTENCY_CONFLICT")
    assert await rows_of(db, "files") == 1


async def test_dead_letters(client: httpx2.AsyncClient, bench: Bench, db: Database) -> None:
    config = {"mapping": {"Preis": "price"}}
    made = await client.post("/api/files", files=file_of())
    order = {"fileId": made.json()["id"], "config": config}
    assert (await client.post("/api/jobs", json=order)).status_code == 202
    await bench.work()
    (letter,) = (await client.get("/api/dead-letters")).json()["items"]
    path = f"/api/dead-letters/{letter['id']}/reprocess"
    first = await client.post(path, headers=KEY)
    assert first.status_code == 202
    same(first, await client.post(path, headers=KEY))
    refused(await client.post(path), 409, "INVALID_STATE")
    assert await rows_of(db, "jobs") == 2


@pytest.mark.parametrize(
    ("path", "order", "other", "secret"),
    [
        ("/api/keys", {"name": "nightly"}, {"name": "daily"}, "key"),
        ("/api/users", {"email": "new@acme"}, {"email": "newer@acme"}, "password"),
        # A password that was given is not answered, but makes another request.
        (
            "/api/users",
            {"email": "new@acme", "password": "correct horse battery"},
            {"email": "new@acme", "password": "another horse battery"},
            None,
        ),
        ("/api/webhooks", {"url": "https://a.example/"}, {"url": "https://b.example/"}, "secret"),
        ("/api/orgs", {"name": "new"}, {"name": "newer"}, None),
    ],
    ids=["keys", "users", "users with a password", "webhooks", "orgs"],
)
async def test_secrets_are_shown_again_to_whoever_has_the_key_alone(
    caller: Caller,
    db: Database,
    path: str,
    order: dict[str, Any],
    other: dict[str, Any],
    secret: str | None,
) -> None:
    admin = await caller(role="admin")
    first = await admin.post(path, json=order, headers=KEY)
    assert first.status_code == 201, first.text
    same(first, await admin.post(path, json=order, headers=KEY))
    refused(await admin.post(path, json=other, headers=KEY), 422, "IDEMPOTENCY_MISMATCH")
    async with db.acquire() as conn:
        kept = await conn.fetchrow("SELECT * FROM idempotency_keys")
    assert kept is not None
    assert secret is None or first.json()[secret] not in str(dict(kept))
    # Nor is there a hash by which a password could be guessed.
    guess = digest_of(["user", "new@acme", "member", "acme", True, order.get("password")])
    assert kept["request_hash"] != guess
    # The sealed answer opens under this key of this user only.
    if secret is not None:
        async with db.transaction() as conn:
            await conn.execute("UPDATE idempotency_keys SET key = 'k-2'")
        moved = await admin.post(path, json=order, headers={"Idempotency-Key": "k-2"})
        refused(moved, 503, "SECRET_KEY_MISSING")


async def test_without_a_key_two_are_two(caller: Caller, db: Database) -> None:
    admin = await caller(role="admin")
    keys = [(await admin.post("/api/keys", json={"name": "n"})).json()["key"] for _ in range(2)]
    assert keys[0] != keys[1]
    assert await rows_of(db, "idempotency_keys") == 0
