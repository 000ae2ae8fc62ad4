"""The log of notifications."""

from __future__ import annotations

from penstock.model.effects import EffectBatch, EffectWriter, LockOrder, NoteNotification
from penstock.store.database import Connection
from penstock.store.monitor import notifications
from penstock.store.monitor.notifications import NotificationAttempt


class NotificationNotes(EffectWriter):
    """Writes `NoteNotification`."""

    effect = NoteNotification
    order = LockOrder.JOBS

    async def write(self, conn: Connection, batch: EffectBatch) -> tuple[()]:
        for one in batch.asked:
            note = one.effect
            tried = NotificationAttempt(
                one.row_no, note.notification_ids, note.title, note.state, one.error, one.attempts
            )
            await notifications.note_try(conn, batch.job_id, tried, batch.worker)
        return ()
