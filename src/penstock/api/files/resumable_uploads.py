"""Resumable uploads of large files, by the protocol tus 1.0.0."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from contextlib import suppress
from email.utils import format_datetime
from functools import partial
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Header, Request, Response

from penstock.api.files.schemas import UploadShape
from penstock.api.http.access import Api, ApiParts, Reader, Writer, caller_of, id_in_path
from penstock.api.http.answers import answer
from penstock.api.http.bodies import content_type, paced
from penstock.api.http.forms import safe_name
from penstock.api.http.idempotency import IdempotencyKey, once
from penstock.app import resumable_uploads
from penstock.model.errors import BadInput, PermanentError, file_too_large
from penstock.model.ids import new_id
from penstock.model.text.media_types import media_type_of
from penstock.store import uploads
from penstock.store.accounts import usage
from penstock.store.accounts.audit_log import Caller
from penstock.store.database import Connection

VERSION = "1.0.0"
PIECE = "application/offset+octet-stream"
_ALGORITHMS = ("sha1", "sha256", "sha512", "md5")
_MOST_METADATA = 4096


async def _tus(
    tus_resumable: Annotated[
        str,
        Header(alias="Tus-Resumable", description="Needed.", json_schema_extra={"enum": [VERSION]}),
    ] = "",
) -> None:
    """Refuse clients of another version of the protocol before anything is done."""
    if tus_resumable != VERSION:
        raise PermanentError(
            "UNSUPPORTED_TUS_VERSION", f"Send the header Tus-Resumable: {VERSION}.",
            supported=[VERSION],
        )  # fmt: skip


UploadId = Annotated[
    UUID, Depends(id_in_path("upload_id", "The upload's id.", resumable_uploads.no_such_upload))
]
router = APIRouter(tags=["uploads"])
_SPEAKS_TUS = [Depends(_tus)]
_HEADERS: dict[str, Any] = {
    "Tus-Resumable": {"schema": {"const": VERSION}},
    "Upload-Offset": {"schema": {"type": "integer"}, "description": "Bytes that are there."},
    "Upload-Expires": {"schema": {"type": "string"}, "description": "When it runs out."},
}
_BYTES = {"requestBody": {"content": {PIECE: {"schema": {"type": "string", "format": "binary"}}}}}
_LENGTH = Annotated[
    str,
    Header(
        alias="Upload-Length",
        description="Bytes of the whole file.",
        json_schema_extra={"pattern": "^[0-9]{1,15}$"},
    ),
]
_METADATA = Annotated[
    str,
    Header(
        alias="Upload-Metadata",
        max_length=_MOST_METADATA,
        description="`filename` and perhaps `filetype`, each followed by a space and its value in"
        " base64; parted by commas.",
    ),
]
_CHECKSUM = Annotated[
    str | None,
    Header(
        alias="Upload-Checksum",
        max_length=200,
        description=f"Of this request's bytes: {', '.join(_ALGORITHMS)}, a space, base64.",
    ),
]


@router.options("/uploads", status_code=204, summary="What uploads can do", response_class=Response)
async def describe_uploads(api: ApiParts, who: Reader) -> Response:
    """The version of tus, its extensions, and the largest file."""
    headers = {
        "Tus-Resumable": VERSION,
        "Tus-Version": VERSION,
        "Tus-Extension": "creation,creation-with-upload,expiration,termination,checksum",
        "Tus-Max-Size": str(api.runtime.settings.max_file_bytes),
        "Tus-Checksum-Algorithm": ",".join(_ALGORITHMS),
    }
    return Response(status_code=204, headers=headers)


@router.post(
    "/uploads",
    status_code=201,
    summary="Begin an upload",
    dependencies=_SPEAKS_TUS,
    response_class=Response,
    responses={201: {"headers": {**_HEADERS, "Location": {"schema": {"type": "string"}}}}},
    openapi_extra=_BYTES,
)
async def begin_upload(
    request: Request,
    api: ApiParts,
    who: Writer,
    length: _LENGTH = "",
    metadata: _METADATA = "",
    checksum: _CHECKSUM = None,
    _: IdempotencyKey = None,
) -> Response:
    """Declare the length and name of the file; then send the bytes to the `Location` of the answer,
    in any number of requests (the first bytes may be in this one). After the last byte, the id of
    the upload is the id of a file."""
    limit, whole = api.runtime.settings.max_file_bytes, _number("Upload-Length", length)
    if whole > limit:
        raise file_too_large(limit)
    told = _metadata(metadata)
    name = safe_name(told.get("filename", told.get("name", b"")))
    declared = told.get("filetype", told.get("type", b"")).decode("latin-1")
    adds_up = _adds_up(checksum)

    async def act(conn: Connection) -> Response:
        await usage.require_room(conn, who.org_id, whole, api.runtime.settings.quota)
        upload_id = new_id()
        expires_at = await uploads.add(
            conn, upload_id, who.org_id, who.user_id, name=name, media_type=declared[:200],
            length=whole, metadata=metadata, hours=api.runtime.settings.orphan_hours,
        )  # fmt: skip
        return _tus_answer(201, Location=f"/api/uploads/{upload_id}", expires=expires_at, offset=0)

    made = await once(request, api, who, ["upload", whole, metadata], act)
    if content_type(request)[0] != PIECE and whole > 0:
        return made
    upload_id = UUID(made.headers["location"].rpartition("/")[2])
    piece = resumable_uploads.Piece(0, paced(request), adds_up)
    offset = await _go_on(api, caller_of(request, who), upload_id, piece)
    made.headers["Upload-Offset"] = str(offset)
    return made


@router.head(
    "/uploads/{upload_id}",
    summary="How far an upload is",
    dependencies=_SPEAKS_TUS,
    response_class=Response,
    responses={200: {"headers": {**_HEADERS, "Upload-Length": {"schema": {"type": "integer"}}}}},
)
async def ask_offset(request: Request, api: ApiParts, who: Reader, upload_id: UploadId) -> Response:
    """`Upload-Offset` is the number of bytes received: continue with the next one."""
    row, offset = await _looked_up(api, caller_of(request, who), upload_id)
    headers = {"Upload-Length": str(row.length)}
    if row.metadata:
        headers["Upload-Metadata"] = row.metadata
    return _tus_answer(200, expires=row.expires_at, offset=offset, **headers)


@router.get(
    "/uploads/{upload_id}",
    summary="Show an upload",
    responses={200: {"model": UploadShape}},
)
async def show_upload(
    request: Request, api: ApiParts, who: Reader, upload_id: UploadId
) -> Response:
    """The progress as JSON; `fileId` once the upload is complete."""
    row, offset = await _looked_up(api, caller_of(request, who), upload_id)
    shown = {
        "id": str(row.id),
        "name": row.name,
        "length": row.length,
        "offset": offset,
        "fileId": str(row.id) if offset == row.length else None,
        "createdAt": row.created_at,
        "expiresAt": row.expires_at,
    }
    return answer(shown)


@router.patch(
    "/uploads/{upload_id}",
    status_code=204,
    summary="Go on with an upload",
    dependencies=_SPEAKS_TUS,
    response_class=Response,
    responses={204: {"headers": _HEADERS}},
    openapi_extra={"requestBody": {**_BYTES["requestBody"], "required": True}},
)
async def continue_upload(
    request: Request,
    api: ApiParts,
    who: Writer,
    upload_id: UploadId,
    offset: Annotated[
        str,
        Header(
            alias="Upload-Offset",
            description="Where the bytes go.",
            json_schema_extra={"pattern": "^[0-9]{1,15}$"},
        ),
    ] = "",
    checksum: _CHECKSUM = None,
) -> Response:
    """Bytes from `Upload-Offset` on. Bytes that arrived before a connection broke are kept."""
    if content_type(request)[0] != PIECE:
        raise BadInput("UNSUPPORTED_TYPE", f"Send the bytes as {PIECE}.")
    begins = _number("Upload-Offset", offset)
    piece = resumable_uploads.Piece(begins, paced(request), _adds_up(checksum))
    return _tus_answer(204, offset=await _go_on(api, caller_of(request, who), upload_id, piece))


@router.delete(
    "/uploads/{upload_id}",
    status_code=204,
    summary="Give an upload up",
    dependencies=_SPEAKS_TUS,
    response_class=Response,
)
async def give_up_upload(api: ApiParts, who: Writer, upload_id: UploadId) -> Response:
    """Delete the bytes received so far. A complete file stays as long as a job uses it."""
    async with api.db.scoped(who.scope) as conn:
        await resumable_uploads.find(conn, upload_id)
        await resumable_uploads.give_up(api.runtime, conn, upload_id)
    return _tus_answer(204)


async def _looked_up(api: Api, caller: Caller, upload_id: UUID) -> tuple[uploads.UploadRow, int]:
    transaction = partial(api.db.scoped, caller.who.scope)
    async with transaction(readonly=True) as conn:
        row = await resumable_uploads.find(conn, upload_id)
    return row, await resumable_uploads.offset_of(
        api.runtime, transaction, caller, row, media_type_of
    )


async def _go_on(api: Api, caller: Caller, upload_id: UUID, piece: resumable_uploads.Piece) -> int:
    transaction = partial(api.db.scoped, caller.who.scope)
    async with transaction(readonly=True) as conn:
        row = await resumable_uploads.find(conn, upload_id)
    return await resumable_uploads.go_on(
        api.runtime, transaction, caller, row, piece, media_type_of
    )


def _tus_answer(status: int, **told: Any) -> Response:
    headers = {"Tus-Resumable": VERSION}
    if "offset" in told:
        headers["Upload-Offset"] = str(told.pop("offset"))
    if "expires" in told:
        headers["Upload-Expires"] = format_datetime(told.pop("expires"), usegmt=True)
    return Response(status_code=status, headers={**headers, **told})


def _number(header: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 15):
        raise BadInput("INVALID_PARAMETERS", f"{header}: send a number of bytes.")
    return int(text)


def _metadata(text: str) -> Mapping[str, bytes]:
    found: dict[str, bytes] = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = pair.partition(" ")
        try:
            found[name] = base64.b64decode(value, validate=True)
        except binascii.Error as error:
            raise BadInput(
                "INVALID_PARAMETERS", f"Upload-Metadata: the value of {name[:50]!r} is not base64."
            ) from error
    return found


def _adds_up(text: str | None) -> tuple[str, bytes] | None:
    if text is None:
        return None
    algorithm, _, value = text.partition(" ")
    if algorithm in _ALGORITHMS:
        with suppress(binascii.Error):
            return algorithm, base64.b64decode(value, validate=True)
    raise BadInput(
        "BAD_CHECKSUM_HEADER",
        f"Upload-Checksum: send an algorithm ({', '.join(_ALGORITHMS)}), a space, and the digest in"
        " base64.",
    )
