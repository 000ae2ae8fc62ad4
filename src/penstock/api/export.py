"""Results as a file, written while they are read."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Sequence
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse

from penstock.api.access import Api, ApiParts, JobId, Reader
from penstock.api.schemas import ExportQuery
from penstock.api.shapes import load_job
from penstock.engine.results import Wanted, export_columns, export_rows, result_pages
from penstock.formats.export import CsvPages, JsonPages, NdjsonPages, Pages
from penstock.formats.xlsx import XlsxPages
from penstock.model.errors import BadInput
from penstock.store.accounts import Principal

router = APIRouter(tags=["items"])
FORMATS: dict[str, type[Pages]] = {
    one.extension: one for one in (CsvPages, XlsxPages, JsonPages, NdjsonPages)
}
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_CONTENT: dict[str, Any] = {one.media_type.split(";")[0]: {} for one in FORMATS.values()}


@router.post(
    "/jobs/{job_id}/export",
    summary="Export results",
    response_class=StreamingResponse,
    responses={200: {"content": _CONTENT}},
)
async def export_job(
    api: ApiParts, who: Reader, job_id: JobId, query: Annotated[ExportQuery, Query()]
) -> Response:
    """The results in row order, exactly as the grid shows them; `which=errors`: one line per
    problem; `which=original-with-errors`: the supplier's own columns of the rows with problems, and
    why.
    In XLSX bad cells are coloured and say why. In CSV cells that a spreadsheet would run as a
    formula are written with an apostrophe before them."""
    pages = FORMATS.get(query.format)
    if pages is None:
        raise BadInput(
            "INVALID_PARAMETERS",
            f"There is no export as {query.format!r}. Supported: {', '.join(FORMATS)}.",
            supported=list(FORMATS),
        )
    async with api.db.scoped(who.scope, readonly=True) as conn:
        job = await load_job(conn, job_id)
    wanted = Wanted(query.which, query.statuses, query.code or None)
    name = job["name"] if query.which == "all" else f"{job['name']} {query.which}"
    headers = {"Content-Disposition": _attachment(name, query.format)}
    body = _written(api, who, job, wanted, pages)
    return StreamingResponse(body, headers=headers, media_type=pages.media_type)


async def _written(
    api: Api, who: Principal, job: Any, wanted: Wanted, kind: type[Pages]
) -> AsyncGenerator[bytes, None]:
    """In a thread: a page of a workbook takes longer than others should wait."""
    writer: Pages | None = None
    columns: Sequence[str] = ()
    scope = who.scope
    async for page in result_pages(lambda: api.db.scoped(scope, readonly=True), job["id"], wanted):
        if writer is None:
            columns = export_columns(api.parts, job, wanted, page)
            writer = kind(columns)
            yield writer.head()
        yield await asyncio.to_thread(_page, writer, wanted, columns, page)
    if writer is not None:
        yield await asyncio.to_thread(writer.end)


def _page(writer: Pages, wanted: Wanted, columns: Sequence[str], page: list[Any]) -> bytes:
    return writer.page(export_rows(wanted, columns, page))


def _attachment(name: str, extension: str) -> str:
    """A name any system takes, and the real one for those that can."""
    stem = name.removesuffix(f".{extension}")
    plain = _UNSAFE.sub("-", stem).strip("-.") or "job"
    return (
        f'attachment; filename="{plain[:100]}.{extension}"; '
        f"filename*=UTF-8''{quote(stem, safe='')}.{extension}"
    )
