"""Attempts of research requests, and the webhooks that they ask for."""

from __future__ import annotations

from penstock.model.effects import EffectBatch, EffectWriter, LockOrder, RecordRequest
from penstock.store.database import Connection
from penstock.store.research import requests

_MAX_ID, _MAX_URL = 100, 4096


class Requests(EffectWriter):
    """Writes `RecordRequest`. Writing it again changes nothing."""

    effect = RecordRequest
    order = LockOrder.RECORDS

    def check(self, effect: RecordRequest) -> RecordRequest:
        if not 0 < len(effect.request_id) <= _MAX_ID or len(effect.webhook_url or "") > _MAX_URL:
            raise ValueError("the request id or its webhook URL is too long")
        return effect

    async def write(self, conn: Connection, batch: EffectBatch) -> tuple[()]:
        for asked in batch.asked:
            one: RecordRequest = asked.effect
            await requests.record(conn, batch.org_id, batch.job_id, one.request_id, one.webhook_url)
        return ()
