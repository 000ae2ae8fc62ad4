"""Takes back expired leases, ends frozen database clients, marks silent workers as lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from penstock.engine import ending
from penstock.engine.runtime import Runtime
from penstock.engine.settle import return_crashed
from penstock.model.errors import ItemError
from penstock.model.monitor.checks import LEASE_TAKEN_BACK
from penstock.model.ticket import Ticket
from penstock.settings import Settings
from penstock.store.database import CONNECTION_ERRORS, Connection
from penstock.store.errors import InsufficientResourcesError, LockNotAvailableError, PostgresError
from penstock.store.jobs import claims, jobs, ranges, slices
from penstock.store.jobs.transitions import JobMove, write_moves
from penstock.store.workers import workers

_MAX_AT_ONCE = 200
# The next run comes soon, and all claims wait during this one.
_WAIT_FOR_JOB_MS = 500
# Workers that an ingest or finish may crash before its job is failed.
_MAX_CRASHES = 3
# A worker is lost after this many lease times without a heartbeat.
_SILENT_LEASES = 2


@dataclass(frozen=True, slots=True)
class SweeperConfig:
    every_ms: int
    shortest_lease_ms: float
    silent_ms: float

    @classmethod
    def of(cls, settings: Settings) -> SweeperConfig:
        silent_ms = settings.lock_cap_ms * _SILENT_LEASES
        return cls(settings.sweep_ms, settings.lock_floor_ms, silent_ms)


@dataclass(frozen=True, slots=True)
class SweepResult:
    slices: int = 0
    workers: tuple[str, ...] = ()


class Sweeper:
    """May run in several processes at once: a lease is taken by deleting it, which only one can
    do."""

    name = "sweeper"

    def __init__(self, runtime: Runtime, config: SweeperConfig | None = None) -> None:
        self._runtime = runtime
        self._config = config or SweeperConfig.of(runtime.settings)
        self.every_ms = self._config.every_ms

    async def run_once(self) -> SweepResult:
        lease_ms = self._config.shortest_lease_ms
        async with self._runtime.db.acquire() as conn:
            # First, since the steps below may wait for a lock that a frozen client holds.
            for client in await workers.end_frozen(conn, lease_ms):
                self._runtime.log.warning("session of a frozen client was ended", client=client)
            gone = await slices.expired_leases(conn, lease_ms, _MAX_AT_ONCE)
        if gone:
            self._runtime.failpoints.reach("in_sweep")
        await return_all(self._runtime, gone, holder_is_dead=False)
        async with self._runtime.db.transaction() as conn:
            lost = await workers.mark_silent_lost(conn, self._config.silent_ms)
            for worker in lost:
                await workers.add_system_event(
                    conn, "worker.lost", worker, {"reason": "no heartbeat"}
                )
        return SweepResult(len(gone), tuple(lost))


async def return_all(
    runtime: Runtime, lost: Sequence[slices.LostLease], *, holder_is_dead: bool
) -> bool:
    """Return the items of lost leases; False if some must wait for a locked job."""
    locked: set[UUID] = set()
    for slice_id, job_id in lost:
        if job_id in locked:
            continue
        try:
            await _return(runtime, slice_id, holder_is_dead=holder_is_dead)
        except LockNotAvailableError:
            # Waiting for the lock would delay all claims.
            locked.add(job_id)
            runtime.log.warning("lease could not be taken back: its job is locked", job=str(job_id))
        except (*CONNECTION_ERRORS, InsufficientResourcesError):
            # The other leases of this job cannot be returned either.
            raise
        except PostgresError as error:
            # An error in one lease must not keep the others from being returned.
            runtime.log.error("lease could not be taken back", error=repr(error))
    return not locked


async def _return(runtime: Runtime, slice_id: UUID, *, holder_is_dead: bool) -> None:
    lanes: set[str] = set()
    async with runtime.db.transaction() as conn:
        await claims.lock_claims_briefly(conn, _WAIT_FOR_JOB_MS)
        lost = await slices.take_expired(conn, slice_id, holder_is_dead=holder_is_dead)
        if lost is None:
            return
        runtime.log.warning(
            "lease taken back", slice=str(slice_id), worker=lost.worker, job=str(lost.job_id)
        )
        data = {"reason": LEASE_TAKEN_BACK, "jobId": str(lost.job_id), "stage": lost.stage}
        await workers.add_system_event(conn, "worker.error", lost.worker, data)
        if lost.kind in ("items", "ranges"):
            if lost.kind == "ranges":
                move = await ranges.release(conn, lost.job_id, lost.id, crashes=1)
            else:
                move = JobMove()
                await return_crashed(conn, move, lost.job_id, lost.id, lost.position, lost.rows)
            written = await write_moves(conn, {lost.job_id: move}, lost.worker)
            lanes |= written.lanes
        else:
            lanes |= await _return_whole(conn, lost)
        # Last, since every process waits for that row.
        await workers.count_taken_back(conn)
    for lane in lanes:
        await runtime.broker.send(Ticket(lane))


async def _return_whole(conn: Connection, lost: slices.ExpiredLease) -> set[str]:
    crashes = await slices.count_crash(conn, lost.job_id, lost.position)
    if crashes >= _MAX_CRASHES:
        died = ItemError("WORKER_CRASHED", f"{crashes} workers died over the job's {lost.stage}")
        failed = await ending.fail(conn, lost.job_id, died, lost.worker, runs=crashes)
        if failed is not None:
            return {failed}
    # A job that is ending is included: it must end.
    attempts, lane = await jobs.attempts_and_lane(conn, lost.job_id)
    await slices.yield_whole(conn, lost.job_id, lost.position, after_ms=0, attempts=attempts)
    return {lane}
