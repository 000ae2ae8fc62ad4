"""Delete what is older than the retention of its org.

Jobs are visited by the time they ended. Their parts are deleted in chunks, each in a transaction
that locks the job, so that a job that is reopened meanwhile is left alone. The first chunk of rows
marks the job as pruned: it cannot be reopened any more, and after a crash the next run continues.
Between two chunks the pruner waits, so that it uses at most a share of the database's time.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import UUID

from penstock.app.retention.policies import installation_policy
from penstock.engine.runtime import Runtime
from penstock.model.retention.policy import RetentionPolicy
from penstock.store.crawl import pages
from penstock.store.database import Connection
from penstock.store.retention import retention as store
from penstock.store.retention.retention import EndedJob, JobLock, OrgPolicy
from penstock.store.schedules import schedules
from penstock.store.shops import connections

_FIRST = UUID(int=0)
_START = (datetime(1970, 1, 1, tzinfo=UTC), _FIRST)
_JOB_PARTS = ("items", "events", "files", "searches", "changes", "jobs")


@dataclass(frozen=True, slots=True)
class PruneConfig:
    """``busy_share`` is the share of time in which the pruner uses the database."""

    chunk: int = 2000
    jobs_at_once: int = 500
    busy_share: float = 0.05


@dataclass(slots=True)
class PruneResult:
    """How many of each kind were deleted, or would be. ``more``: the time ended first."""

    counts: Counter[str] = field(default_factory=Counter)
    more: bool = False


class _TimeIsUp(Exception):
    """The rest is left to the next run."""


class Pruner:
    """One run over all orgs, or over one."""

    def __init__(
        self, runtime: Runtime, seconds: float, config: PruneConfig | None = None,
        now: datetime | None = None,
    ) -> None:  # fmt: skip
        self._runtime = runtime
        self._config = config or PruneConfig()
        self._deadline = time.monotonic() + seconds
        self._now = now or datetime.now(UTC)
        self._pruned = PruneResult()

    async def run(self, org_id: int | None = None) -> PruneResult:
        installation = installation_policy(self._runtime)
        async with self._runtime.db.acquire() as conn:
            orgs = await store.policies(conn, org_id)
        try:
            for org in orgs:
                await self._org(org, installation.with_overrides(org.overrides))
            if org_id is None:
                await self._installation(installation)
        except _TimeIsUp:
            self._pruned.more = True
        return self._pruned

    async def _org(self, org: OrgPolicy, policy: RetentionPolicy) -> None:
        await self._surplus_imports(org, policy)
        youngest = self._before(policy, _JOB_PARTS)
        after = _START
        while youngest is not None:
            async with self._runtime.db.acquire() as conn:
                jobs = await store.ended_jobs(
                    conn, org.id, youngest, after, self._config.jobs_at_once
                )
            for job in jobs:
                await self._job(org, policy, job)
            if len(jobs) < self._config.jobs_at_once:
                break
            after = (jobs[-1].finished_at, jobs[-1].id)
        if days := policy.days("pages"):
            await self._in_chunks(
                "pages", lambda conn, most: pages.drop_versions_before(conn, org.id, days, most)
            )
        if days := policy.days("deliveries"):
            await self._in_chunks(
                "deliveries", lambda conn, most: store.drop_deliveries(conn, org.id, days, most)
            )

    async def _surplus_imports(self, org: OrgPolicy, policy: RetentionPolicy) -> None:
        """Imports beyond the newest ones of each shop are deleted as a whole."""
        done, failed = policy.done_imports, policy.failed_imports
        async with self._runtime.db.acquire() as conn:
            surplus = await connections.surplus_imports(conn, org.id, done, failed, 1000)
        for job_id in surplus:
            async with self._runtime.db.acquire() as conn:
                job = await store.get_ended_job(conn, job_id)
            if job is not None:
                await self._delete(org, job)

    async def _installation(self, policy: RetentionPolicy) -> None:
        if days := policy.days("events"):
            await self._in_chunks(
                "events", lambda conn, most: store.drop_system_events(conn, days, most)
            )
        if days := policy.jobs:
            await self._in_chunks(
                "scheduleRuns", lambda conn, most: schedules.drop_old_runs(conn, days, most)
            )

    def _before(self, policy: RetentionPolicy, kinds: tuple[str, ...]) -> datetime | None:
        """The latest time of which something is old enough; None: everything is kept."""
        days = [policy.days(kind) for kind in kinds if policy.days(kind)]
        return self._now - timedelta(days=min(days)) if days else None

    async def _job(self, org: OrgPolicy, policy: RetentionPolicy, job: EndedJob) -> None:
        def is_old(kind: str) -> bool:
            days = policy.days(kind)
            return bool(days) and job.finished_at < self._now - timedelta(days=days)

        if is_old("jobs"):
            await self._delete(org, job)
            return
        if is_old("files") and job.has_file:
            await self._files(job)
        if is_old("events") and job.has_events:
            await self._events(job)
        if is_old("searches") and job.has_searches:
            await self._ranges("searches", job, job.total, store.drop_searches)
        if is_old("changes") and job.has_changes:
            await self._changes(job)
        if is_old("items") and job.has_rows:
            await self._items(org, job)

    async def _delete(self, org: OrgPolicy, job: EndedJob) -> None:
        """The whole job. What is left after a crash is found again by the job itself."""
        await self._ranges("searches", job, job.total, store.drop_searches)
        await self._events(job)
        await self._changes(job)
        if not await self._items(org, job):
            return
        async with self._chunk(job) as (conn, lock):
            if lock is not None:
                await store.release_files(conn, job.id)
                self._pruned.counts["jobs"] += await store.drop_job(conn, job.id)

    async def _files(self, job: EndedJob) -> None:
        async with self._chunk(job) as (conn, lock):
            if lock is not None:
                self._pruned.counts["files"] += await store.release_files(conn, job.id)

    async def _events(self, job: EndedJob) -> None:
        await self._ranges("events", job, job.seq, store.drop_events)

    async def _changes(self, job: EndedJob) -> None:
        after: UUID | None = _FIRST
        while after is not None:
            async with self._chunk(job) as (conn, lock):
                if lock is None:
                    return
                dropped, after = await store.drop_changes(conn, job.id, after, self._config.chunk)
                self._pruned.counts["changes"] += dropped

    async def _items(self, org: OrgPolicy, job: EndedJob) -> bool:
        """False if the job is in use again."""
        for first in range(0, max(job.total, 1), self._config.chunk):
            async with self._chunk(job) as (conn, lock):
                if lock is None:
                    return False
                last = first + self._config.chunk
                dropped = await store.drop_items(conn, org.id, job.id, lock, first, last)
                self._pruned.counts["items"] += dropped
                self._runtime.failpoints.reach("prune_before_commit")
        dropped = self._config.chunk
        while dropped == self._config.chunk:
            async with self._chunk(job) as (conn, lock):
                if lock is None:
                    return False
                dropped = await store.drop_rest_of_items(conn, job.id, self._config.chunk)
        return True

    async def _ranges(
        self, kind: str, job: EndedJob, last: int,
        drop: Callable[[Connection, UUID, int, int], Awaitable[int]],
    ) -> None:  # fmt: skip
        for first in range(0, last, self._config.chunk):
            async with self._chunk(job) as (conn, lock):
                if lock is None:
                    return
                self._pruned.counts[kind] += await drop(
                    conn, job.id, first, first + self._config.chunk
                )

    async def _in_chunks(
        self, kind: str, drop: Callable[[Connection, int], Awaitable[int]]
    ) -> None:
        most = self._config.chunk
        dropped = most
        while dropped == most:
            async with self._chunk(None) as (conn, _):
                dropped = await drop(conn, most)
                self._pruned.counts[kind] += dropped

    def _chunk(self, job: EndedJob | None) -> _Chunk:
        return _Chunk(self._runtime, job, self._deadline, self._config.busy_share)


class _Chunk:
    """One short transaction under the lock of a job, and a wait after it."""

    def __init__(
        self, runtime: Runtime, job: EndedJob | None, deadline: float, busy_share: float
    ) -> None:
        self._runtime = runtime
        self._job = job
        self._deadline = deadline
        self._busy_share = busy_share
        self._transaction = runtime.db.transaction()
        self._began = 0.0

    async def __aenter__(self) -> tuple[Connection, JobLock | None]:
        if time.monotonic() > self._deadline:
            raise _TimeIsUp
        conn = await self._transaction.__aenter__()
        self._began = time.monotonic()
        try:
            lock = None if self._job is None else await store.lock_ended(conn, self._job.id)
        except BaseException as error:
            await self._transaction.__aexit__(type(error), error, error.__traceback__)
            raise
        return conn, lock

    async def __aexit__(self, *error: object) -> None:
        await self._transaction.__aexit__(*error)  # type: ignore[arg-type]
        if error[0] is None:
            spent = time.monotonic() - self._began
            await asyncio.sleep(spent * (1 - self._busy_share) / self._busy_share)
