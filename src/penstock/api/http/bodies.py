"""Request bodies, read in pieces and with limits of size and time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping
from typing import Any, TypeVar, get_args

import orjson
from pydantic import BaseModel, ValidationError
from python_multipart.multipart import parse_options_header
from starlette.requests import ClientDisconnect, Request

from penstock.api.http.answers import strict_json
from penstock.api.http.errors import invalid, unknown_field
from penstock.model.errors import BadInput, TransientError

Order = TypeVar("Order", bound=BaseModel)
JSON_BYTES = 1024 * 1024
# Bytes that a client may send before it is authenticated.
ANONYMOUS_BYTES = 4096
LONGEST_FIELD = 100
# A body must begin within this time and then arrive at this pace: a slow body holds resources that
# others need.
PATIENCE_SECONDS = 30.0
SLOWEST_BYTES_PER_SECOND = 1024


def content_type(request: Request) -> tuple[str, dict[bytes, bytes]]:
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    return kind.decode("latin-1"), options


def declared_length(request: Request) -> int:
    """The length that the client declares; the counted bytes decide."""
    text = request.headers.get("content-length", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else 0


async def paced(request: Request) -> AsyncGenerator[bytes, None]:
    """The pieces of the body as they arrive; a body that stops arriving is refused."""
    began, received = time.monotonic(), 0
    stream = request.stream()
    while True:
        deadline = began + PATIENCE_SECONDS + received / SLOWEST_BYTES_PER_SECOND
        try:
            async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
                piece = await anext(stream, None)
        except TimeoutError:
            raise TransientError(
                "REQUEST_TIMEOUT",
                "The body came too slowly. Send it again; /api/uploads goes on where a slow line"
                " broke off.",
            ) from None
        except ClientDisconnect as error:
            raise BadInput(
                "BODY_INCOMPLETE", "The body ended early. Send the request again."
            ) from error
        if piece is None:
            return
        received += len(piece)
        yield piece


def body_of(kind: type[BaseModel]) -> dict[str, Any]:
    """The body that `order_of` reads, for the OpenAPI document; such a body is limited while it is
    read."""
    schema = kind.model_json_schema()
    content = {"application/json": {"schema": _inlined(schema, schema.pop("$defs", {}))}}
    return {"requestBody": {"content": content}}


def job_bodies(kind: type[BaseModel], *named: str) -> dict[str, Any]:
    """A job's order as JSON, or as a form with the file itself instead of what is ``named``."""
    order = body_of(kind)["requestBody"]["content"]["application/json"]["schema"]
    fields = {name: shape for name, shape in order["properties"].items() if name not in named}
    fields["config"] = {
        "type": "string",
        "contentMediaType": "application/json",
        "description": "A JSON object, as text.",
    }
    form = {
        "type": "object",
        "properties": {"file": {"type": "string", "format": "binary"}, **fields},
        "additionalProperties": False,
    }
    content = {"multipart/form-data": {"schema": form}, "application/json": {"schema": order}}
    return {"requestBody": {"required": True, "content": content}}


def _inlined(schema: Any, known: dict[str, Any]) -> Any:
    """Replaces references by their schemas, since these are not in the document."""
    if isinstance(schema, list):
        return [_inlined(part, known) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        schema = {**known[schema["$ref"].rpartition("/")[2]], **schema}
        del schema["$ref"]
    return {name: _inlined(part, known) for name, part in schema.items()}


async def order_of(request: Request, kind: type[Order], most_bytes: int = JSON_BYTES) -> Order:
    """The body as a model; no body means the defaults."""
    body = await _whole(request, most_bytes)
    return strictly(kind, _object(body) if body.strip() else {})


def strictly(kind: type[Order], given: dict[str, object]) -> Order:
    """Validate as the document says: a number is no boolean, and a text no number."""
    # Validation would collect each of them, which takes long for a body of many unknown fields.
    _refuse_unknown(kind, given)
    try:
        return kind.model_validate_json(orjson.dumps(given), strict=True)
    except ValidationError as error:
        raise invalid(error.errors(include_url=False)) from error


def _refuse_unknown(kind: type[BaseModel], given: Mapping[str, object], place: str = "") -> None:
    """The first field that the model, or a model inside of it, does not have."""
    fields = {field.alias or name: field for name, field in kind.model_fields.items()}
    for name, value in given.items():
        if name not in fields:
            raise unknown_field(place + name[:LONGEST_FIELD])
        if isinstance(value, dict):
            annotation = fields[name].annotation
            for inner in (annotation, *get_args(annotation)):
                if isinstance(inner, type) and issubclass(inner, BaseModel):
                    _refuse_unknown(inner, value, f"{place}{name}.")


async def json_object(request: Request, most_bytes: int = JSON_BYTES) -> dict[str, object]:
    """The body as a JSON object."""
    return _object(await _whole(request, most_bytes))


async def read_bytes(request: Request, most_bytes: int = JSON_BYTES) -> bytes:
    """The body as bytes, for signatures."""
    return await _whole(request, most_bytes)


async def read_text(request: Request) -> str:
    """The body as text."""
    try:
        return (await _whole(request)).decode()
    except UnicodeDecodeError as error:
        raise BadInput("INVALID_PARAMETERS", "The body is not UTF-8.") from error


async def _whole(request: Request, most_bytes: int = JSON_BYTES) -> bytes:
    too_large = BadInput(
        "BODY_TOO_LARGE",
        f"The body is larger than {most_bytes:,} bytes. Rows belong into a file: upload it, and"
        " name it in the body.",
        limit=most_bytes,
    )
    if declared_length(request) > most_bytes:
        raise too_large
    body = bytearray()
    async for piece in paced(request):
        body += piece
        if len(body) > most_bytes:
            raise too_large
    return bytes(body)


def _object(body: bytes) -> dict[str, object]:
    found = strict_json(body, "The body")
    if not isinstance(found, dict):
        raise BadInput("INVALID_JSON", "The body is not a JSON object.")
    return found
