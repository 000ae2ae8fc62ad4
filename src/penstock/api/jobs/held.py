"""Rows that a job holds back until a person accepts them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Field

from penstock.api.http.access import ApiParts, JobId, Reader
from penstock.api.http.answers import answer
from penstock.api.http.schemas import Shape
from penstock.app.job_control import no_such_job
from penstock.store.catalog.held_rows import HeldRow, held_rows
from penstock.store.database import from_json
from penstock.store.jobs import jobs

router = APIRouter(tags=["jobs"])


class HeldQuery(Shape):
    limit: int = Field(200, ge=1, le=1000)


class HeldRowShape(Shape):
    row_no: int
    code: str
    message: str
    field: str | None
    before: str | None
    after: str | None
    currency: str | None
    percent: float | None = Field(description="Null for a GTIN, and for a price that was 0.")
    sku: str | None
    title: str | None


class HeldRows(Shape):
    items: list[HeldRowShape]
    more: bool = Field(description="There are more of them than `limit`.")


@router.get(
    "/jobs/{job_id}/held",
    summary="List rows that are held back",
    responses={200: {"model": HeldRows}},
)
async def list_held(
    api: ApiParts, who: Reader, job_id: JobId, query: Annotated[HeldQuery, Query()]
) -> Response:
    """The largest change of price first. `POST /api/jobs/{id}/reprocess` with `accept` writes
    them. A check has held back nothing yet: these are the rows that its import would hold back."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        job = await jobs.get_job(conn, job_id)
        if job is None:
            raise no_such_job()
        is_check = (from_json(job.config) or {}).get("intent", "check") == "check"
        found = await held_rows(conn, job_id, query.limit + 1, is_check=is_check)
    shown = [_row_shape(one) for one in found[: query.limit]]
    return answer({"items": shown, "more": len(found) > query.limit})


def _row_shape(one: HeldRow) -> dict[str, Any]:
    return {
        "rowNo": one.row_no, "code": one.code, "message": one.message, "field": one.field,
        "before": one.before, "after": one.after, "currency": one.currency,
        "percent": one.percent, "sku": one.sku, "title": one.title,
    }  # fmt: skip
