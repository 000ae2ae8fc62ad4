"""Searches for the products of items."""

from __future__ import annotations

from dataclasses import replace

from penstock.model.effects import EffectBatch, EffectWriter, LockOrder, RecordSearch
from penstock.store.database import Connection
from penstock.store.lookup import searches

_MAX_QUERY_LENGTH = 500


class SearchEvents(EffectWriter):
    """Writes `RecordSearch`."""

    effect = RecordSearch
    order = LockOrder.ITEMS

    def check(self, effect: RecordSearch) -> RecordSearch:
        return replace(effect, query=effect.query[:_MAX_QUERY_LENGTH])

    async def write(self, conn: Connection, batch: EffectBatch) -> tuple[()]:
        await searches.add(conn, batch.org_id, batch.job_id, batch.asked)
        return ()
