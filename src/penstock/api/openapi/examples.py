"""Examples for all bodies and answers of the document, made from their schemas: by the name of a
field, else by its type."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from penstock.api.http.schemas import SOME_ID

_TIME = "2026-11-01T09:30:00Z"
# Realistic values for these names.
_BY_NAME: Mapping[str, Any] = {
    "name": "Spring list", "pipeline": "extraction", "lane": "standard", "org": "acme",
    "email": "ada@acme.example", "sha256": "9f86d081884c7d65" * 4,
    "mediaType": "text/csv", "version": "0.1.0", "stage": "extract", "percent": 42.5,
    "message": "1,250 of 3,000 rows", "code": "PRICE_INVALID",
    "reason": "the supplier renamed the column",
    "sku": "007", "title": "Hammer", "source": "acme", "sourceId": "007", "worker": "host:4711:1",
    "workerId": "host:4711:1", "host": "host", "event": "job.progress", "signature": "9c1e",
    "url": "https://shop.example/hooks", "role": "member", "plan": "standard", "currency": "EUR",
    "next": "WyI5YzFlIiw0Ml0", "job_type": "extraction", "jobType": "extraction",
}  # fmt: skip


def example_of(
    schema: Any, known: Mapping[str, Any], *, asked: bool = False, name: str = ""
) -> Any:
    """``asked``: an example of a request has the required fields only."""
    schema = _resolved(schema, known)
    for told in ("example", "const", "default"):
        if schema.get(told) is not None and not (
            told == "default" and schema[told] in ("", [], {})
        ):
            return schema[told]
    if schema.get("examples"):
        return schema["examples"][0]
    if schema.get("enum"):
        return schema["enum"][0]
    if name in _BY_NAME and _fits(_BY_NAME[name], schema, known):
        return _BY_NAME[name]
    for several in ("anyOf", "oneOf", "allOf"):
        if schema.get(several):
            return example_of(_first(schema[several], known), known, asked=asked, name=name)
    return _by_type(schema, known, asked)


def _by_type(schema: Mapping[str, Any], known: Mapping[str, Any], asked: bool) -> Any:
    match schema.get("type"):
        case "object":
            wanted = schema.get("required", ()) if asked else schema.get("properties", ())
            return {
                field: example_of(shape, known, asked=asked, name=field)
                for field, shape in schema.get("properties", {}).items()
                if field in wanted or (asked and "examples" in shape)
            }
        case "array":
            return [example_of(schema.get("items", {}), known, asked=asked)]
        case "string":
            return _text(schema)
        case "integer" | "number":
            return schema.get("minimum", 3)
        case "boolean":
            return False
        case _:
            return None


def _text(schema: Mapping[str, Any]) -> str:
    match schema.get("format"):
        case "uuid":
            return SOME_ID
        case "date-time":
            return _TIME
        case "date":
            return _TIME[:10]
        case _:
            return "text".ljust(schema.get("minLength", 0), "…")


def _resolved(schema: Any, known: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = schema if isinstance(schema, Mapping) else {}
    while "$ref" in found:
        rest = {key: value for key, value in found.items() if key != "$ref"}
        found = {**known.get(found["$ref"].rpartition("/")[2], {}), **rest}
    return found


def _first(schemas: Any, known: Mapping[str, Any]) -> Any:
    """The first example that is not null."""
    return next((one for one in schemas if _resolved(one, known).get("type") != "null"), {})


def _fits(value: Any, schema: Mapping[str, Any], known: Mapping[str, Any]) -> bool:
    kinds = [_resolved(one, known) for one in schema.get("anyOf", (schema,))]
    if not isinstance(value, str):
        return any(kind.get("type") == "number" for kind in kinds)
    return any(
        kind.get("type") == "string"
        and not kind.keys() & {"format", "enum"}
        and re.search(kind.get("pattern", ""), value)
        and len(value) >= kind.get("minLength", 0)
        for kind in kinds
    )
