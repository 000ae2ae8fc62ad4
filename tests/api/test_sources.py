"""Sources: what is stored, shown, tested and refused, against a sandbox."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
import tomli_w
from tests.api.conftest import Caller, refused, shaped
from tests.providers.sandboxes import serving_sandbox
from tests.sources.support import add_sources, configs_of

from penstock.api.sources.schemas import (
    DeletedSource,
    SourceHealth,
    SourceList,
    SourceShape,
    SourceTestShape,
)
from penstock.providers.sandbox.faults import FaultPlan
from penstock.providers.sandbox.server import Sandbox
from penstock.settings import Settings
from penstock.store.database import Database

FORMATS = ("json", "xml", "csv")


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with serving_sandbox(products=60, seed=9) as made:
        yield made


@pytest.fixture
def settings(settings: Settings, sandbox: Sandbox) -> Settings:
    allowed = {"provider_allow": "127.0.0.1", "sandbox_url": sandbox.url}
    return settings.model_copy(update=allowed)


async def test_the_demo_adds_the_sources_of_a_running_sandbox(
    client: httpx2.AsyncClient, sandbox: Sandbox
) -> None:
    names = ["sandbox-json", "sandbox-xml", "sandbox-csv"]
    for _ in range(2):
        # The second time they are replaced.
        made = shaped(SourceList, await client.post("/api/sources/demo"), 201)
        assert [one.name for one in made.items] == names
    assert len(shaped(SourceList, await client.get("/api/sources")).items) == 3
    for one in made.items:
        answer = await client.post(f"/api/sources/{one.id}/test", json={"query": "Mug"})
        assert shaped(SourceTestShape, answer).ok
    await sandbox.close()
    refused(await client.post("/api/sources/demo"), 409, "SANDBOX_NOT_RUNNING")


@pytest.mark.parametrize("format", FORMATS)
async def test_create_test_change_and_delete(
    client: httpx2.AsyncClient, sandbox: Sandbox, format: str
) -> None:
    config = configs_of(sandbox)[format]
    secret = list(config["credentials"].values())[-1]
    made = await client.post("/api/sources", json=config)
    source = shaped(SourceShape, made, 201)
    assert secret not in made.text
    assert source.status == "untested"
    one = f"/api/sources/{source.id}"
    answer = await client.post(f"{one}/test", json={"query": "Mug"})
    tested = shaped(SourceTestShape, answer)
    assert tested.ok, tested.error
    assert tested.records
    assert len(tested.products) == tested.records
    assert tested.answer is not None
    assert "Mug" in tested.answer or "MUG" in tested.answer
    assert secret not in answer.text
    for offer in tested.products:
        product = offer["product"]
        assert product["source"] == f"sandbox-{format}"
        assert product["price"]["currency"] == ("USD" if format == "xml" else "EUR")
        assert len(product["identifiers"]["gtin"]) == 13
        assert product["supplier"]["location"] in ("DE", "FR", "US", "CN", "SE")
        assert offer["error"] is None
        if format != "csv":
            assert product["availability"]["deliveryDate"] > "2026"
    price = tested.products[0]["lineage"]["price.amount"]
    assert price[0] == config["mapping"]["price.amount"]

    shown = shaped(SourceShape, await client.get(one))
    assert shown.status == "ok"
    health = shaped(SourceHealth, await client.get(f"{one}/health"))
    assert health.domain == f"sandbox-{format}"
    assert health.limit["burst"] == 20
    changed = {**config, "title": "Renamed", "enabled": False}
    del changed["credentials"]
    again = shaped(SourceShape, await client.put(one, json=changed))
    assert (again.title, again.enabled, again.status) == ("Renamed", False, "untested")
    assert shaped(SourceTestShape, await client.post(f"{one}/test", json={"query": "Oak"})).ok
    assert shaped(DeletedSource, await client.delete(one)).id == source.id
    refused(await client.get(one), 404, "NOT_FOUND")


async def test_toml_says_the_same(client: httpx2.AsyncClient, sandbox: Sandbox) -> None:
    config = configs_of(sandbox)["json"]
    text = tomli_w.dumps(config)
    made = await client.post(
        "/api/sources", content=text, headers={"Content-Type": "application/toml"}
    )
    source = shaped(SourceShape, made, 201)
    assert source.config["mapping"] == config["mapping"]
    assert [one.name for one in shaped(SourceList, await client.get("/api/sources")).items] == [
        "sandbox-json"
    ]
    refused(await client.post("/api/sources", json=config), 409, "INVALID_STATE")


async def test_credentials_are_sealed_and_never_sent_elsewhere(
    client: httpx2.AsyncClient, sandbox: Sandbox, db: Database
) -> None:
    config = configs_of(sandbox)["json"]
    [made] = [(await client.post("/api/sources", json=config)).json()]
    token = config["credentials"]["token"]
    async with db.acquire() as conn:
        [row] = await conn.fetch("SELECT to_jsonb(s)::text AS s FROM sources s")
    assert token not in row["s"]
    assert token.encode().hex() not in row["s"]
    moved = {**config, "url": config["url"].replace("127.0.0.1", "127.0.0.2")}
    del moved["credentials"]
    answer = await client.put(f"/api/sources/{made['id']}", json=moved)
    problem = refused(answer, 422, "INVALID_CONFIG")
    assert problem.detail


async def test_a_source_that_fails_is_an_answer(
    client: httpx2.AsyncClient, sandbox: Sandbox
) -> None:
    ids = await add_sources(client, sandbox)
    for kinds, code in (
        (("500",), "SERVICE_UNAVAILABLE"),
        (("malformed",), "SERVICE_UNAVAILABLE"),
        (("truncated",), "NETWORK_ERROR"),
        (("expired",), "AUTHENTICATION_FAILED"),
    ):
        sandbox.faults.plan = FaultPlan(1.0, kinds)
        for one in ids:
            tested = shaped(
                SourceTestShape,
                await client.post(f"/api/sources/{one}/test", json={"query": "Mug"}),
            )
            assert tested.error is not None
            assert tested.error.code == code, (kinds, tested.error)
            shown = shaped(SourceShape, await client.get(f"/api/sources/{one}"))
            assert shown.status == "error"
        sandbox.faults.plan = FaultPlan()
        for one in ids:
            tested = shaped(
                SourceTestShape,
                await client.post(f"/api/sources/{one}/test", json={"query": "Mug"}),
            )
            assert tested.ok, tested.error


async def test_an_answer_that_violates_its_schema_is_refused(
    client: httpx2.AsyncClient, sandbox: Sandbox
) -> None:
    config = copy.deepcopy(configs_of(sandbox)["json"])
    config["response"]["schema"]["required"] = ["results", "currency"]
    made = (await client.post("/api/sources", json=config)).json()
    answer = await client.post(f"/api/sources/{made['id']}/test", json={"query": "Mug"})
    tested = shaped(SourceTestShape, answer)
    assert tested.error is not None
    assert tested.error.code == "VALIDATION_ERROR"
    assert "currency" in tested.error.message


HOSTILE: list[tuple[str, dict[str, Any], str]] = [
    ("a private address", {"url": "http://169.254.169.254/latest"}, "url"),
    ("a local file", {"url": "file:///etc/passwd"}, "url"),
    ("the host is a placeholder", {"url": "https://{query}.example/x"}, "url"),
    ("credentials in the address", {"url": "https://me:pw@api.example/x"}, "url"),
    ("an unknown placeholder", {"parameters": {"q": "{env}"}}, "parameters"),
    ("an attribute", {"mapping": {"title": "name.__class__.__mro__()"}}, "mapping"),
    ("an import", {"mapping": {"title": "__import__('os').system('id')"}}, "mapping"),
    ("a deep expression", {"mapping": {"title": "(" * 60 + "1" + ")" * 60}}, "mapping"),
    ("an unknown field", {"mapping": {"titel": "name", "sourceId": "sku"}}, "mapping"),
    ("a header of the client", {"headers": {"Host": "evil.example"}}, "headers"),
    ("a header with a line break", {"headers": {"X-A": "a\r\nX-B: b"}}, "headers"),
    ("the authorization header", {"headers": {"Authorization": "x"}}, "headers"),
    ("an unknown setting", {"onError": "ignore"}, "onError"),
    ("a schema that loads another", {
        "response": {"format": "json", "schema": {"$ref": "http://127.0.0.1/s.json"}}
    }, "response"),
    ("an unlimited rate", {"limits": {"rate": "0/s"}}, "limits"),
    ("a rate in other words", {"limits": {"rate": "as fast as you can"}}, "limits"),
    ("too many pages", {"paging": {"kind": "page", "parameter": "p", "maxPages": 9999}}, "paging"),
    ("a name with a path", {"name": "../../etc"}, "name"),
    ("an unknown credential", {"credentials": {"token": "x", "root": "y"}}, "credentials"),
]  # fmt: skip


@pytest.mark.parametrize(("what", "change", "field"), HOSTILE, ids=[one[0] for one in HOSTILE])
async def test_hostile_configurations_are_refused_with_line_and_reason(
    client: httpx2.AsyncClient, sandbox: Sandbox, what: str, change: dict[str, Any], field: str
) -> None:
    config = {**configs_of(sandbox)["json"], **change}
    if change.get("url"):
        config.pop("auth")
        config.pop("credentials")
    for text, kind in (
        (tomli_w.dumps(config), "application/toml"),
        (httpx2.Request("POST", "http://x", json=config).content.decode(), "application/json"),
    ):
        answer = await client.post("/api/sources", content=text, headers={"Content-Type": kind})
        assert answer.status_code == 422, (what, answer.text)
        error = answer.json()["error"]
        assert error["code"] == "INVALID_CONFIG", error
        assert field in error["message"], error
        lines = text.splitlines()
        if kind == "application/toml":
            named = lines[error["details"]["line"] - 1]
            leaf = str(error["details"]["field"]).rpartition(".")[2]
            assert error["message"].startswith("line "), error
            assert field in named or leaf in named, (error, named)


async def test_another_org_sees_nothing(
    client: httpx2.AsyncClient, caller: Caller, sandbox: Sandbox
) -> None:
    [one, *_] = await add_sources(client, sandbox)
    stranger = await caller("other")
    refused(await stranger.get(f"/api/sources/{one}"), 404, "NOT_FOUND")
    refused(await stranger.post(f"/api/sources/{one}/test", json={"query": "x"}), 404, "NOT_FOUND")
    assert (await stranger.get("/api/sources")).json()["items"] == []
