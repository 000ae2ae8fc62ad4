"""Correct rows, and remap a job."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Request, Response

from penstock.api.http.access import Api, ApiParts, JobId, Writer, address_of
from penstock.api.http.answers import answer
from penstock.api.http.bodies import body_of, order_of
from penstock.api.jobs.control_schemas import FixOrder, RemapOrder, Reprocessed
from penstock.api.jobs.shapes import load_job_shape
from penstock.app import bulk
from penstock.app.job_control import get_job
from penstock.app.rows import fix
from penstock.model.errors import NotThere
from penstock.model.ticket import Ticket
from penstock.store.accounts.accounts import Principal
from penstock.store.jobs import reprocess

router = APIRouter(tags=["items"])
ItemName = Annotated[str, Path(description="The row number, or the item's id `<jobId>:<rowNo>`.")]
REPROCESSED: dict[int | str, dict[str, Any]] = {
    200: {"model": Reprocessed}, 202: {"model": Reprocessed},
}  # fmt: skip


@router.patch(
    "/jobs/{job_id}/items/{item}",
    summary="Fix cells of an item",
    responses=REPROCESSED,
    openapi_extra=body_of(FixOrder),
)
async def fix_item(
    request: Request,
    api: ApiParts,
    who: Writer,
    job_id: JobId,
    item: ItemName,
) -> Response:
    """Change cells of a row and run it again from the start, together with the rows that share a
    name with it (SKU, parent …) before or after the change: another of them may now be the
    duplicate. The old cells are in the audit log."""
    order = await order_of(request, FixOrder)
    row_no = row_no_of(job_id, item)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        job = await get_job(conn, job_id)
        given = await reprocess.input_of(conn, job_id, row_no)
    if given is None:
        raise NotThere("NOT_FOUND", f"The job has no row {row_no}.")
    names = await fix.names_once_fixed(api.runtime, job, given, order.input)
    async with api.db.scoped(who.scope) as conn:
        made = await fix.fix_item(
            api.runtime, conn, who, job_id, row_no, order.input, address_of(request), names
        )
    return await reprocessed_answer(api, who, job_id, made)


@router.post(
    "/jobs/{job_id}/remap",
    summary="Remap the columns of a job",
    responses=REPROCESSED,
    openapi_extra=body_of(RemapOrder),
)
async def remap_job(request: Request, api: ApiParts, who: Writer, job_id: JobId) -> Response:
    """Run the same rows with other options: mapping, profile, decimal style, intent … The file is
    not sent again; every row runs from the start."""
    order = await order_of(request, RemapOrder)
    async with api.db.scoped(who.scope) as conn:
        await get_job(conn, job_id)
        made = await fix.remap(api.runtime, conn, who, job_id, order.config, address_of(request))
    return await reprocessed_answer(api, who, job_id, made)


def row_no_of(job_id: UUID, item: str) -> int:
    """The row that a path names by its number or by the item's id."""
    number = item.removeprefix(f"{job_id}:")
    if not (number.isascii() and number.isdecimal() and len(number) < 10):
        raise NotThere("NOT_FOUND", "There is no such item.")
    return int(number)


async def reprocessed_answer(
    api: Api, who: Principal, job_id: UUID, made: bulk.Reprocessed
) -> Response:
    """The job that runs again, after a worker was woken."""
    if made.lane is not None:
        await api.runtime.broker.send(Ticket(made.lane))
    async with api.db.scoped(who.scope, readonly=True) as conn:
        shown = await load_job_shape(api.runtime, conn, job_id)
    body: dict[str, Any] = {"reprocessed": made.items, "leftOut": made.left_out, "job": shown}
    if made.operation_id is not None:
        body["operationId"] = str(made.operation_id)
    return answer(body, 200 if made.operation_id is None else 202)
