"""Results as a file, written while they are read."""

from __future__ import annotations

import asyncio
import re
from contextlib import AbstractAsyncContextManager
from typing import Annotated, Any
from urllib.parse import quote
from uuid import UUID

from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse
from starlette.types import Send

from penstock.api.catalog.product_files import catalog_pieces
from penstock.api.catalog.shop_writers import PRODUCT_FORMATS, SHOP_WRITERS
from penstock.api.http.access import Api, ApiParts, JobId, Reader
from penstock.api.jobs.schemas import ExportQuery
from penstock.app.exports import ExportFilter, check_variants, export_pieces
from penstock.app.job_control import get_job
from penstock.app.rows.export_templates import get_template
from penstock.engine.reprocess import require_rows
from penstock.formats.writing.registry import FORMATS
from penstock.model.errors import BadInput
from penstock.model.export import RowWriter
from penstock.store.accounts.accounts import Principal
from penstock.store.catalog.catalog import ProductFilter
from penstock.store.database import Connection
from penstock.store.jobs.job_rows import JobDetails

router = APIRouter(tags=["items"])
_PIECE_BYTES = 64 * 1024
_PATIENCE_S = 30.0
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_ENDINGS = re.compile(
    r"\.(csv|tsv|txt|xlsx|xlsm|xls|ods|json|ndjson|jsonl|xml|html?)?(\.(gz|zip))?$", re.IGNORECASE
)
EXPORTED: dict[str, Any] = {one.media_type.split(";")[0]: {} for one in FORMATS.values()}


@router.post(
    "/jobs/{job_id}/export",
    summary="Export results",
    response_class=StreamingResponse,
    responses={200: {"content": EXPORTED}},
)
async def export_job(
    api: ApiParts, who: Reader, job_id: JobId, query: Annotated[ExportQuery, Query()]
) -> Response:
    """The results of rows that did not fail, in row order, as the grid shows them; `which=all`: all
    rows, with their status and problems; `which=errors`: one line per problem;
    `which=original-with-errors`: the supplier's own columns of the rows with problems, and why.
    In XLSX bad cells are coloured and say why. In CSV cells that a spreadsheet would run as a
    formula are written with an apostrophe before them. As a file of a shop system (`shopify`,
    `woocommerce`, `magento`, `prestashop`, `prestashop-combinations`, `akeneo`): the products that
    the job wrote, as they are in the catalog now."""
    if query.format in SHOP_WRITERS:
        return await _shop_file(api, who, job_id, query)
    pages = pages_as(query.format)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        job = await get_job(conn, job_id)
        template = None
        if query.template:
            template = await get_template(conn, job.org_id, query.template)
    require_rows(job.pruned_at, "exported")
    wanted = ExportFilter(
        query.which, query.statuses, query.code or None, query.q.strip(), query.variants
    )
    check_variants(api.runtime, job, wanted)
    name = f"{_stem(job)} {'results' if query.which == 'valid' else query.which}"
    headers = {"Content-Disposition": attachment(name, query.format)}
    body = export_pieces(
        api.runtime, lambda: api.export_db.scoped(who.scope, readonly=True), job, wanted, pages,
        template,
    )  # fmt: skip
    return FileStream(body, headers=headers, media_type=pages.media_type)


async def _shop_file(api: Api, who: Principal, job_id: UUID, query: ExportQuery) -> Response:
    other = (query.statuses, query.code, query.q, query.template, query.variants)
    if query.which != "valid" or any(other):
        raise BadInput(
            "INVALID_PARAMETERS",
            f"The format {query.format!r} has all products that the job wrote: leave out the other"
            " parameters.",
        )

    def opened() -> AbstractAsyncContextManager[Connection]:
        return api.export_db.scoped(who.scope, readonly=True)

    async with opened() as conn:
        job = await get_job(conn, job_id)
    writer = SHOP_WRITERS[query.format]
    wanted = ProductFilter(job.org_id, job_id=job_id)
    headers = {"Content-Disposition": attachment(f"{_stem(job)} {query.format}", writer.extension)}
    body = catalog_pieces(opened, wanted, writer)
    return FileStream(body, headers=headers, media_type=writer.media_type)


class FileStream(StreamingResponse):
    """A file that is sent while it is written. A client that reads less than a piece in
    `_PATIENCE_S` is disconnected, since it holds a turn that others wait for."""

    async def stream_response(self, send: Send) -> None:
        await send(
            {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        )
        async for written in self.body_iterator:
            content = written.encode() if isinstance(written, str) else written
            for start in range(0, len(content), _PIECE_BYTES):
                piece = bytes(content[start : start + _PIECE_BYTES])
                async with asyncio.timeout(_PATIENCE_S):
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def pages_as(format_name: str) -> type[RowWriter]:
    pages = FORMATS.get(format_name)
    if pages is None:
        raise BadInput(
            "INVALID_PARAMETERS",
            f"There is no export as {format_name!r}. Supported: {', '.join(PRODUCT_FORMATS)}.",
            supported=list(PRODUCT_FORMATS),
        )
    return pages


def _stem(job: JobDetails) -> str:
    """The name of the job without the extension of its file, so that an export never has the name
    of the uploaded file."""
    name = str(job.name)
    return _ENDINGS.sub("", name) or name


def attachment(name: str, extension: str) -> str:
    """An ASCII name for every client, and the full name for those that support it."""
    stem = name.removesuffix(f".{extension}")
    plain = _UNSAFE.sub("-", stem).strip("-.") or "job"
    return (
        f'attachment; filename="{plain[:100]}.{extension}"; '
        f"filename*=UTF-8''{quote(stem, safe='')}.{extension}"
    )
