"""Uploads."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Request, Response
from starlette.responses import StreamingResponse

from penstock.api.files.schemas import StoredFile
from penstock.api.http.access import ApiParts, Reader, Writer, address_of, parse_id
from penstock.api.http.answers import answer
from penstock.api.http.forms import FILE, received_form
from penstock.api.http.idempotency import IdempotencyKey, idempotency_key, once
from penstock.api.http.multipart import bad_multipart
from penstock.app.file_contents import get_content, pieces_of, signed_address
from penstock.app.uploads import keep_upload
from penstock.model.errors import NotThere
from penstock.store.database import Connection

router = APIRouter(tags=["files"])
_ANY = "application/octet-stream"
_FORM = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {"file": {"type": "string", "format": "binary"}},
                    "additionalProperties": False,
                }
            }
        },
    }
}


@router.post(
    "/files",
    status_code=201,
    summary="Upload a file",
    responses={201: {"model": StoredFile}},
    openapi_extra=_FORM,
)
async def create_file(
    request: Request, api: ApiParts, who: Writer, _: IdempotencyKey = None
) -> Response:
    """The file is stored durably before the answer; its id can be used for any number of jobs. The
    content is not checked, except that a picture must be of the type that it claims."""
    idempotency_key(request)
    async with received_form(request, api.runtime, frozenset({FILE})) as form:
        upload = form.upload
        if upload is None:
            raise bad_multipart("The form has no part named 'file'.")

        async def keep(conn: Connection) -> Response:
            created_at = await keep_upload(api.runtime, conn, who, upload, address_of(request))
            shown = {
                "id": str(upload.id),
                "name": upload.name,
                "size": upload.blob.size,
                "sha256": upload.blob.sha256,
                "mediaType": upload.media_type,
                "createdAt": created_at,
            }
            return answer(shown, 201)

        return await once(request, api, who, ["file", upload.name, upload.blob.sha256], keep)


async def _file_id(file_id: Annotated[str, Path(description="The file's id.")]) -> UUID:
    parsed = parse_id(file_id)
    if parsed is None:
        raise NotThere("FILE_NOT_FOUND", "There is no such file.")
    return parsed


@router.get(
    "/files/{file_id}/content",
    summary="Download a file",
    response_class=Response,
    responses={
        200: {"content": {_ANY: {"schema": {"type": "string", "format": "binary"}}}},
        307: {"description": "The file is in a bucket: `Location` opens it for five minutes."},
    },
)
async def download_file(
    api: ApiParts, who: Reader, file_id: Annotated[UUID, Depends(_file_id)]
) -> Response:
    """The file as it was uploaded, with headers that keep browsers from running it."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        found = await get_content(conn, file_id)
    address = await signed_address(api.runtime, found)
    if address is not None:
        headers = {"Location": address, "Cache-Control": "no-store"}
        return Response(status_code=307, headers=headers)
    headers = {
        "Content-Disposition": f"attachment; filename*=utf-8''{quote(found.name, safe='')}",
        "Content-Length": str(found.size),
        "X-Content-Type-Options": "nosniff",
    }
    return StreamingResponse(pieces_of(api.runtime, found), 200, headers, media_type=_ANY)
