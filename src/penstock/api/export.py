"""Results as a file, written while they are read."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse

from penstock.api.access import Api, ApiParts, JobId, Reader
from penstock.api.schemas import ExportQuery
from penstock.api.shapes import load_job
from penstock.engine.results import columns_of, result_pages
from penstock.formats.export import CsvPages
from penstock.model.errors import BadInput
from penstock.store.accounts import Principal
from penstock.store.database import from_json

router = APIRouter(tags=["items"])
FORMATS = ("csv",)
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@router.post(
    "/jobs/{job_id}/export",
    summary="Export results",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/csv": {"schema": {"type": "string"}}}}},
)
async def export_job(
    api: ApiParts, who: Reader, job_id: JobId, query: Annotated[ExportQuery, Query()]
) -> Response:
    """The results in row order, of the items that have one. Cells that a spreadsheet would run as
    a formula are written with an apostrophe before them."""
    if query.format not in FORMATS:
        raise BadInput(
            "INVALID_PARAMETERS",
            f"There is no export as {query.format!r}. Supported: {', '.join(FORMATS)}.",
            supported=FORMATS,
        )
    async with api.db.scoped(who.scope, readonly=True) as conn:
        job = await load_job(conn, job_id)
    headers = {"Content-Disposition": _attachment(job["name"], query.format)}
    body = _csv(api, who, job)
    return StreamingResponse(body, headers=headers, media_type="text/csv; charset=utf-8")


async def _csv(api: Api, who: Principal, job: Any) -> AsyncGenerator[bytes, None]:
    writer = None
    async for page in result_pages(lambda: api.db.scoped(who.scope, readonly=True), job["id"]):
        if writer is None:
            writer = CsvPages(columns_of(api.parts, job, page))
            yield writer.head()
        yield writer.page(from_json(row["result"]) for row in page if row["result"] is not None)


def _attachment(name: str, extension: str) -> str:
    """A name any system takes, and the real one for those that can."""
    stem = name.removesuffix(f".{extension}")
    plain = _UNSAFE.sub("-", stem).strip("-.") or "job"
    return (
        f'attachment; filename="{plain[:100]}.{extension}"; '
        f"filename*=UTF-8''{quote(stem, safe='')}.{extension}"
    )
