"""A bench for jobs that other processes work on. Their history is checked at the end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from tests.checker.case import Submitted
from tests.checker.check import check
from tests.checker.history import Watch, watched
from tests.checker.polling import until
from tests.fixtures import Bench

from penstock.engine import ending
from penstock.model.ticket import Ticket
from penstock.store.database import CONNECTION_ERRORS


@dataclass
class ChaosBench(Bench):
    sent: dict[UUID, Submitted] = field(default_factory=dict)
    watch: Watch = field(default_factory=Watch)

    async def send(self, items: int, *, who: Any = None, **config: Any) -> UUID:
        """Submit a noop job and record its rows for the check."""
        order = {} if who is None else {"who": who}
        job_id = await self.submit("noop", {"items": items, **config}, **order)
        inputs = [{"row": n} for n in range(items)] if "payloadBytes" not in config else None
        self.sent[job_id] = Submitted(items, inputs)
        return job_id

    async def send_and_wake(self) -> UUID:
        """Submit a job of one item and wake workers, as the API does."""
        job_id = await self.send(1)
        await self.runtime.broker.send(Ticket((await self.job(job_id))["lane"]))
        return job_id

    async def value_or_none(self, sql: str, *args: Any) -> Any:
        """None while the server is down or recovering."""
        try:
            return await self.value(sql, *args)
        except CONNECTION_ERRORS:
            return None

    async def value(self, sql: str, *args: Any) -> Any:
        async with self.runtime.db.acquire() as conn:
            return await conn.fetchval(sql, *args)

    async def ended(self, *job_ids: UUID, timeout: float = 90) -> list[Any]:
        """The jobs, once all have ended."""

        async def found() -> list[Any] | None:
            try:
                rows = [await self.job(job_id) for job_id in job_ids]
            except CONNECTION_ERRORS:
                return None
            return rows if all(row["finished_at"] is not None for row in rows) else None

        try:
            return await until(found, f"{job_ids} to end", timeout=timeout) or []
        except AssertionError:
            await self._show()
            raise

    async def _show(self) -> None:
        """Print the state of jobs, slices and workers for a test that failed."""
        async with self.runtime.db.acquire() as conn:
            for sql in (
                "SELECT id, state, paused, pending, processing, done, ready_at, now() FROM jobs",
                "SELECT * FROM job_stages",
                "SELECT id, kind, worker, cardinality(row_nos), expires_at FROM slices",
                "SELECT id, heartbeat_at, stopped_at FROM workers",
                "SELECT pid, state, wait_event, query, pg_blocking_pids(pid)"
                " FROM pg_stat_activity WHERE application_name LIKE 'penstock%'",
                "SELECT min(row_no), max(row_no), status, stage, due_at, crashes FROM job_items"
                " GROUP BY status, stage, due_at, crashes LIMIT 20",
            ):
                for row in await conn.fetch(sql):
                    print(dict(row))

    async def reaches(self, job_id: UUID, column: str, least: int, timeout: float = 60) -> None:
        """Wait until a counter of the job is at least ``least``."""

        async def high() -> bool:
            sql = f"SELECT {column} FROM jobs WHERE id = $1"
            return int(await self.value_or_none(sql, job_id) or 0) >= least

        await until(high, f"{column} of {job_id} to reach {least}", timeout=timeout)

    async def cancel(self, job_id: UUID) -> None:
        async with self.runtime.db.transaction() as conn:
            await ending.cancel(conn, job_id)

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Compare counters with items all the time, in the background."""
        async with watched(self.runtime.db) as self.watch:
            yield

    async def is_clean(self, *, drained: bool = True, reclaim_seconds: float = 60) -> None:
        async with self.runtime.db.acquire() as conn:
            found = await check(
                conn, submitted=self.sent, drained=drained, reclaim_seconds=reclaim_seconds,
                watch=self.watch, blobs=self.runtime.blobs,
            )  # fmt: skip
        assert not found, "\n".join(map(str, found))
