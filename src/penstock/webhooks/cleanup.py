"""What webhooks leave behind: jobs that have delivered all, deliveries whose item ended without a
word, and a log that has been kept long enough."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from penstock.engine.chunks import delete_in_chunks
from penstock.engine.runtime import Runtime
from penstock.model.effects import NoteDelivery
from penstock.model.errors import ItemError
from penstock.settings import Settings
from penstock.store import outbox, webhooks
from penstock.store.database import from_json
from penstock.store.jobs import reprocess as store
from penstock.store.jobs.transitions import end_jobs, write_events
from penstock.store.outbox import EndedDelivery


@dataclass(frozen=True, slots=True)
class KeeperConfig:
    log_days: float
    every_ms: int = 15_000
    at_once: int = 1000

    @classmethod
    def of(cls, settings: Settings) -> KeeperConfig:
        return cls(settings.webhook_log_days)


@dataclass(frozen=True, slots=True)
class CleanupResult:
    ended: int
    noted: int
    dropped: int


class WebhookKeeper:
    name = "webhook keeper"

    def __init__(self, runtime: Runtime, config: KeeperConfig | None = None) -> None:
        self._runtime = runtime
        self._config = config or KeeperConfig.of(runtime.settings)
        self.every_ms = self._config.every_ms

    async def run_once(self) -> CleanupResult:
        noted = await self._log_silent_ends()
        return CleanupResult(await self._end_idle(), noted, await self._drop_old())

    async def _end_idle(self) -> int:
        async with self._runtime.db.transaction() as conn:
            rested = await outbox.idle_streams(conn, self._config.at_once)
            if rested:
                await write_events(conn, await end_jobs(conn, rested), None)
        return len(rested)

    async def _log_silent_ends(self) -> int:
        """Write the missing log entries of items that failed because their workers died, or were
        skipped because their job ended."""
        noted, after = 0, None
        while True:
            async with self._runtime.db.transaction() as conn:
                rows = await outbox.unlogged_ends(conn, after, self._config.at_once)
                for job_id in sorted({row.stream_job for row in rows}):
                    await store.lock(conn, job_id)
                    tried = [_attempt_of(row) for row in rows if row.stream_job == job_id]
                    await webhooks.note_tries(conn, job_id, tried, None)
            noted += len(rows)
            if len(rows) < self._config.at_once:
                return noted
            after = rows[-1].id

    async def _drop_old(self) -> int:
        return await delete_in_chunks(
            self._runtime, self._config.at_once,
            lambda conn, chunk: webhooks.drop_old(conn, self._config.log_days, chunk),
        )  # fmt: skip


def _attempt_of(row: EndedDelivery) -> webhooks.DeliveryAttempt:
    error = from_json(row.error) or {"code": "INTERNAL_ERROR", "message": "It ended untold."}
    note = NoteDelivery(
        row.id, row.endpoint_id, row.event, row.url,
        urlsplit(row.url).hostname or "",
        "failed",
    )  # fmt: skip
    return webhooks.DeliveryAttempt(
        row.row_no, note, ItemError(error["code"], error["message"]), row.attempts
    )
