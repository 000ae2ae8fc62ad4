"""What an import leaves at the connection of its shop: where the next one begins, and its error."""

from __future__ import annotations

from uuid import UUID

from penstock.model.effects import JobEffectWriter, SaveCursor, SetImportError
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


class ImportErrors(JobEffectWriter):
    """Writes `SetImportError`."""

    effect = SetImportError

    async def write_some(
        self, conn: Connection, org_id: int, job_id: UUID, effect: SetImportError,
        after: str | None,
    ) -> str | None:  # fmt: skip
        await connections.save_import_error(conn, org_id, effect.connection_id, effect.error)
        return None
