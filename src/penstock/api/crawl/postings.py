"""Job postings: list, show, delete, export."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import StreamingResponse

from penstock.api.crawl.page_schemas import (
    DeletedPosting,
    PostingFilterQuery,
    PostingPage,
    PostingsExportQuery,
    PostingShape,
    PostingsQuery,
    posting_shape,
)
from penstock.api.http.access import ApiParts, Reader, Writer, caller_of, id_in_path
from penstock.api.http.answers import answer
from penstock.api.http.cursors import from_cursor, to_cursor
from penstock.api.jobs.export import EXPORTED, FileStream, attachment, pages_as
from penstock.app.crawl import postings as app
from penstock.app.crawl.postings import PostingFilter, no_such_posting, posting_pieces
from penstock.store.crawl import postings
from penstock.store.database import Connection

router = APIRouter(tags=["postings"])


PostingId = Annotated[UUID, Depends(id_in_path("posting_id", "The posting's id.", no_such_posting))]


def _filter(query: PostingFilterQuery) -> PostingFilter:
    return PostingFilter(query.q.strip(), query.company or None, query.state, query.run_id)


@router.get("/postings", summary="List job postings", responses={200: {"model": PostingPage}})
async def list_postings(
    api: ApiParts, who: Reader, query: Annotated[PostingsQuery, Query()]
) -> Response:
    """Job postings of your org, oldest first, that have all words of `q`."""
    wanted = _filter(query)
    this_list = f"postings {wanted}"
    after = None
    if query.after:
        [after] = from_cursor(query.after, this_list, UUID)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        found = await postings.list_postings(
            conn, after, query.page_size + 1, company=wanted.company, state=wanted.state,
            text=wanted.text, job_id=wanted.job_id,
        )  # fmt: skip
    shown = found[: query.page_size]
    following = to_cursor(this_list, str(shown[-1].id)) if len(found) > len(shown) else None
    return answer({"items": [posting_shape(one) for one in shown], "next": following})


@router.get(
    "/postings/{posting_id}", summary="Show a job posting", responses={200: {"model": PostingShape}}
)
async def show_posting(api: ApiParts, who: Reader, posting_id: PostingId) -> Response:
    """One job posting, with where each field comes from."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        found = await postings.get_posting(conn, posting_id)
    if found is None:
        raise no_such_posting()
    return answer(posting_shape(found))


@router.delete(
    "/postings/{posting_id}",
    summary="Delete a job posting",
    responses={200: {"model": DeletedPosting}},
)
async def delete_posting(
    request: Request, api: ApiParts, who: Writer, posting_id: PostingId
) -> Response:
    """Its page stays; the posting comes back when a run finds that the page has changed."""
    async with api.db.scoped(who.scope) as conn:
        await app.delete_posting(conn, caller_of(request, who), posting_id)
    return answer({"id": str(posting_id)})


@router.post(
    "/postings/export",
    summary="Export job postings",
    response_class=StreamingResponse,
    responses={200: {"content": EXPORTED}},
)
async def export_postings(
    api: ApiParts, who: Reader, query: Annotated[PostingsExportQuery, Query()]
) -> Response:
    """Those that match, as lines with a column per field, or in `json` and `ndjson` as
    documents."""
    pages = pages_as(query.format)

    def opened() -> AbstractAsyncContextManager[Connection]:
        return api.export_db.scoped(who.scope, readonly=True)

    headers = {"Content-Disposition": attachment("job-postings", query.format)}
    body = posting_pieces(opened, _filter(query), pages)
    return FileStream(body, headers=headers, media_type=pages.media_type)
