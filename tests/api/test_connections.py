"""Connections: what is stored, shown, tested and browsed, against a sandbox."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from uuid import UUID

import httpx2
import pytest
from fastapi import FastAPI
from pydantic import SecretStr
from tests.api.conftest import Caller, client_of, refused, shaped
from tests.providers.sandboxes import serving_sandbox

from penstock.api.shops.schemas import (
    ConnectionPage,
    ConnectionShape,
    ConnectionTestShape,
    DeletedConnection,
    ProviderKinds,
    ShopProductPage,
)
from penstock.providers.sandbox.faults import FaultPlan
from penstock.providers.sandbox.server import Sandbox
from penstock.providers.sandbox.shopify import CLIENT_ID, CLIENT_SECRET
from penstock.settings import Settings
from penstock.store.database import Database

PROVIDERS = ("shopify", "woocommerce", "roastify")
PAGE = "https://penstock.example/connections/install"


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with serving_sandbox(products=45, seed=9) as made:
        yield made


@pytest.fixture
def settings(settings: Settings, sandbox: Sandbox) -> Settings:
    return settings.model_copy(
        update={
            "provider_allow": "127.0.0.1",
            "sandbox_url": sandbox.url,
            "shopify_client_id": CLIENT_ID,
            "shopify_client_secret": SecretStr(CLIENT_SECRET),
        }
    )


def order_for(sandbox: Sandbox, provider: str) -> dict[str, Any]:
    [shop] = [one for one in sandbox.description()["shops"] if one["provider"] == provider]
    return {"name": f"My {provider}", **shop}


async def connect(client: httpx2.AsyncClient, sandbox: Sandbox, provider: str) -> str:
    answer = await client.post("/api/connections", json=order_for(sandbox, provider))
    made = shaped(ConnectionShape, answer, 201)
    assert answer.headers["location"] == f"/api/connections/{made.id}"
    assert made.status == "untested"
    return str(made.id)


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_connect_test_browse_rotate_and_delete(
    client: httpx2.AsyncClient, sandbox: Sandbox, provider: str
) -> None:
    one = await connect(client, sandbox, provider)
    tested = shaped(ConnectionTestShape, await client.post(f"/api/connections/{one}/test"))
    assert tested.ok
    assert tested.shop is not None
    assert tested.shop.currency in ("EUR", "USD")
    shown = shaped(ConnectionShape, await client.get(f"/api/connections/{one}"))
    assert shown.status == "ok"
    assert shown.details["currency"] == tested.shop.currency
    listed = shaped(ConnectionPage, await client.get("/api/connections"))
    assert [str(row.id) for row in listed.items] == [one]

    first = shaped(ShopProductPage, await client.get(f"/api/connections/{one}/products"))
    assert len(first.items) == 20
    assert all(product.title for product in first.items)
    after = {"after": first.next or ""}
    second = shaped(
        ShopProductPage, await client.get(f"/api/connections/{one}/products", params=after)
    )
    assert {p.id for p in second.items}.isdisjoint(p.id for p in first.items)

    wrong = {"credentials": dict.fromkeys(order_for(sandbox, provider)["credentials"], "wrong-one")}
    stored = await client.post(f"/api/connections/{one}/rotate", json=wrong | {"test": False})
    assert shaped(ConnectionShape, stored).status == "untested"
    failed = shaped(ConnectionTestShape, await client.post(f"/api/connections/{one}/test"))
    assert not failed.ok
    assert failed.error is not None
    assert failed.error.code == "AUTHENTICATION_FAILED"
    assert shaped(ConnectionShape, await client.get(f"/api/connections/{one}")).status == "error"
    # The shop's 401 is not one of ours.
    problem = refused(await client.get(f"/api/connections/{one}/products"), 502, "PROVIDER_FAILED")
    assert problem.error.details["cause"] == "AUTHENTICATION_FAILED"

    right = {"credentials": order_for(sandbox, provider)["credentials"]}
    rotated = await client.post(f"/api/connections/{one}/rotate", json=right)
    assert shaped(ConnectionShape, rotated).status == "ok"

    renamed = await client.patch(f"/api/connections/{one}", json={"name": "Other"})
    assert shaped(ConnectionShape, renamed).name == "Other"
    gone = shaped(DeletedConnection, await client.delete(f"/api/connections/{one}"))
    assert gone.products_kept == 0
    refused(await client.get(f"/api/connections/{one}"), 404, "NOT_FOUND")


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_credentials_that_the_shop_refuses_do_not_replace_working_ones(
    client: httpx2.AsyncClient, sandbox: Sandbox, provider: str
) -> None:
    one = await connect(client, sandbox, provider)
    assert shaped(ConnectionTestShape, await client.post(f"/api/connections/{one}/test")).ok
    wrong = {"credentials": dict.fromkeys(order_for(sandbox, provider)["credentials"], "wrong-one")}
    answer = await client.post(f"/api/connections/{one}/rotate", json=wrong)
    problem = refused(answer, 502, "PROVIDER_FAILED").error
    assert problem.details["cause"] == "AUTHENTICATION_FAILED"
    assert "The old ones are kept" in problem.message
    assert "wrong-one" not in answer.text
    assert shaped(ConnectionShape, await client.get(f"/api/connections/{one}")).status == "ok"
    assert shaped(ConnectionTestShape, await client.post(f"/api/connections/{one}/test")).ok


async def test_credentials_are_kept_while_the_shop_does_not_answer(
    client: httpx2.AsyncClient, sandbox: Sandbox
) -> None:
    one = await connect(client, sandbox, "roastify")
    given = {"credentials": order_for(sandbox, "roastify")["credentials"]}
    sandbox.faults.plan = FaultPlan(1.0, ("500",))
    answer = await client.post(f"/api/connections/{one}/rotate", json=given)
    problem = refused(answer, 502, "PROVIDER_FAILED").error
    assert problem.details["cause"] == "SERVICE_UNAVAILABLE"
    assert "without a test" in problem.message
    stored = await client.post(f"/api/connections/{one}/rotate", json=given | {"test": False})
    assert shaped(ConnectionShape, stored).status == "untested"


async def test_a_search_narrows_the_products(client: httpx2.AsyncClient, sandbox: Sandbox) -> None:
    one = await connect(client, sandbox, "shopify")
    product = sandbox.shop("shopify").product(7)
    assert product is not None
    answer = await client.get(f"/api/connections/{one}/products", params={"q": product.title})
    page = shaped(ShopProductPage, answer)
    assert [found.title for found in page.items] == [product.title]
    assert page.total == 1
    refused(
        await client.get(f"/api/connections/{one}/products", params={"after": "forged"}),
        400, "INVALID_CURSOR",
    )  # fmt: skip


async def test_an_outage_is_told_as_one(client: httpx2.AsyncClient, sandbox: Sandbox) -> None:
    one = await connect(client, sandbox, "roastify")
    sandbox.faults.plan = FaultPlan(1.0, ("500",))
    failed = shaped(ConnectionTestShape, await client.post(f"/api/connections/{one}/test"))
    assert failed.error is not None
    assert failed.error.code == "SERVICE_UNAVAILABLE"


@pytest.mark.parametrize(
    ("changed", "status", "code"),
    [
        ({"provider": "ebay"}, 422, "INVALID_PARAMETERS"),
        ({"address": "http://169.254.169.254"}, 422, "URL_NOT_ALLOWED"),
        ({"address": "http://10.0.0.1/shop"}, 422, "URL_NOT_ALLOWED"),
        ({"address": "ftp://shop.example"}, 422, "INVALID_PARAMETERS"),
        ({"address": "https://user:pass@shop.example"}, 422, "INVALID_PARAMETERS"),
        ({"address": "http://shop.example"}, 422, "INVALID_PARAMETERS"),
        ({"credentials": {}}, 422, "INVALID_PARAMETERS"),
        ({"credentials": {"token": "a b"}}, 422, "INVALID_PARAMETERS"),
        ({"credentials": {"token": "x", "other": "y"}}, 422, "INVALID_PARAMETERS"),
        ({"more": 1}, 422, "UNKNOWN_FIELD"),
    ],
)
async def test_orders_that_are_not_allowed_are_refused(
    client: httpx2.AsyncClient, sandbox: Sandbox, changed: dict[str, Any], status: int, code: str
) -> None:
    order = order_for(sandbox, "shopify") | changed
    refused(await client.post("/api/connections", json=order), status, code)
    assert (await client.get("/api/connections")).json()["items"] == []


async def test_the_same_request_with_the_same_key_connects_once(
    client: httpx2.AsyncClient, sandbox: Sandbox
) -> None:
    order, key = order_for(sandbox, "shopify"), {"Idempotency-Key": "connect-1"}
    first = await client.post("/api/connections", json=order, headers=key)
    again = await client.post("/api/connections", json=order, headers=key)
    assert again.json() == first.json()
    order["credentials"] = {"token": "another-token"}
    refused(
        await client.post("/api/connections", json=order, headers=key), 422, "IDEMPOTENCY_MISMATCH"
    )


async def test_members_use_connections_and_their_creator_changes_them(
    client: httpx2.AsyncClient, caller: Caller, sandbox: Sandbox
) -> None:
    one = await connect(client, sandbox, "shopify")
    colleague = await caller(email="colleague@acme")
    assert shaped(ConnectionTestShape, await colleague.post(f"/api/connections/{one}/test")).ok
    shown = shaped(ConnectionShape, await colleague.get(f"/api/connections/{one}"))
    assert not shown.may_change
    refused(await colleague.delete(f"/api/connections/{one}"), 403, "INSUFFICIENT_PERMISSIONS")
    stranger = await caller("other")
    for asked in ("", "/products"):
        refused(await stranger.get(f"/api/connections/{one}{asked}"), 404, "NOT_FOUND")
    refused(await stranger.post(f"/api/connections/{one}/test"), 404, "NOT_FOUND")


async def test_the_demo_connects_a_running_sandbox(
    client: httpx2.AsyncClient, sandbox: Sandbox
) -> None:
    assert shaped(ProviderKinds, await client.get("/api/connections/providers")).demo
    made = shaped(ConnectionPage, await client.post("/api/connections/demo", json={}), 201)
    assert [one.provider for one in made.items] == list(PROVIDERS)
    for one in made.items:
        assert shaped(ConnectionTestShape, await client.post(f"/api/connections/{one.id}/test")).ok
    await sandbox.close()
    refused(await client.post("/api/connections/demo", json={}), 409, "SANDBOX_NOT_RUNNING")


class TestWithoutTheList:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"provider_allow": ""})

    async def test_the_sandbox_is_out_of_reach(
        self, client: httpx2.AsyncClient, sandbox: Sandbox
    ) -> None:
        assert not shaped(ProviderKinds, await client.get("/api/connections/providers")).demo
        refused(await client.post("/api/connections/demo", json={}), 404, "FEATURE_DISABLED")
        for provider in PROVIDERS:
            order = order_for(sandbox, provider)
            refused(await client.post("/api/connections", json=order), 422, "URL_NOT_ALLOWED")
        assert sandbox.stats.total.calls == 0


async def _begun(client: httpx2.AsyncClient, sandbox: Sandbox) -> dict[str, str]:
    """What the browser comes back with."""
    order = {"name": "Installed", "address": sandbox.shop("shopify").base, "returnTo": PAGE}
    begun = await client.post("/api/connections/install", json=order)
    assert begun.status_code == 200, begun.text
    async with httpx2.AsyncClient() as browser:
        sent = await browser.get(begun.json()["url"])
    assert sent.status_code == 302
    target = urlsplit(sent.headers["location"])
    assert f"{target.scheme}://{target.netloc}{target.path}" == PAGE
    return dict(parse_qsl(target.query))


async def _complete(client: httpx2.AsyncClient, answer: dict[str, str]) -> httpx2.Response:
    return await client.post("/api/connections/install/complete", json={"parameters": answer})


async def test_a_shop_is_connected_without_a_token(
    client: httpx2.AsyncClient, sandbox: Sandbox
) -> None:
    answer = await _begun(client, sandbox)
    made = shaped(ConnectionShape, await _complete(client, answer), 201)
    assert made.name == "Installed"
    assert shaped(ConnectionTestShape, await client.post(f"/api/connections/{made.id}/test")).ok
    # A code counts once.
    refused(await _complete(client, answer), 502, "PROVIDER_FAILED")


async def test_a_forged_answer_connects_nothing(
    client: httpx2.AsyncClient, caller: Caller, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = await _begun(client, sandbox)
    for changed in (
        {"code": "another"}, {"shop": "evil.myshopify.com"}, {"hmac": "0" * 64}, {"hmac": ""},
        {"state": "forged"}, {"state": ""}, {"timestamp": "1"},
    ):  # fmt: skip
        refused(await _complete(client, answer | changed), 403, "INSTALL_REFUSED")
    colleague = await caller(email="colleague@acme")
    refused(await _complete(colleague, answer), 403, "INSTALL_REFUSED")
    monkeypatch.setattr("penstock.app.shops.install.time.time", lambda: 9e12)
    refused(await _complete(client, answer), 403, "INSTALL_REFUSED")
    assert (await client.get("/api/connections")).json()["items"] == []


async def test_what_is_stored_and_audited_contains_no_secret(
    client: httpx2.AsyncClient, sandbox: Sandbox, db: Database
) -> None:
    secrets = []
    for provider in PROVIDERS:
        one = await connect(client, sandbox, provider)
        await client.post(f"/api/connections/{one}/test")
        order = order_for(sandbox, provider)
        secrets += order["credentials"].values()
        fresh = {"credentials": {name: v + "x" for name, v in order["credentials"].items()}}
        refused(
            await client.post(f"/api/connections/{one}/rotate", json=fresh), 502, "PROVIDER_FAILED"
        )
        stored = await client.post(f"/api/connections/{one}/rotate", json=fresh | {"test": False})
        assert stored.status_code == 200
        await client.delete(f"/api/connections/{one}")
    async with db.acquire() as conn:
        rows = await conn.fetch("SELECT to_jsonb(a)::text AS row FROM audit a")
        rows += await conn.fetch("SELECT to_jsonb(c)::text AS row FROM connections c")
        actions = await conn.fetch("SELECT DISTINCT action FROM audit WHERE action LIKE 'conn%'")
    assert {row["action"] for row in actions} == {
        "connection.create", "connection.test", "connection.rotate", "connection.delete"
    }  # fmt: skip
    assert len(secrets) == 4
    assert not [1 for row in rows for secret in secrets if secret in row["row"]]


async def test_connections_are_listed_in_pages(
    client: httpx2.AsyncClient, sandbox: Sandbox
) -> None:
    made = [await connect(client, sandbox, provider) for provider in PROVIDERS]
    page = shaped(ConnectionPage, await client.get("/api/connections", params={"pageSize": 2}))
    rest = shaped(
        ConnectionPage, await client.get("/api/connections", params={"after": page.next or ""})
    )
    assert [str(one.id) for one in (*page.items, *rest.items)] == made
    assert rest.next is None


def test_settings_of_an_app_need_both_halves(settings: Settings) -> None:
    assert settings.oauth_apps["shopify"].client_id == CLIENT_ID
    assert CLIENT_SECRET not in repr(settings.oauth_apps)
    half = settings.model_copy(update={"shopify_client_secret": None})
    assert half.oauth_apps == {}
    assert replace(settings.oauth_apps["shopify"], client_id="x").client_id == "x"


def _message(secret: str, body: bytes, **headers: str) -> dict[str, Any]:
    signed = base64.b64encode(hmac.digest(secret.encode(), body, hashlib.sha256)).decode()
    told = {"X-Shopify-Topic": "products/update", "X-Shopify-Hmac-Sha256": signed, **headers}
    return {"content": body, "headers": told}


async def test_messages_of_a_shop_ask_for_one_import_a_minute(
    client: httpx2.AsyncClient, app: FastAPI, sandbox: Sandbox, db: Database
) -> None:
    order = order_for(sandbox, "shopify")
    order["credentials"] |= {"webhookSecret": "of-the-app"}
    made = shaped(ConnectionShape, await client.post("/api/connections", json=order), 201)
    shop = client_of(app, None)
    for number in range(5):
        body = f'{{"id": {number}}}'.encode()
        sent = await shop.post(made.webhook_path, **_message("of-the-app", body))
        assert sent.status_code == 204, sent.text
    listed = (await client.get("/api/jobs")).json()["items"]
    # Two, if a minute ended meanwhile.
    assert len(listed) in (1, 2)
    assert {one["pipeline"] for one in listed} == {"shop_import"}
    assert listed[0]["state"] == "delayed"

    body = b'{"id": 1}'
    for topic in ("products/delete", "orders/create"):
        told = {"X-Shopify-Topic": topic}
        sent = await shop.post(made.webhook_path, **_message("of-the-app", body, **told))
        assert sent.status_code == 204
    for path, message in (
        (made.webhook_path, _message("another", body)),
        (made.webhook_path, _message("of-the-app", body) | {"content": body + b" "}),
        (made.webhook_path, {"content": body}),
        (f"/api/connections/{UUID(int=1)}/webhook", _message("of-the-app", body)),
        ("/api/connections/none/webhook", _message("of-the-app", body)),
    ):
        refused(await shop.post(path, **message), 401, "AUTHENTICATION_FAILED")
    refused(
        await shop.post(made.webhook_path, **_message("of-the-app", b"not JSON")),
        400, "INVALID_JSON",
    )  # fmt: skip
    large = b" " * (1024 * 1024 + 1)
    refused(
        await shop.post(made.webhook_path, **_message("of-the-app", large)), 413, "BODY_TOO_LARGE"
    )
    assert len((await client.get("/api/jobs")).json()["items"]) == len(listed)


async def test_a_connection_without_a_webhook_secret_takes_no_message(
    client: httpx2.AsyncClient, app: FastAPI, sandbox: Sandbox
) -> None:
    shop = client_of(app, None)
    for provider in PROVIDERS:
        one = await connect(client, sandbox, provider)
        sent = await shop.post(f"/api/connections/{one}/webhook", **_message("", b'{"id": 1}'))
        refused(sent, 401, "AUTHENTICATION_FAILED")
    assert (await client.get("/api/jobs")).json()["items"] == []
