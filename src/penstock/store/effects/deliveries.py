"""The log of webhook deliveries."""

from __future__ import annotations

from penstock.model.effects import EffectBatch, EffectWriter, LockOrder, NoteDelivery
from penstock.store import webhooks
from penstock.store.database import Connection


class Deliveries(EffectWriter):
    """Writes `NoteDelivery`."""

    effect = NoteDelivery
    order = LockOrder.JOBS

    async def write(self, conn: Connection, batch: EffectBatch) -> tuple[()]:
        tried = [
            webhooks.DeliveryAttempt(one.row_no, one.effect, one.error, one.attempts)
            for one in batch.asked
        ]
        await webhooks.note_tries(conn, batch.job_id, tried, batch.worker)
        return ()
