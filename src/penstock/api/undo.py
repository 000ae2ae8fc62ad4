"""Undo an import."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from penstock.api.access import ApiParts, JobId, Writer, address_of
from penstock.api.answers import answer
from penstock.api.schemas import Undone
from penstock.api.shapes import load_job, state_of
from penstock.engine.undo import undo
from penstock.model.errors import PermanentError
from penstock.model.states import TERMINAL_JOB_STATES
from penstock.store import accounts

router = APIRouter(tags=["control"])
_SECONDS = 20.0


@router.post("/jobs/{job_id}/undo", summary="Undo an import", responses={200: {"model": Undone}})
async def undo_job(request: Request, api: ApiParts, who: Writer, job_id: JobId) -> Response:
    """Every product exactly as it was before the job, products it made removed. One that was
    changed since is left alone and named under `refused`. A very large job is undone in several
    calls: repeat while `more` is true."""
    async with api.db.scoped(who.scope) as conn:
        job = await load_job(conn, job_id)
        if job["state"] not in TERMINAL_JOB_STATES:
            raise PermanentError(
                "INVALID_STATE",
                f"The job is {state_of(job)}. Cancel it or let it end before it is undone.",
                state=state_of(job),
            )
    done = await undo(lambda: api.db.scoped(who.scope), job_id, _SECONDS)
    async with api.db.scoped(who.scope) as conn:
        told = {name: done[name] for name in ("restored", "deleted", "refusedCount", "more")}
        await accounts.audit(
            conn, job["org_id"], who.user_id, "job.undo", f"job:{job_id}",
            ip=address_of(request), after=told,
        )  # fmt: skip
    return answer(done)
