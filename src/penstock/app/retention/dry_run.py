"""What retention would delete now, without deleting it."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from uuid import UUID

from penstock.app.retention.policies import installation_policy
from penstock.engine.runtime import Runtime
from penstock.model.retention.policy import RetentionPolicy
from penstock.store.crawl import pages
from penstock.store.database import Connection
from penstock.store.retention import retention as store
from penstock.store.retention.retention import EndedJob
from penstock.store.shops import connections

_FIRST = (datetime(1970, 1, 1, tzinfo=UTC), UUID(int=0))
_JOBS_AT_ONCE = 500
_PARTS = ("items", "events", "files", "searches", "changes", "jobs")


async def count_prunable(runtime: Runtime, org_id: int | None = None) -> Counter[str]:
    """How many of each kind the next runs delete. Jobs with an open dead letter are left out."""
    counts: Counter[str] = Counter()
    installation = installation_policy(runtime)
    async with runtime.db.acquire() as conn:
        orgs = await store.policies(conn, org_id)
    for org in orgs:
        policy = installation.with_overrides(org.overrides)
        counts += await _of_jobs(runtime, org.id, policy)
        async with runtime.db.acquire() as conn:
            if days := policy.days("pages"):
                counts["pages"] += await pages.count_versions_before(conn, org.id, days)
            if days := policy.days("deliveries"):
                counts["deliveries"] += await store.count_deliveries(conn, org.id, days)
    return counts


async def _of_jobs(runtime: Runtime, org_id: int, policy: RetentionPolicy) -> Counter[str]:
    counts: Counter[str] = Counter()
    now = datetime.now(UTC)
    old = {kind: now - timedelta(days=policy.days(kind)) for kind in _PARTS if policy.days(kind)}
    async with runtime.db.acquire() as conn:
        surplus = set(
            await connections.surplus_imports(
                conn, org_id, policy.done_imports, policy.failed_imports, 1000
            )
        )
        for job_id in surplus:
            job = await store.get_ended_job(conn, job_id)
            if job is not None:
                await _count(counts, conn, [job], dict.fromkeys(_PARTS, now))
    after = _FIRST
    while old:
        async with runtime.db.acquire() as conn:
            jobs = await store.ended_jobs(conn, org_id, max(old.values()), after, _JOBS_AT_ONCE)
            await _count(counts, conn, [job for job in jobs if job.id not in surplus], old)
        if len(jobs) < _JOBS_AT_ONCE:
            break
        after = (jobs[-1].finished_at, jobs[-1].id)
    return counts


async def _count(
    counts: Counter[str], conn: Connection, jobs: list[EndedJob], old: dict[str, datetime]
) -> None:
    letters = await store.with_open_letters(conn, [job.id for job in jobs])
    free = [job for job in jobs if job.id not in letters]

    def of_kind(kind: str) -> list[EndedJob]:
        return [job for job in free if kind in old and job.finished_at < old[kind]]

    counts["jobs"] += len(of_kind("jobs"))
    counts["items"] += sum(job.total for job in of_kind("items") if job.has_rows)
    counts["files"] += sum(job.has_file for job in of_kind("files"))
    parts = await store.count_parts(
        conn, *([job.id for job in of_kind(kind)] for kind in ("events", "searches", "changes"))
    )
    counts["events"] += parts.events
    counts["searches"] += parts.searches
    counts["changes"] += parts.changes
