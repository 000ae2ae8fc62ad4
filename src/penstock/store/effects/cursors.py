"""Where the next incremental import of a shop begins."""

from __future__ import annotations

from uuid import UUID

from penstock.model.effects import JobEffectWriter, SaveCursor
from penstock.store.database import Connection
from penstock.store.shops import connections


class Cursors(JobEffectWriter):
    """Writes `SaveCursor`. Writing it again after a crash changes nothing."""

    effect = SaveCursor

    async def write_some(
        self, conn: Connection, org_id: int, job_id: UUID, effect: SaveCursor, after: str | None
    ) -> str | None:
        await connections.save_sync(conn, org_id, effect.connection_id, job_id, effect.next_since)
        return None
