"""A first large file is looked at before PostgreSQL has counted anything: pages are quick even so.

No ANALYZE has run, so the planner takes the job for a handful of rows, the more so as row-level
security filters them; a page must still be a walk along its index, not a sort of the whole job."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest
from tests.fixtures import Bench

from penstock.settings import Settings
from penstock.store.database import Database
from penstock.store.jobs.items import FAR_AHEAD, LONG_AGO
from penstock.store.queries import load
from penstock.wiring import api_database

ROWS = 20_000
FILL = """
INSERT INTO job_items (job_id, row_no, org_id, user_id, job_type, input)
SELECT $1, n, $2, $3, 'noop', '{}' FROM generate_series(2, $4::integer) AS n
"""
# What an earlier test, or an ANALYZE that was under way, has left.
FORGET = """
SELECT pg_clear_relation_stats(current_schema(), 'job_items'),
       (SELECT count(pg_clear_attribute_stats(schemaname, tablename, attname, inherited)::text)
        FROM pg_stats WHERE schemaname = current_schema() AND tablename = 'job_items')
"""
# A statement and what it is asked, after the job.
PAGES: list[tuple[str, list[Any]]] = [
    ("items.items_by_row", [ROWS // 2, 101, 8 * 1024 * 1024]),
    ("items.rows_up", [ROWS // 2, ROWS, ["PENDING"], 101]),
    ("items.rows_up", [ROWS // 2, ROWS, None, 101]),
    ("items.rows_down", [ROWS // 2, 1, ["DONE", "PENDING"], 101]),
    ("items.open_oldest", [LONG_AGO, 0, ["PENDING", "PROCESSING"], 101]),
    ("items.open_newest", [FAR_AHEAD, 0, ["PENDING"], 101]),
    ("export.results", [ROWS // 2, ROWS, 1000, 8 * 1024 * 1024]),
]


@pytest.fixture
async def fresh_job(bench: Bench, db: Database) -> UUID:
    async with db.acquire() as conn:
        await conn.execute("ALTER TABLE job_items SET (autovacuum_enabled = false)")
        job_id = await bench.submit(config={"items": 1})
        await conn.execute(FORGET)
        await conn.execute(FILL, job_id, bench.who.org_id, bench.who.user_id, ROWS)
    return job_id


@pytest.fixture
async def api_db(settings: Settings, api_dsn: str, db: Database) -> AsyncIterator[Database]:
    opened = await api_database(settings, api_dsn).open()
    yield opened
    await opened.close()


async def test_pages_of_a_fresh_job_are_walked_not_sorted(
    bench: Bench, api_db: Database, db: Database, fresh_job: UUID
) -> None:
    problems = []
    for who in ("api", "owner"):
        async with (
            api_db.scoped(bench.who.scope, readonly=True) if who == "api" else db.acquire()
        ) as conn:
            for name, asked in PAGES:
                family, statement = name.split(".")
                statement = f"EXPLAIN {getattr(load(family), statement)}"
                plan = "\n".join(row[0] for row in await conn.fetch(statement, fresh_job, *asked))
                if "Sort" in plan or "Bitmap" in plan:
                    problems.append(f"{who} {name} {asked}\n{plan}")
    assert not problems, "\n\n".join(problems)
