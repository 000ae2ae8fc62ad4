"""Jobs of a pipeline that is no longer installed can be looked at and cancelled."""

from __future__ import annotations

import httpx2
import pytest
from tests.api.conftest import shaped, submit_noop
from tests.fixtures import Bench

from penstock.api.jobs.schemas import FullJob
from penstock.store.database import Database

pytestmark = pytest.mark.slow
# More than one request skips: the rest is left to a worker.
ROWS = 12_000


async def test_a_large_job_is_cancelled(
    client: httpx2.AsyncClient, bench: Bench, db: Database
) -> None:
    job_id = await submit_noop(client)
    async with db.transaction() as conn:
        await conn.execute(
            "INSERT INTO job_items (job_id, row_no, org_id, user_id, job_type, status, input)"
            " SELECT id, n, org_id, user_id, 'gone', 'PENDING', '{}'"
            " FROM jobs, generate_series(4, $2) AS n WHERE id = $1",
            job_id, ROWS,
        )  # fmt: skip
        await conn.execute(
            "UPDATE jobs SET pipeline = 'gone', total = $2, pending = $2 WHERE id = $1",
            job_id, ROWS,
        )  # fmt: skip
        await conn.execute("UPDATE job_items SET job_type = 'gone' WHERE job_id = $1", job_id)
        await conn.execute(
            "UPDATE job_stages SET open = $2, pending = $2 WHERE job_id = $1 AND position = 0",
            job_id, ROWS,
        )  # fmt: skip
    # No worker takes it.
    await bench.work()
    shown = shaped(FullJob, await client.get(f"/api/jobs/{job_id}"))
    assert (shown.state, shown.counters.pending) == ("queued", ROWS)
    assert (await client.get(f"/api/jobs/{job_id}/items")).status_code == 200
    asked = shaped(FullJob, await client.post(f"/api/jobs/{job_id}/cancel"))
    assert asked.state == "cancelling"
    await bench.work()
    ended = shaped(FullJob, await client.get(f"/api/jobs/{job_id}"))
    assert (ended.state, ended.counters.skipped) == ("cancelled", ROWS)
