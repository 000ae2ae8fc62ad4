"""Results as a file, written while they are read."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Sequence
from typing import Annotated, Any
from urllib.parse import quote
from uuid import UUID

from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse

from penstock.api.access import Api, ApiParts, JobId, Reader
from penstock.api.schemas import ExportQuery
from penstock.api.shapes import load_job
from penstock.formats.export import CsvPages
from penstock.model.errors import BadInput, PenstockError
from penstock.store import items
from penstock.store.accounts import Principal
from penstock.store.database import from_json

router = APIRouter(tags=["items"])
FORMATS = ("csv",)
PAGE_ROWS = 2000
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
    pages = _pages(api, who, job_id)
    headers = {"Content-Disposition": _attachment(job["name"], query.format)}
    body = _csv(pages, _columns(api, job))
    return StreamingResponse(body, headers=headers, media_type="text/csv; charset=utf-8")


def _columns(api: Api, job: Any) -> Sequence[str] | None:
    """As the pipeline shows them, else as the file has them; None: as the results turn out."""
    try:
        columns = api.parts.pipeline(job["pipeline"]).columns
    except PenstockError:
        columns = None
    header: list[str] | None = from_json(job["header"])
    return columns or header


async def _pages(
    api: Api, who: Principal, job_id: UUID
) -> AsyncGenerator[list[dict[str, Any]], None]:
    """Short transactions: one that stays open for a whole export slows every claim down."""
    after_row = 0
    while True:
        async with api.db.scoped(who.scope, readonly=True) as conn:
            rows = await items.results(conn, job_id, after_row, PAGE_ROWS)
        yield [from_json(row["result"]) for row in rows if row["result"] is not None]
        if len(rows) < PAGE_ROWS:
            return
        after_row = rows[-1]["row_no"]


async def _csv(
    pages: AsyncGenerator[list[dict[str, Any]], None], columns: Sequence[str] | None
) -> AsyncGenerator[bytes, None]:
    writer = None
    async for page in pages:
        if writer is None:
            names = columns or list(dict.fromkeys(key for result in page for key in result))
            if not names:
                continue
            writer = CsvPages(names)
            yield writer.head()
        yield writer.page(page)


def _attachment(name: str, extension: str) -> str:
    """A name any system takes, and the real one for those that can."""
    stem = name.removesuffix(f".{extension}")
    plain = _UNSAFE.sub("-", stem).strip("-.") or "job"
    return (
        f'attachment; filename="{plain[:100]}.{extension}"; '
        f"filename*=UTF-8''{quote(stem, safe='')}.{extension}"
    )
