"""Undo an import."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from penstock.api.http.access import ApiParts, JobId, Writer, address_of
from penstock.api.http.answers import answer
from penstock.api.jobs.schemas import Undone, UndoQuery
from penstock.api.jobs.shapes import load_job, state_of
from penstock.app.undo import FIRST, undo
from penstock.model.errors import PermanentError
from penstock.model.states import TERMINAL_JOB_STATES
from penstock.store.accounts import accounts

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
    """Every product exactly as it was before the job, products it made removed. One that was
    changed since is left alone and named under `refused`: undo the later job first, then this one
    again. A very large job is undone in several calls: repeat while `more` is true, with `next` as
    `after`. With `dryRun`
    nothing is changed, only told. To have it back, reprocess the job's rows from the start."""
    async with api.db.scoped(who.scope) as conn:
        job = await load_job(conn, job_id)
        if job["state"] not in TERMINAL_JOB_STATES:
            raise PermanentError(
                "INVALID_STATE",
                f"The job is {state_of(job)}. Cancel it or let it end before it is undone.",
                state=state_of(job),
            )
    done = await undo(
        api.runtime, lambda: api.db.scoped(who.scope), job_id, _SECONDS, dry_run=query.dry_run,
        after=query.after or FIRST,
    )  # fmt: skip
    last = done.pop("last")
    done["next"] = str(last) if done["more"] else None
    if not query.dry_run:
        async with api.db.scoped(who.scope) as conn:
            told = {name: done[name] for name in ("restored", "deleted", "refusedCount", "more")}
            await accounts.audit(
                conn, job["org_id"], who.user_id, "job.undo", f"job:{job_id}",
                ip=address_of(request), after=told,
            )  # fmt: skip
    return answer(done)
