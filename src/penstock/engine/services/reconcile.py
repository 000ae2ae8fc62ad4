"""Fails jobs beyond their time limit, and repairs jobs that have work but cannot be claimed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from penstock.engine import ending
from penstock.engine.reprocess import stop_reopening
from penstock.engine.runtime import Runtime
from penstock.model.errors import ItemError
from penstock.model.ticket import Ticket
from penstock.settings import Settings
from penstock.store.database import CONNECTION_ERRORS
from penstock.store.errors import InsufficientResourcesError, PostgresError
from penstock.store.jobs import claims, reconcile

_MAX_AT_ONCE = 50


@dataclass(frozen=True, slots=True)
class ReconcilerConfig:
    every_ms: int
    job_limit_ms: int
    # A job is checked only after this time without activity, when no transaction is in flight.
    stuck_ms: int

    @classmethod
    def of(cls, settings: Settings) -> ReconcilerConfig:
        return cls(5 * settings.sweep_ms, settings.job_limit_ms, 2 * settings.lock_cap_ms)


@dataclass(frozen=True, slots=True)
class ReconcileResult:
    overdue: tuple[UUID, ...] = ()
    mended: tuple[UUID, ...] = ()
    stop_reopening: tuple[UUID, ...] = ()


class Reconciler:
    name = "reconciler"

    def __init__(self, runtime: Runtime, config: ReconcilerConfig | None = None) -> None:
        self._runtime = runtime
        self._config = config or ReconcilerConfig.of(runtime.settings)
        self.every_ms = self._config.every_ms

    async def run_once(self) -> ReconcileResult:
        async with self._runtime.db.acquire() as conn:
            late = await reconcile.overdue(conn, self._config.job_limit_ms, None, _MAX_AT_ONCE)
            stuck = await reconcile.stuck(conn, self._config.stuck_ms, _MAX_AT_ONCE)
            kept = await reconcile.abandoned_holds(conn, _MAX_AT_ONCE)
        failed = [job.job_id for job in late if await self._logging_errors(self._end, job.job_id)]
        mended = [job_id for job_id in stuck if await self._logging_errors(self._repair, job_id)]
        freed = [
            job_id
            for job_id, holder in kept.items()
            if await self._logging_errors(partial(self._stop_reopening, holder), job_id)
        ]
        return ReconcileResult(tuple(failed), tuple(mended), tuple(freed))

    async def _logging_errors(self, step: Callable[[UUID], Awaitable[bool]], job_id: UUID) -> bool:
        """An error in one job must not keep the others from being checked."""
        try:
            return await step(job_id)
        except (*CONNECTION_ERRORS, InsufficientResourcesError):
            raise
        except PostgresError as error:
            self._runtime.log.error(
                "job could not be reconciled", job=str(job_id), error=repr(error)
            )
            return False

    async def _end(self, job_id: UUID) -> bool:
        """Fail a job that exceeded its time limit. Its worker notices that the lease is gone."""
        limit_ms = self._config.job_limit_ms
        async with self._runtime.db.transaction() as conn:
            await claims.lock_claims(conn)
            # A settle may have happened since.
            still = await reconcile.overdue(conn, limit_ms, job_id, 1)
            if not still:
                return False
            error = ItemError(
                "JOB_TIMEOUT",
                f"Nothing was settled for {limit_ms / 60_000:g} minutes while a worker was at"
                f" {still[0].stage}",
            )
            lane = await ending.fail(conn, job_id, error, still[0].worker)
        self._runtime.log.error(
            "job exceeded its time limit and failed", job=str(job_id), worker=still[0].worker,
            stage=still[0].stage, limit_ms=limit_ms,
        )  # fmt: skip
        if lane is not None:
            await self._runtime.broker.send(Ticket(lane))
        return lane is not None

    async def _stop_reopening(self, holder: UUID, job_id: UUID) -> bool:
        """Release a job whose bulk operation was aborted."""
        async with self._runtime.db.transaction() as conn:
            await stop_reopening(conn, job_id, holder)
        self._runtime.log.warning(
            "job was released from its bulk operation", job=str(job_id), operation=str(holder)
        )
        return True

    async def _repair(self, job_id: UUID) -> bool:
        async with self._runtime.db.transaction() as conn:
            await claims.lock_claims(conn)
            mended = await reconcile.repair(conn, job_id)
        if mended is None:
            return False
        wrong, written = mended
        # Should never happen: this log line reports a bug, and the job continues.
        self._runtime.log.error("stuck job was repaired", job=str(job_id), found=wrong)
        for lane in written.lanes:
            await self._runtime.broker.send(Ticket(lane))
        return True
