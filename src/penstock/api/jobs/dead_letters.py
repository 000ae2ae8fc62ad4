"""Dead letters: list what failed for good, reprocess it, or discard it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response

from penstock.api.files.job_requests import receipt_answer
from penstock.api.http.access import Api, ApiParts, Reader, Writer, caller_of, id_in_path
from penstock.api.http.answers import answer
from penstock.api.http.bodies import body_of, order_of
from penstock.api.http.cursors import from_cursor, to_cursor
from penstock.api.http.idempotency import IdempotencyKey, once
from penstock.api.jobs.dead_letter_schemas import (
    BulkDiscardOrder,
    BulkLetters,
    BulkReprocessOrder,
    DiscardOrder,
    FullLetter,
    GroupPage,
    GroupsQuery,
    LetterPage,
    LettersQuery,
    done_shape,
    full_letter_shape,
    group_shape,
    letter_shape,
)
from penstock.api.jobs.schemas import Receipt
from penstock.app import dead_letters as engine
from penstock.app.dead_letters import Done
from penstock.model.ticket import Ticket
from penstock.store.accounts.accounts import Principal
from penstock.store.database import Connection
from penstock.store.jobs import dead_letters
from penstock.store.jobs.dead_letters import LetterCursor

router = APIRouter(tags=["dead letters"])
_BULK: dict[int | str, dict[str, Any]] = {200: {"model": BulkLetters}}


LetterId = Annotated[
    UUID, Depends(id_in_path("letter_id", "The dead letter's id.", engine.no_such_letter))
]


@router.get("/dead-letters", summary="List dead letters", responses={200: {"model": LetterPage}})
async def list_letters(
    api: ApiParts, who: Reader, query: Annotated[LettersQuery, Query()]
) -> Response:
    """Jobs that failed for good, newest first."""
    which, states = query.matching(), sorted(set(query.state))
    this_list = f"letters {states} {which}"
    async with api.db.scoped(who.scope, readonly=True) as conn:
        rows = await dead_letters.list_letters(
            conn, states, which, _place(query.after, this_list), query.page_size + 1
        )
    page = rows[: query.page_size]
    following = None
    if len(rows) > len(page):
        following = to_cursor(this_list, page[-1].last_failed_at, str(page[-1].id))
    return answer({"items": [letter_shape(row) for row in page], "next": following})


@router.get(
    "/dead-letters/groups", summary="Group dead letters", responses={200: {"model": GroupPage}}
)
async def list_groups(
    api: ApiParts, who: Reader, query: Annotated[GroupsQuery, Query()]
) -> Response:
    """Open letters by signature: failures with the same cause. The cost does not depend on the
    number of letters."""
    after = None
    if query.after:
        [after] = from_cursor(query.after, "letter groups", str)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        rows = await dead_letters.list_groups(conn, after, query.page_size + 1)
    page = rows[: query.page_size]
    following = None
    if len(rows) > len(page):
        following = to_cursor("letter groups", page[-1].signature)
    return answer({"items": [group_shape(row) for row in page], "next": following})


@router.post(
    "/dead-letters/reprocess",
    summary="Run all that match again",
    responses=_BULK,
    openapi_extra=body_of(BulkReprocessOrder),
)
async def reprocess_letters(request: Request, api: ApiParts, who: Writer) -> Response:
    """Each letter becomes a new job. Up to 1,000 letters a call: while `more`, call again."""
    order = await order_of(request, BulkReprocessOrder)
    which, this_list = order.matching(), f"reprocess {order.matching()}"
    if order.dry_run:
        return await _count(api, who, order)
    done = await engine.reprocess_all(
        api.runtime, lambda: api.db.scoped(who.scope), caller_of(request, who), which,
        _place(order.after, this_list),
    )  # fmt: skip
    return _bulk_answer(done, this_list)


@router.post(
    "/dead-letters/discard",
    summary="Discard all that match",
    responses=_BULK,
    openapi_extra=body_of(BulkDiscardOrder),
)
async def discard_letters(request: Request, api: ApiParts, who: Writer) -> Response:
    """With a reason. Up to 1,000 letters a call: while `more`, call again."""
    order = await order_of(request, BulkDiscardOrder)
    which, this_list = order.matching(), f"discard {order.matching()}"
    if order.dry_run:
        return await _count(api, who, order)
    done = await engine.discard_all(
        api.runtime, lambda: api.db.scoped(who.scope), caller_of(request, who), which,
        _place(order.after, this_list), order.reason,
    )  # fmt: skip
    return _bulk_answer(done, this_list)


@router.get(
    "/dead-letters/{letter_id}",
    summary="Show a dead letter",
    responses={200: {"model": FullLetter}},
)
async def show_letter(api: ApiParts, who: Reader, letter_id: LetterId) -> Response:
    """One letter with all details; the stack trace for admins only."""
    return answer(await _shown(api, who, letter_id))


@router.post(
    "/dead-letters/{letter_id}/reprocess",
    status_code=202,
    summary="Run a dead letter's job again",
    responses={202: {"model": Receipt, "headers": {"Location": {"schema": {"type": "string"}}}}},
)
async def reprocess_letter(
    request: Request, api: ApiParts, who: Writer, letter_id: LetterId, _: IdempotencyKey = None
) -> Response:
    """Run the job again as a new job of the same user, at priority 10. A letter can be reprocessed
    once."""
    caller = caller_of(request, who)
    lanes: list[str] = []

    async def act(conn: Connection) -> Response:
        receipt = await engine.reprocess(api.runtime, conn, caller, letter_id)
        lanes.append(receipt.lane)
        return receipt_answer(receipt)

    made = await once(request, api, who, ["letter", letter_id], act)
    for lane in lanes:
        await api.runtime.broker.send(Ticket(lane))
    return made


@router.post(
    "/dead-letters/{letter_id}/discard",
    summary="Discard a dead letter",
    responses={200: {"model": FullLetter}},
    openapi_extra=body_of(DiscardOrder),
)
async def discard_letter(
    request: Request, api: ApiParts, who: Writer, letter_id: LetterId
) -> Response:
    """The letter can be read until it expires, and is never reprocessed."""
    order = await order_of(request, DiscardOrder)
    async with api.db.scoped(who.scope) as conn:
        await engine.discard(conn, caller_of(request, who), letter_id, order.reason)
    return answer(await _shown(api, who, letter_id))


async def _shown(api: Api, who: Principal, letter_id: UUID) -> dict[str, Any]:
    async with api.db.scoped(who.scope, readonly=True) as conn:
        row = await dead_letters.get_letter(conn, letter_id)
        if row is None:
            raise engine.no_such_letter()
        trace = await dead_letters.trace_of(conn, letter_id) if who.role == "admin" else None
    return full_letter_shape(row, trace)


async def _count(api: Api, who: Principal, order: BulkReprocessOrder) -> Response:
    async with api.db.scoped(who.scope, readonly=True) as conn:
        found = await engine.count(conn, order.matching())
    return answer(done_shape(found, dry_run=True, following=None))


def _bulk_answer(done: Done, this_list: str) -> Response:
    following = None
    if done.more and done.place is not None:
        following = to_cursor(this_list, done.place[0], str(done.place[1]))
    return answer(done_shape(done, dry_run=False, following=following))


def _place(after: str, this_list: str) -> LetterCursor | None:
    if not after:
        return None
    at, letter_id = from_cursor(after, this_list, datetime, UUID)
    return at, letter_id
