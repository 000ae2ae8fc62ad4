"""Uploads."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from penstock.api.files.schemas import StoredFile
from penstock.api.http.access import ApiParts, Writer, address_of
from penstock.api.http.answers import answer
from penstock.api.http.forms import FILE, received_form
from penstock.api.http.idempotency import IdempotencyKey, idempotency_key, once
from penstock.api.http.multipart import bad_multipart
from penstock.app.uploads import keep_upload
from penstock.store.database import Connection

router = APIRouter(tags=["files"])
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
    """Stored durably when this answers; use its id for any number of jobs. Nothing is refused for
    its content, but for what is not the picture it calls itself."""
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
