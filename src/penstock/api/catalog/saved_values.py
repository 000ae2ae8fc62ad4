"""What words in the files of a source mean."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from penstock.api.http.access import ApiParts, JobId, Reader, Writer, caller_of, org_of
from penstock.api.http.answers import answer
from penstock.api.http.bodies import body_of, order_of
from penstock.api.http.cursors import from_cursor, to_cursor
from penstock.api.http.schemas import PRINTABLE, OrgQuery, Shape
from penstock.app.job_control import get_job
from penstock.app.rows import saved_values as app
from penstock.catalog.fields import full_target
from penstock.catalog.values.meanings import word_key
from penstock.model.errors import BadInput
from penstock.store.catalog import saved_values as store

router = APIRouter(tags=["profiles"])
_Name = Annotated[str, Field(min_length=1, max_length=200, pattern=PRINTABLE)]


class SavedWord(Shape):
    source: str
    field: str
    word: str = Field(description="In small letters.")
    value: str = Field(description="The text that is read instead; empty: an empty cell.")


class ListedWord(SavedWord):
    created_at: datetime


class WordPage(Shape):
    items: list[ListedWord]
    next: str | None


class WordsQuery(OrgQuery):
    source: str = Field("", max_length=200, pattern=PRINTABLE)
    page_size: int = Field(100, ge=1, le=200)
    after: str = Field("", description="`next` of the page before.")


class RememberOrder(Shape):
    """`Auslauf` of the field `quantity` is read as `0` in files of this source."""

    source: _Name = Field(examples=["acme"])
    field: _Name = Field(examples=["availability.quantity"])
    word: _Name = Field(examples=["Auslauf"])
    value: str = Field("", max_length=200, pattern=PRINTABLE, examples=["0"])


class ForgetQuery(OrgQuery):
    source: _Name
    field: _Name
    word: _Name


class UnreadWord(Shape):
    column: str | None
    field: str
    value: str
    code: str
    rows: int
    first_row: int


class UnreadWords(Shape):
    source: str = Field(description="The source of the job's products.")
    items: list[UnreadWord] = Field(description="The most frequent first.")


@router.get("/saved-values", summary="List saved values", responses={200: {"model": WordPage}})
async def list_values(
    api: ApiParts, who: Reader, query: Annotated[WordsQuery, Query()]
) -> Response:
    """By source, field and word."""
    after = ("", "", "")
    this_list = f"saved values {query.source}"
    if query.after:
        first, second, third = from_cursor(query.after, this_list, str, str, str)
        after = (first, second, third)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        org_id = await org_of(conn, who, query.org)
        rows = await store.list_values(
            conn, org_id, query.source or None, after, query.page_size + 1
        )
    page = rows[: query.page_size]
    last = page[-1] if len(rows) > len(page) else None
    following = None if last is None else to_cursor(this_list, last.source, last.field, last.word)
    items = [
        {
            "source": one.source, "field": one.field, "word": one.word, "value": one.value,
            "createdAt": one.created_at,
        }
        for one in page
    ]  # fmt: skip
    return answer({"items": items, "next": following})


@router.put(
    "/saved-values",
    summary="Remember a value",
    responses={200: {"model": SavedWord}},
    openapi_extra=body_of(RememberOrder),
)
async def remember_value(
    request: Request, api: ApiParts, who: Writer, query: Annotated[OrgQuery, Query()]
) -> Response:
    """From the next file of the source on, a cell with this word is read as the value. Files that
    were read before change when they are remapped."""
    order = await order_of(request, RememberOrder)
    field, word = full_target(order.field), word_key(order.word)
    if field is None or not word:
        wrong = f"There is no field {order.field!r}." if word else "The word is empty."
        raise BadInput("INVALID_PARAMETERS", wrong)
    value = order.value.strip()
    async with api.db.scoped(who.scope) as conn:
        org_id = await org_of(conn, who, query.org)
        caller = caller_of(request, who)
        await app.remember(conn, caller, org_id, order.source, field, word, value)
    return answer({"source": order.source, "field": field, "word": word, "value": value})


@router.delete("/saved-values", status_code=204, summary="Forget a value")
async def forget_value(
    request: Request, api: ApiParts, who: Writer, query: Annotated[ForgetQuery, Query()]
) -> Response:
    """From the next file of the source on, the word is no longer replaced."""
    async with api.db.scoped(who.scope) as conn:
        org_id = await org_of(conn, who, query.org)
        await app.forget(
            conn, caller_of(request, who), org_id, query.source,
            full_target(query.field) or query.field, word_key(query.word),
        )  # fmt: skip
    return Response(status_code=204)


@router.get(
    "/jobs/{job_id}/unread-values",
    summary="List values that could not be read",
    responses={200: {"model": UnreadWords}},
)
async def unread_values(api: ApiParts, who: Reader, job_id: JobId) -> Response:
    """Values that occur in several rows of the job, with the field they were read for."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        source, found = await app.offered(conn, await get_job(conn, job_id))
    items = [
        {
            "column": one.column, "field": one.field, "value": one.value, "code": one.code,
            "rows": one.rows, "firstRow": one.first_row,
        }
        for one in found
    ]  # fmt: skip
    return answer({"source": source, "items": items})
