"""What every answer has in common: ids, headers, problems, health, the document."""

from __future__ import annotations

import ast
from collections.abc import Iterator, MutableMapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import asyncpg
import httpx2
import pytest
from fastapi import APIRouter, FastAPI, Request
from starlette.responses import PlainTextResponse
from structlog.contextvars import merge_contextvars
from structlog.testing import capture_logs
from tests.api.conftest import client_of, refused, shaped, submit_noop
from tests.fixtures import Bench

from penstock import __version__, api
from penstock.api.app import create_app
from penstock.api.http import errors
from penstock.api.http.middleware import RequestMiddleware
from penstock.api.http.versions import CURRENT, Deprecation
from penstock.api.jobs import jobs as jobs_routes
from penstock.api.monitor.health_schemas import Health
from penstock.engine.runtime import Runtime
from penstock.model.monitor.histogram import HistogramSet
from penstock.store.database import Database
from penstock.store.jobs import jobs


async def test_answers_carry_an_id_and_safe_headers(client: httpx2.AsyncClient) -> None:
    given = await client.get("/api/jobs", headers={"X-Request-Id": "abc-1.2_3"})
    assert given.headers["x-request-id"] == "abc-1.2_3"
    for bad in ("a b", "x" * 65, "<script>", ""):
        answer = await client.get("/api/nope", headers={"X-Request-Id": bad})
        assert answer.headers["x-request-id"] not in ("", bad)
        refused(answer, 404, "NOT_FOUND")
    for one in (given, answer):
        assert one.headers["x-content-type-options"] == "nosniff"
        assert one.headers["x-frame-options"] == "DENY"
        assert one.headers["cache-control"] == "no-store"
        assert one.headers["referrer-policy"] == "no-referrer"
        assert one.headers["content-security-policy"].startswith("default-src 'none'")
        assert "strict-transport-security" not in one.headers
    other = await client.options(
        "/api/jobs",
        headers={"Origin": "https://evil.example", "Access-Control-Request-Method": "GET"},
    )
    refused(other, 405, "METHOD_NOT_ALLOWED")
    assert not [name for name in other.headers if name.startswith("access-control")]


async def test_tls_is_remembered(app: FastAPI) -> None:
    async with client_of(app, None) as nobody:
        answer = await nobody.get("https://penstock/health")
    assert answer.headers["strict-transport-security"] == "max-age=31536000"


async def test_a_version_can_be_pinned(client: httpx2.AsyncClient) -> None:
    for headers in ({}, {"Penstock-Version": CURRENT}):
        answer = await client.get("/api/jobs", headers=headers)
        assert (answer.status_code, answer.headers["penstock-version"]) == (200, CURRENT)
    for unknown in ("2020-01-01", "latest", ""):
        answer = await client.get("/api/jobs", headers={"Penstock-Version": unknown})
        problem = refused(answer, 400, "UNSUPPORTED_VERSION")
        assert CURRENT in problem.detail
        assert problem.error.details == {"supported": [CURRENT]}


async def test_calls_that_will_go_say_so(runtime: Runtime) -> None:
    async def old(_: Request) -> PlainTextResponse:
        return PlainTextResponse("still here")

    going = Deprecation(date(2026, 11, 1), date(2027, 11, 1), "/new")
    app = FastAPI()
    inner = APIRouter()
    inner.add_api_route("/{one}", old)
    app.include_router(inner, prefix="/old")
    app.add_middleware(
        RequestMiddleware, log=runtime.log, times=HistogramSet(), deprecated={"old": going}
    )
    async with client_of(app, None) as nobody:
        answer = await nobody.get("/old/1")
    assert answer.headers["deprecation"] == "@1793491200"
    assert answer.headers["sunset"] == "Mon, 01 Nov 2027 00:00:00 GMT"
    assert answer.headers["link"] == '</new>; rel="successor-version"'


async def test_other_origins_are_named(runtime: Runtime, api_db: Database) -> None:
    named = runtime.settings.model_copy(update={"cors_origins": ("https://shop.example",)})
    app = create_app(replace(runtime, settings=named), api_db)
    async with client_of(app, None) as nobody:
        asked = {"Access-Control-Request-Method": "PATCH"}
        for origin, allowed in (("https://shop.example", True), ("https://evil.example", False)):
            before = await nobody.options("/api/jobs", headers={"Origin": origin, **asked})
            assert (before.status_code == 200) == allowed
            answer = await nobody.get("/health", headers={"Origin": origin})
            for one in (before, answer):
                found = one.headers.get("access-control-allow-origin")
                assert found == (origin if allowed else None)
                assert "access-control-allow-credentials" not in one.headers
                assert one.headers["x-content-type-options"] == "nosniff"


async def test_problems_of_the_router(client: httpx2.AsyncClient) -> None:
    assert (await client.get("/")).json()["openapi"] == "/openapi.json"
    for path in ("/api", "/api/", "/api/jobs/", "/docs/", "/redoc", "/api/jobs/a/b/c"):
        problem = refused(await client.get(path), 404, "NOT_FOUND")
        assert problem.instance == path
    odd = await client.get("/api/%00%ff%0a?x", headers={"Host": "["})
    assert refused(odd, 404, "NOT_FOUND").instance.startswith("/api/%00")
    answer = await client.delete("/api/jobs")
    refused(answer, 405, "METHOD_NOT_ALLOWED")
    assert answer.headers["allow"] in {"GET", "POST", "GET, POST", "POST, GET"}
    # `fix` is not the name of an item.
    answer = await client.delete("/api/jobs/01a1e7da-503b-7cff-bd4a-880141d0d095/items/fix")
    refused(answer, 405, "METHOD_NOT_ALLOWED")
    assert answer.headers["allow"] == "POST"


@pytest.fixture
def logged() -> Iterator[list[MutableMapping[str, Any]]]:
    with capture_logs(processors=(merge_contextvars,)) as entries:
        yield entries


async def test_a_bug_is_logged_and_not_shown(
    client: httpx2.AsyncClient,
    monkeypatch: pytest.MonkeyPatch,
    logged: list[MutableMapping[str, Any]],
) -> None:
    async def broken(*_: Any) -> None:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(jobs_routes, "load_job_shape", broken)
    job = await submit_noop(client)
    answer = await client.get(f"/api/jobs/{job}", headers={"X-Request-Id": "bug-1"})
    problem = refused(answer, 500, "INTERNAL_ERROR")
    assert "secret" not in answer.text
    assert "Zero" not in answer.text
    assert problem.error.category == "transient"
    (entry,) = [entry for entry in logged if entry["event"] == "request failed"]
    assert (entry["request"], entry["log_level"], entry["exc_info"]) == ("bug-1", "error", True)


@pytest.mark.usefixtures("logged")
async def test_values_the_database_cannot_take_are_a_bug(
    client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(conn: Any, job_id: Any) -> Any:
        return await conn.fetchval("SELECT $1::integer", "no number")

    monkeypatch.setattr(jobs_routes, "load_job_shape", broken)
    job = await submit_noop(client)
    refused(await client.get(f"/api/jobs/{job}"), 500, "INTERNAL_ERROR")


async def test_a_database_that_is_away(
    app: FastAPI, client: httpx2.AsyncClient, api_db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with client_of(app, None) as nobody:
        api_db.pool.terminate()
        answer = await client.get("/api/jobs")
        refused(answer, 503, "DB_UNAVAILABLE")
        assert answer.headers["retry-after"] == "5"
        health = shaped(Health, await nobody.get("/health"), 503)
        assert health.model_fields_set == {"status"}
        assert health.status == "degraded"


async def test_a_database_that_is_away_for_want_of_space(
    client: httpx2.AsyncClient, api_db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(errors, "_is_full", lambda folder: True)
    api_db.pool.terminate()
    answer = await client.get("/api/jobs")
    refused(answer, 507, "STORAGE_FULL")
    assert answer.headers["retry-after"] == "5"


async def test_a_full_disk(client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    async def full(*_: Any, **__: Any) -> None:
        raise asyncpg.DiskFullError("could not extend file")

    monkeypatch.setattr(jobs, "add_jobs", full)
    answer = await client.post("/api/jobs", json={"pipeline": "noop"})
    refused(answer, 507, "STORAGE_FULL")
    assert "extend" not in answer.text


async def test_health_needs_no_key(app: FastAPI, client: httpx2.AsyncClient, bench: Bench) -> None:
    async with client_of(app, None) as nobody, bench.worker():
        await submit_noop(client)
        assert (await nobody.get("/health")).json() == {"status": "ok"}
        health = shaped(Health, await client.get("/health"))
        assert (health.status, health.version, health.database) == ("ok", __version__, "ok")
        assert (health.workers, health.depth) == (1, 1)


async def test_without_workers_health_is_degraded(app: FastAPI) -> None:
    async with client_of(app, None) as nobody:
        assert shaped(Health, await nobody.get("/health")).status == "degraded"


async def test_the_document_describes_every_route(app: FastAPI, client: httpx2.AsyncClient) -> None:
    document = (await client.get("/openapi.json")).json()
    assert document["openapi"].startswith("3.1")
    assert {
        *("/api/files", "/api/jobs", "/api/jobs/{job_id}", "/api/jobs/{job_id}/items"),
        *("/api/jobs/{job_id}/events", "/api/events", "/health", "/health/queue"),
    } <= set(document["paths"])
    for path, methods in document["paths"].items():
        for operation in methods.values():
            assert operation["summary"]
            assert operation["description"]
            assert "application/problem+json" in operation["responses"]["default"]["content"]
            # Messages of shops carry the shop's signature instead of a key.
            keyless = operation["summary"] in ("Sign in", "Receive a message of a shop")
            open_to_all = keyless or not path.startswith(("/api", "/metrics"))
            assert ("security" in operation) != open_to_all, path


def test_what_routes_depend_on_runs_in_the_loop() -> None:
    """FastAPI runs a plain `def` in a thread, which costs a request a third of its time."""
    for path in Path(api.__file__).parent.rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        asked = {
            ast.unparse(node.args[0])
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "Depends"
        }
        threaded = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert not asked & threaded, path.name
