"""What is kept for a while."""

from __future__ import annotations

import pytest
from tests.fixtures import Bench

from penstock.engine.services.retention import AuditRetention, AuditRetentionConfig
from penstock.wiring import background_services

pytestmark = pytest.mark.slow

_FILL = """
INSERT INTO audit (org_id, user_id, action, target, created_at)
SELECT $1, $2, 'job.create', 'job:' || days, now() - days * interval '1 day'
FROM generate_series(10, 1, -1) AS days
"""


async def test_the_audit_goes_back_so_many_days(bench: Bench) -> None:
    async with bench.runtime.db.transaction() as conn:
        await conn.execute("DELETE FROM audit")
        await conn.execute(_FILL, bench.who.org_id, bench.who.user_id)
    assert await AuditRetention(bench.runtime, AuditRetentionConfig(10.5)).run_once() == 0
    # In chunks, and nothing that is younger.
    assert await AuditRetention(bench.runtime, AuditRetentionConfig(3.5, chunk=2)).run_once() == 7
    async with bench.runtime.db.acquire() as conn:
        left = await conn.fetch("SELECT target FROM audit ORDER BY id")
    assert [row["target"] for row in left] == ["job:3", "job:2", "job:1"]
    assert "audit retention" in {one.name for one in background_services(bench.runtime)}
