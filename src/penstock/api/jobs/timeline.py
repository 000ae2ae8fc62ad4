"""How a job went: duration by stage, and rows per second."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any

from fastapi import APIRouter, Response
from pydantic import Field

from penstock.api.http.access import ApiParts, JobId, Reader
from penstock.api.http.answers import answer
from penstock.api.http.schemas import Shape
from penstock.app.job_control import no_such_job
from penstock.store.jobs.timeline import RowsDone, StageTimes, load_timeline

router = APIRouter(tags=["jobs"])


class StageDuration(Shape):
    stage: str
    kind: str = Field(
        description="`ingest`, `ranges` (the first stage over many rows), `items` or `finish`."
    )
    started_at: datetime
    ended_at: datetime | None = Field(description="Null while rows are in it.")
    duration_ms: int | None


class RowRate(Shape):
    at: datetime = Field(description="End of the period that the rate is of.")
    rows_per_second: float


class JobTimeline(Shape):
    stages: list[StageDuration] = Field(description="In the order in which they started.")
    rates: list[RowRate] = Field(description="Rows finished per second, over time.")


@router.get(
    "/jobs/{job_id}/timeline",
    summary="Show the course of a job",
    responses={200: {"model": JobTimeline}},
)
async def show_timeline(api: ApiParts, who: Reader, job_id: JobId) -> Response:
    """How long each stage took, and how many rows per second were finished. Stages overlap where
    rows need not wait for each other."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        found = await load_timeline(conn, job_id)
    if found is None:
        raise no_such_job()
    return answer(
        {
            "stages": [_stage_shape(one) for one in found.stages],
            "rates": _rates(found.progress),
        }
    )


def _stage_shape(one: StageTimes) -> dict[str, Any]:
    took = None if one.ended_at is None else one.ended_at - one.started_at
    return {
        "stage": one.name,
        "kind": one.kind,
        "startedAt": one.started_at,
        "endedAt": one.ended_at,
        "durationMs": None if took is None else round(took.total_seconds() * 1000),
    }


def _rates(progress: Sequence[RowsDone]) -> list[dict[str, Any]]:
    rates = []
    for before, after in pairwise(progress):
        seconds = (after.at - before.at).total_seconds()
        if seconds > 0:
            rate = max(0, after.rows - before.rows) / seconds
            rates.append({"at": after.at, "rowsPerSecond": round(rate, 2)})
    return rates
