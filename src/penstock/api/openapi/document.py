"""The document at `/openapi.json`: what FastAPI knows of the routes, and what it cannot know."""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from penstock.api.http.access import WAYS_IN, principal
from penstock.api.http.errors import STATUSES
from penstock.api.http.schemas import Problem
from penstock.api.http.versions import CURRENT, DEPRECATED, HEADER, VERSIONS, operation_id
from penstock.api.openapi.errors import MEANINGS, codes_of
from penstock.api.openapi.examples import example_of

_PROBLEM = "application/problem+json"
_MAY_PASS = frozenset({408, 423, 424, 429, 500, 503, 507})
_VERSION = {
    "name": HEADER,
    "in": "header",
    "required": False,
    "description": f"The version of the API to be answered in; without it, {CURRENT}.",
    "schema": {"type": "string", "enum": list(VERSIONS)},
}
TAGS = {
    "files": "Files in one request.",
    "uploads": "Files in several requests, which go on where a line broke (tus 1.0.0).",
    "jobs": "Asking for work, and looking at it.",
    "items": "The rows of a job.",
    "control": "Pausing, cancelling, running again.",
    "extraction": "Extraction jobs in the words of their older calls.",
    "export": "Results as a file.",
    "events": "What happens, as it happens.",
    "products": "The catalog, and where each value comes from.",
    "profiles": "What was learnt of a supplier's files.",
    "bulk": "One action on many jobs.",
    "dead letters": "Jobs that failed for good.",
    "queues": "Lanes.",
    "connections": "Shops that products are imported from.",
    "watchers": "Places that are scanned for new files.",
    "providers": "Limits and circuits of what is called.",
    "webhooks": "What Penstock tells others, and how that went.",
    "notifications": "Where alerts and events are sent to.",
    "accounts": "Signing in, users, keys, and who did what.",
    "operations": "Health and metrics.",
}


def describe(app: FastAPI) -> None:
    """Complete the document when it is first read."""
    plain = app.openapi

    def whole() -> dict[str, Any]:
        if app.openapi_schema is None or "x-complete" not in app.openapi_schema["info"]:
            document = plain()
            _lock(document, {operation_id(route) for route in _guarded(app)})
            _complete(document)
            document["info"]["x-complete"] = True
        return app.openapi_schema or {}

    app.openapi = whole  # type: ignore[method-assign]


def _guarded(app: FastAPI) -> Iterator[APIRoute]:
    """Routes that need authentication."""
    for route in app.routes:
        if isinstance(route, APIRoute) and _asks(route.dependant):
            yield route


def _asks(dependant: Dependant) -> bool:
    return any(one.call is principal or _asks(one) for one in dependant.dependencies)


def _lock(document: dict[str, Any], guarded: set[str]) -> None:
    document.setdefault("components", {})["securitySchemes"] = WAYS_IN
    for _, _, operation in _operations(document):
        if operation["operationId"] in guarded:
            operation["security"] = [{way: []} for way in WAYS_IN]


def _complete(document: dict[str, Any]) -> None:
    parts = document.setdefault("components", {})
    known = parts.setdefault("schemas", {})
    known.update(_problem_schemas())
    parts["parameters"] = {"Version": _VERSION}
    used = {tag for _, _, one in _operations(document) for tag in one.get("tags", ())}
    document["tags"] = [
        {"name": tag, "description": TAGS.get(tag, tag.capitalize())}
        for tag in [*TAGS, *sorted(used - {*TAGS})]
        if tag in used
    ]  # fmt: skip
    named: set[str] = set()
    for path, method, operation in _operations(document):
        codes = codes_of(path, method, operation)
        operation.setdefault("parameters", []).append({"$ref": "#/components/parameters/Version"})
        _add_problems(operation, codes)
        named |= codes
        _add_examples(operation, known)
        going = DEPRECATED.get(operation["operationId"])
        if going is not None:
            operation["deprecated"] = True
            operation["description"] += (
                f"\n\nGoes on {going.sunset:%d %B %Y}. Call `{going.instead}` instead."
            )
    parts["examples"] = {code: {"value": _problem(code)} for code in sorted(named)}


def _operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def _problem_schemas() -> dict[str, Any]:
    problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    return {**problem.pop("$defs"), "Problem": problem}


def _add_problems(operation: dict[str, Any], codes: set[str]) -> None:
    by_status: dict[int, list[str]] = {}
    for code in sorted(codes):
        by_status.setdefault(_status(code), []).append(code)
    responses = operation["responses"]
    for status, named in sorted(by_status.items()):
        content = {
            "schema": {"$ref": "#/components/schemas/Problem"},
            "examples": {code: {"$ref": f"#/components/examples/{code}"} for code in named},
        }
        told = "\n".join(f"- `{code}`: {MEANINGS.get(code, '')}" for code in named)
        shown = responses.setdefault(str(status), {"description": told})
        shown.setdefault("content", {})[_PROBLEM] = content
        shown["x-codes"] = named
    responses["default"] = {
        "description": "Any other problem, as a proxy in between may have.",
        "content": {_PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }


def _status(code: str) -> int:
    transient = {"BLOB_UNAVAILABLE", "DB_UNAVAILABLE", "QUEUE_FULL", "SECRET_KEY_MISSING"}
    return STATUSES.get(code, 503 if code in transient else 422)


def _problem(code: str) -> dict[str, Any]:
    meaning, status = MEANINGS.get(code, code), _status(code)
    return {
        "type": f"urn:penstock:error:{code}",
        "title": HTTPStatus(status).phrase if status != 460 else "Checksum Mismatch",
        "status": status,
        "detail": meaning,
        "instance": "/api/…",
        "error": {
            "code": code,
            "message": meaning,
            "category": "transient" if status in _MAY_PASS else "permanent",
            "source": "api",
            "details": {},
        },
        "timestamp": "2026-11-01T09:30:00Z",
        "requestId": "4f6f1c0e9d3b4a55",
    }


def _add_examples(operation: dict[str, Any], known: dict[str, Any]) -> None:
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    if body.get("schema") and not body.keys() & {"example", "examples"}:
        body["example"] = example_of(body["schema"], known, asked=True)
    for response in operation["responses"].values():
        shown = response.get("content", {}).get("application/json", {})
        if shown.get("schema") and "example" not in shown:
            shown["example"] = example_of(shown["schema"], known)
