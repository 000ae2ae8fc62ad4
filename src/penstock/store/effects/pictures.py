"""Pictures that stages downloaded, by URL."""

from __future__ import annotations

from penstock.model.effects import EffectBatch, EffectWriter, LockOrder, StorePicture
from penstock.store.catalog import pictures
from penstock.store.database import Connection

_MAX_URL_LENGTH = 4000


class Pictures(EffectWriter):
    """Writes `StorePicture`."""

    effect = StorePicture
    order = LockOrder.RECORDS

    def check(self, effect: StorePicture) -> StorePicture:
        if not 0 < len(effect.url) <= _MAX_URL_LENGTH:
            raise ValueError(f"the URL of a picture has 1 to {_MAX_URL_LENGTH} characters")
        return effect

    async def write(self, conn: Connection, batch: EffectBatch) -> tuple[()]:
        stored = [one.effect for one in batch.asked]
        await pictures.store(conn, batch.org_id, batch.job_id, stored)
        return ()
