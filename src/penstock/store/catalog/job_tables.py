"""What the items of a job are shown by."""

from __future__ import annotations

from uuid import UUID

from penstock.store.database import Connection
from penstock.store.jobs.job_rows import JobTable
from penstock.store.queries import load

_sql = load("job_tables")


async def table_of(conn: Connection, job_id: UUID) -> JobTable | None:
    row = await conn.fetchrow(_sql.table_of_job, job_id)
    return None if row is None else JobTable(**row)
