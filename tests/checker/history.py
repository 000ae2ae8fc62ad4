"""The history of a test's schema, and snapshots of its counters while a test runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import asyncpg

from penstock.store.database import CONNECTION_ERRORS, Connection, Database

_SQL = Path(__file__).with_name("history.sql")
_POLL_SECONDS = 0.2

# One statement is one snapshot: what the job says, and what its items say.
_COUNTERS_AND_ITEMS = """
    SELECT j.id AS job_id,
           ARRAY[j.total, j.pending, j.processing, j.done, j.error, j.not_found, j.skipped]
               AS counters,
           ARRAY[count(i.*) + coalesce(max(r.rows), 0),
                 count(*) FILTER (WHERE i.status = 'PENDING') + coalesce(max(r.rows), 0),
                 count(*) FILTER (WHERE i.status = 'PROCESSING'),
                 count(*) FILTER (WHERE i.status = 'DONE'),
                 count(*) FILTER (WHERE i.status = 'ERROR'),
                 count(*) FILTER (WHERE i.status = 'NOT_FOUND'),
                 count(*) FILTER (WHERE i.status = 'SKIPPED')]::integer[] AS items
    FROM jobs j LEFT JOIN job_items i ON i.job_id = rows_of(j.id)
    -- Rows that are read but not items yet.
    CROSS JOIN LATERAL (SELECT sum(rows) AS rows FROM job_ranges WHERE job_id = j.id) AS r
    WHERE {which} GROUP BY j.id
"""
COUNTERS_AND_ITEMS = _COUNTERS_AND_ITEMS.format(which="true")
# Jobs long over are looked at in the end.
_OF_LATE = _COUNTERS_AND_ITEMS.format(
    which="j.finished_at IS NULL OR j.finished_at > now() - interval '5 seconds'"
)


async def install_history(conn: Connection) -> None:
    """Record every change of items, leases and jobs from now on."""
    await conn.execute(_SQL.read_text("utf-8"))


@dataclass
class Watch:
    """Counters compared with items, again and again, from another connection."""

    snapshots: int = 0
    wrong: list[str] = field(default_factory=list)

    async def look(self, conn: Connection) -> None:
        for row in await conn.fetch(_OF_LATE):
            if row["counters"] != row["items"]:
                self.wrong.append(
                    f"job {row['job_id']} says {row['counters']}, items {row['items']}"
                )
        self.snapshots += 1


@asynccontextmanager
async def watched(db: Database, pause: float = _POLL_SECONDS) -> AsyncIterator[Watch]:
    """Look at the counters for as long as the block runs; a lost connection is no finding."""
    watch = Watch()

    async def go_on() -> None:
        while True:
            with suppress(*CONNECTION_ERRORS, asyncpg.QueryCanceledError):
                async with db.acquire() as conn:
                    await watch.look(conn)
            await asyncio.sleep(pause)

    task = asyncio.create_task(go_on())
    try:
        yield watch
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
