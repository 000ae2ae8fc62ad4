"""What a file lacks, looked for once all its rows have ended."""

from __future__ import annotations

from uuid import UUID

from penstock.engine.runtime import Runtime
from penstock.model.effects import FindMissing
from penstock.model.pipeline import Job
from penstock.store.catalog import missing
from penstock.store.jobs import slices


async def find_missing(runtime: Runtime, lease: UUID, job: Job, asked: FindMissing) -> bool:
    """In chunks, each a transaction of its own under the lease; False once that is lost. After a
    crash it begins anew: what this job took off the shelf before is found again as such."""
    place: str | None = ""
    begun = False
    while place is not None:
        async with runtime.db.transaction() as conn:
            if not await slices.hold(conn, [lease]):
                return False
            if not begun:
                await missing.forget(conn, job.id)
            place = await missing.look_at_some(
                conn, job.org_id, job.id, asked.source, place, unpublish=asked.unpublish
            )
            runtime.failpoints.reach("missing_before_commit")
        begun = True
        runtime.failpoints.reach("missing_after_commit")
    return True
