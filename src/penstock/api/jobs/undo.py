"""Undo an import."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from penstock.api.http.access import ApiParts, JobId, Writer, caller_of
from penstock.api.http.answers import answer
from penstock.api.jobs.schemas import Undone, UndoQuery
from penstock.app import undo

router = APIRouter(tags=["control"])
_SECONDS = 20.0


@router.post("/jobs/{job_id}/undo", summary="Undo an import", responses={200: {"model": Undone}})
async def undo_job(
    request: Request,
    api: ApiParts,
    who: Writer,
    job_id: JobId,
    query: Annotated[UndoQuery, Query()],
) -> Response:
    """Restore every product and job posting as it was before the job, and delete those that it
    created. One that was changed since then is left as it is and listed under `refused`: undo the
    later job first, then this one again. A very large job is undone in several calls: repeat while
    `more` is true, with `next` as `after`. With `dryRun` nothing is changed. To redo, reprocess the
    rows of the job from the start."""
    done = await undo.undo_job(
        api.runtime, lambda: api.db.scoped(who.scope), caller_of(request, who), job_id, _SECONDS,
        dry_run=query.dry_run, after=query.after or undo.FIRST,
    )  # fmt: skip
    last = done.pop("last")
    done["next"] = str(last) if done["more"] else None
    return answer(done)
