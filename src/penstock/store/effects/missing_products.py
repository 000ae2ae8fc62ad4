"""Products of a source that a job's file does not contain: reported, or also unpublished."""

from __future__ import annotations

from uuid import UUID

from penstock.model.effects import FindMissing, JobEffectWriter
from penstock.store.catalog import missing
from penstock.store.database import Connection


class MissingProducts(JobEffectWriter):
    """Writes `FindMissing`. What this job unpublished before a crash is found again as such."""

    effect = FindMissing

    async def write_some(
        self, conn: Connection, org_id: int, job_id: UUID, effect: FindMissing, after: str | None
    ) -> str | None:
        if after is None:
            await missing.forget(conn, job_id)
        return await missing.look_at_some(
            conn, org_id, job_id, effect.source, after or "", unpublish=effect.unpublish
        )
