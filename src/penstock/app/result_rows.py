"""Where the results of a job begin: rows before them are steps."""

from __future__ import annotations

from uuid import UUID

from penstock.engine.runtime import Runtime
from penstock.store.database import Connection
from penstock.store.jobs import items
from penstock.store.jobs.job_rows import JobDetails, JobTable


async def first_result(
    runtime: Runtime, conn: Connection, job_id: UUID, job: JobTable | JobDetails
) -> int:
    """The number of the first row that is a result: 1, unless the pipeline has steps before them.
    One more than there are rows while there is none."""
    pipeline = runtime.pipelines.get(job.pipeline)
    key = None if pipeline is None else pipeline.first_result_key
    if key is None:
        return 1
    row = await items.row_of_key(conn, job_id, key)
    number = 2
    while (later := await items.row_of_key(conn, job_id, f"{key}@{number}")) is not None:
        row, number = later, number + 1
    return job.total + 1 if row is None else row
