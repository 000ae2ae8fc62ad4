"""Forms: small fields, and at most one file, which is streamed to the blob store."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from starlette.requests import Request

from penstock.api.http.bodies import content_type, declared_length, paced
from penstock.api.http.errors import unknown_field
from penstock.api.http.multipart import PartReader, bad_multipart
from penstock.app.uploads import Upload, forget_upload
from penstock.engine.runtime import Runtime
from penstock.model.errors import BadInput, file_too_large
from penstock.model.ids import new_id
from penstock.model.text.media_types import media_type_of

FILE = "file"
FIELD_BYTES = 1024 * 1024
# Boundaries, part headers and fields come on top of the file itself.
FORM_BYTES = 2 * FIELD_BYTES
LONGEST_NAME = 255


@dataclass(slots=True)
class Form:
    fields: dict[str, str] = field(default_factory=dict)
    upload: Upload | None = None


@asynccontextmanager
async def received_form(
    request: Request, runtime: Runtime, allowed: frozenset[str]
) -> AsyncIterator[Form]:
    """The form, until the request is accepted: after an error the file is deleted."""
    form = Form()
    try:
        await _read(request, runtime, allowed, form)
        yield form
    except BaseException as error:
        # Of two requests with the same key, the other one may be about to keep the same bytes.
        other_keeps_it = getattr(error, "code", "") == "IDEMPOTENCY_CONFLICT"
        if form.upload is not None and not other_keeps_it:
            await asyncio.shield(forget_upload(runtime, form.upload))
        raise


async def _read(request: Request, runtime: Runtime, allowed: frozenset[str], form: Form) -> None:
    limit = runtime.settings.max_file_bytes
    if declared_length(request) > limit + FORM_BYTES:
        raise file_too_large(limit)
    reader = PartReader(paced(request), _boundary(request))
    room = FIELD_BYTES
    async for head in reader.parts():
        if head.name not in allowed:
            raise unknown_field(head.name)
        if head.name in form.fields or (head.name == FILE and form.upload is not None):
            raise bad_multipart(f"The form has {head.name!r} twice.")
        if head.name == FILE:
            name = safe_name(head.filename)
            blob = await runtime.blobs.put(reader.data(), limit)
            # Assigned before the checks, so that a refusal deletes the file.
            form.upload = Upload(new_id(), name, head.media_type, blob)
            kind = media_type_of(name, head.media_type, blob.head)
            form.upload = replace(form.upload, media_type=kind)
        else:
            text = await _text(reader, head.name, room)
            room -= len(text)
            form.fields[head.name] = text.decode("utf-8", "replace")


async def _text(reader: PartReader, name: str, room: int) -> bytes:
    text = bytearray()
    async for piece in reader.data():
        text += piece
        if len(text) > room:
            raise bad_multipart(f"The form's field {name!r} is too large.")
    return bytes(text)


def _boundary(request: Request) -> bytes:
    kind, options = content_type(request)
    if kind != "multipart/form-data":
        raise BadInput(
            "UNSUPPORTED_TYPE",
            "Send the file as multipart/form-data, in a part named `file`"
            " (curl: -F file=@goods.csv).",
        )
    boundary = options.get(b"boundary", b"")
    if not boundary:
        raise bad_multipart("The Content-Type header names no boundary.")
    return boundary


def safe_name(raw: bytes | None) -> str:
    """The name of a file for display; it is never used as a path."""
    try:
        name = (raw or b"").decode()
    except UnicodeDecodeError:
        name = (raw or b"").decode("latin-1")
    if not name.strip():
        raise BadInput("BAD_FILENAME", "The file has no name.")
    if len(name) > LONGEST_NAME:
        raise BadInput("BAD_FILENAME", f"The file's name is longer than {LONGEST_NAME} characters.")
    if name in {".", ".."} or any(
        char in "/\\" or unicodedata.category(char) == "Cc" for char in name
    ):
        raise BadInput("BAD_FILENAME", "The file's name holds a path or control characters.")
    return name
