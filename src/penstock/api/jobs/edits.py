"""Edit many rows of a job, and undo edits."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from penstock.api.http.access import Api, ApiParts, JobId, Reader, Writer, address_of
from penstock.api.http.answers import answer
from penstock.api.http.bodies import body_of, order_of
from penstock.api.jobs.edit_schemas import (
    EditList,
    EditOrder,
    EditPreview,
    EditReceipt,
    UndoEditOrder,
)
from penstock.api.jobs.shapes import load_job_shape
from penstock.app.bulk_operations import go_on
from penstock.app.job_control import get_job
from penstock.app.rows import edits
from penstock.model.ticket import Ticket
from penstock.store.accounts.accounts import Principal
from penstock.store.jobs import edits as store

router = APIRouter(tags=["items"])
# A small edit is finished before the answer.
_SECONDS = 1.0
_MOST_LISTED = 50
_STARTED: dict[int | str, dict[str, Any]] = {
    200: {"model": EditReceipt}, 202: {"model": EditReceipt},
}  # fmt: skip


@router.post(
    "/jobs/{job_id}/items/fix",
    summary="Edit many items",
    responses={200: {"model": EditReceipt | EditPreview}, 202: {"model": EditReceipt}},
    openapi_extra=body_of(EditOrder),
)
async def edit_items(request: Request, api: ApiParts, who: Writer, job_id: JobId) -> Response:
    """Change cells of all rows that match, and run these rows again from the start, with the rows
    that share a name with them. With `dryRun` nothing changes: the answer says how many rows would
    change, and how. A large edit goes on in the background (202). `POST /jobs/{id}/edits/undo`
    undoes it."""
    order = await order_of(request, EditOrder)
    wanted, change = order.row_filter(), order.change.change()
    if order.dry_run:
        async with api.db.scoped(who.scope, readonly=True) as conn:
            await get_job(conn, job_id)
            seen = await edits.preview(conn, job_id, wanted, change)
        changes = [
            {"row": one.row_no, "before": dict(one.before), "after": dict(one.after)}
            for one in seen.first
        ]
        return answer({"rows": seen.rows, "capped": seen.capped, "changes": changes})
    async with api.db.scoped(who.scope) as conn:
        await get_job(conn, job_id)
        started = await edits.start(conn, who, job_id, wanted, change, address_of(request))
    return await _answer(api, who, job_id, started)


@router.get("/jobs/{job_id}/edits", summary="List edits", responses={200: {"model": EditList}})
async def list_edits(api: ApiParts, who: Reader, job_id: JobId) -> Response:
    """The last edits of rows of the job, including edits of single rows."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        await get_job(conn, job_id)
        found = await store.list_edits(conn, job_id, _MOST_LISTED)
        last = await store.last_edit(conn, job_id)
    shown = [
        {
            "id": str(one.id), "select": one.selection, "change": one.change, "rows": one.rows,
            "state": one.state, "editedBy": one.edited_by, "createdAt": one.created_at,
            "undoneAt": one.undone_at,
        }
        for one in found
    ]  # fmt: skip
    return answer({"items": shown, "undoable": None if last is None else str(last.id)})


@router.post(
    "/jobs/{job_id}/edits/undo",
    summary="Undo the last edit",
    responses=_STARTED,
    openapi_extra=body_of(UndoEditOrder),
)
async def undo_edit(request: Request, api: ApiParts, who: Writer, job_id: JobId) -> Response:
    """Write the cells of the last edit as they were before it, and run its rows again. The edit
    before it can be undone next."""
    order = await order_of(request, UndoEditOrder)
    async with api.db.scoped(who.scope) as conn:
        await get_job(conn, job_id)
        started = await edits.undo(conn, who, job_id, order.edit_id, address_of(request))
    return await _answer(api, who, job_id, started)


async def _answer(
    api: Api, who: Principal, job_id: Any, started: edits.StartedEdit | None
) -> Response:
    has_ended = True
    if started is not None:
        await api.runtime.broker.send(Ticket(started.lane))
        has_ended = await go_on(api.runtime, started.operation_id, _SECONDS)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        shown = await load_job_shape(api.runtime, conn, job_id)
    body = {
        "editId": None if started is None else str(started.edit_id),
        "operationId": None if started is None else str(started.operation_id),
        "rows": 0 if started is None else started.rows,
        "capped": started is not None and started.capped,
        "job": shown,
    }
    return answer(body, 200 if has_ended else 202)
