"""The reference, for people and programs: complete, right by its own examples, all from here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import httpx2
import jsonschema_rs
import pytest
from fastapi import FastAPI
from tests.api.conftest import client_of, refused

from penstock.api.http.errors import STATUSES
from penstock.api.openapi.errors import MEANINGS, OWN
from penstock.model.monitor.checks import RUNBOOK_PATH, Thresholds, runbook_link
from penstock.monitor.measure import camel


@pytest.fixture
async def document(app: FastAPI) -> dict[str, Any]:
    async with client_of(app, None) as nobody:
        found: dict[str, Any] = (await nobody.get("/openapi.json")).json()
    return found


def operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"{method} {path}", operation


def test_every_call_is_described(document: dict[str, Any]) -> None:
    tags = {tag["name"] for tag in document["tags"] if tag["description"]}
    names = set()
    for call, operation in operations(document):
        assert operation["summary"], call
        assert operation["description"], call
        assert set(operation["tags"]) <= tags, call
        assert re.fullmatch(r"[a-z][A-Za-z]+", operation["operationId"]), call
        names.add(operation["operationId"])
        for one in operation["parameters"]:
            assert "$ref" in one or one.get("description") or one["in"] == "query", (call, one)
    assert len(names) == len(list(operations(document)))


def test_every_call_tells_its_errors(document: dict[str, Any]) -> None:
    for call, operation in operations(document):
        told = {
            code
            for response in operation["responses"].values()
            for code in response.get("x-codes", ())
        }
        assert "UNSUPPORTED_VERSION" in told, call
        assert "AUTHENTICATION_FAILED" in told or "security" not in operation, call
        if "{" in call:
            assert "NOT_FOUND" in told, call
        assert told <= set(MEANINGS), (call, told - set(MEANINGS))
    assert set(STATUSES) <= set(MEANINGS)
    assert set(OWN) <= {call["operationId"] for _, call in operations(document)}


def test_examples_are_what_their_schemas_say(document: dict[str, Any]) -> None:
    parts = {"components": document["components"]}
    for call, operation in operations(document):
        bodies = [operation.get("requestBody", {}), *operation["responses"].values()]
        for content in (body.get("content", {}) for body in bodies):
            for kind, media in content.items():
                if kind == "application/json" and "schema" in media:
                    assert "example" in media, call
                if "example" in media:
                    jsonschema_rs.validate({**media["schema"], **parts}, media["example"])
    problem = {"$ref": "#/components/schemas/Problem", **parts}
    for example in document["components"]["examples"].values():
        jsonschema_rs.validate(problem, example["value"])


class Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.ids: set[str] = set()
        self.inline: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.found.append(value)
            if name == "id" and value:
                self.ids.add(value)
            if name == "style" or name.startswith("on"):
                self.inline.append(f"{tag} {name}")


async def test_the_page_needs_nothing_from_elsewhere(
    app: FastAPI, document: dict[str, Any]
) -> None:
    async with client_of(app, None) as nobody:
        answer = await nobody.get("/docs")
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert "script-src 'self'" in answer.headers["content-security-policy"]
        page = Links()
        page.feed(answer.text)
        assert page.inline == []
        assert {call["operationId"] for _, call in operations(document)} <= page.ids
        for link in page.found:
            if link.startswith("#"):
                assert link.removeprefix("#") in page.ids
            else:
                found = await nobody.get(link)
                assert found.status_code == 200, link
                assert found.headers["x-content-type-options"] == "nosniff"
        refused(await nobody.get("/docs/reference.py"), 404, "NOT_FOUND")


async def test_alerts_link_to_sections_of_the_runbook(app: FastAPI) -> None:
    async with client_of(app, None) as nobody:
        answer = await nobody.get(RUNBOOK_PATH)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    page = Links()
    page.feed(answer.text)
    assert page.inline == []
    sections = {link.removeprefix("#") for link in page.found if link.startswith("#")}
    assert sections <= page.ids
    for name in (*Thresholds.names(), "status", "overload"):
        assert runbook_link("", camel(name)).removeprefix("#") in page.ids


async def test_what_is_written_in_descriptions_is_no_html(client: httpx2.AsyncClient) -> None:
    from penstock.api.openapi.reference_page import page

    evil = "<img src=x onerror=alert(1)>"
    document = {
        "openapi": "3.1.0",
        "info": {"title": evil, "version": evil, "description": evil},
        "tags": [{"name": evil, "description": evil}],
        "components": {"schemas": {}},
        "paths": {
            f"/{evil}": {
                "get": {
                    "summary": evil, "description": evil, "operationId": evil, "tags": [evil],
                    "parameters": [{"name": evil, "in": "query", "schema": {"type": evil}}],
                    "responses": {"200": {"description": evil}},
                }
            }
        },
    }  # fmt: skip
    assert "<img" not in page(document)
