"""The items of a job, page by page."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Response

from penstock.api.access import ApiParts, JobId, Reader
from penstock.api.answers import answer
from penstock.api.cursors import from_cursor, to_cursor
from penstock.api.schemas import ItemPage, ItemsQuery
from penstock.api.shapes import item_shape, load_job, stage_names
from penstock.model.errors import BadInput
from penstock.model.states import ItemStatus
from penstock.store import items
from penstock.store.database import Connection, from_json

router = APIRouter(tags=["items"])
_LIVE = (ItemStatus.PENDING, ItemStatus.PROCESSING)


@router.get("/jobs/{job_id}/items", summary="List items", responses={200: {"model": ItemPage}})
async def list_items(
    api: ApiParts, who: Reader, job_id: JobId, query: Annotated[ItemsQuery, Query()]
) -> Response:
    """In row order, or what waits and runs by how long it was not touched."""
    statuses = sorted(set(query.statuses))
    this_list = f"items {job_id} {query.sort} {statuses}"
    async with api.db.scoped(who.scope, readonly=True) as conn:
        job = await load_job(conn, job_id)
        if query.sort == "row":
            rows = await _by_row(conn, job_id, query, statuses, this_list)
        else:
            rows = await _by_update(conn, job_id, query, statuses, this_list)
    page = rows[: query.page_size]
    stages, header = stage_names(api.parts, job), from_json(job["header"])
    following = None
    if len(rows) > len(page):
        last = page[-1]
        place = [last["row_no"]] if query.sort == "row" else [last["updated_at"], last["row_no"]]
        following = to_cursor(this_list, *place)
    return answer({"items": [item_shape(row, stages, header) for row in page], "next": following})


async def _by_row(
    conn: Connection, job_id: UUID, query: ItemsQuery, statuses: list[ItemStatus], this_list: str
) -> list[Any]:
    after_row = query.from_row - 1
    if query.after:
        after_row = max(after_row, *from_cursor(query.after, this_list, int))
    wanted = statuses if statuses and len(statuses) < len(ItemStatus) else None
    return await items.by_row(conn, job_id, wanted, after_row, query.page_size + 1)


async def _by_update(
    conn: Connection, job_id: UUID, query: ItemsQuery, statuses: list[ItemStatus], this_list: str
) -> list[Any]:
    if not set(statuses) <= set(_LIVE):
        raise BadInput(
            "INVALID_SORT", "sort=updated is for items that are PENDING or PROCESSING only."
        )
    if query.from_row > 1:
        raise BadInput("INVALID_SORT", "fromRow goes with sort=row only.")
    after = None
    if query.after:
        updated_at, row_no = from_cursor(query.after, this_list, datetime, int)
        after = (updated_at, row_no)
    return await items.live(conn, job_id, statuses or _LIVE, after, query.page_size + 1)
