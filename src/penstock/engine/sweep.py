"""Beside the way: leases whose holder is gone, silent workers, old keys."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import asyncpg

from penstock.engine import ending
from penstock.engine.liveness import Liveness
from penstock.engine.parts import Parts
from penstock.engine.settle import return_crashed
from penstock.model.errors import ItemError
from penstock.store import claims, jobs, slices, workers
from penstock.store.database import Connection
from penstock.store.moves import JobMove, write_moves

_MOST_AT_ONCE = 200
# Workers an ingest or a finish may take down before its job is failed.
_MOST_CRASHES = 3
# A worker is lost after this many leases without a heartbeat.
_SILENT_LEASES = 2
_TIDY_SECONDS = 600.0
_HALF_MADE_SECONDS = 24 * 3600


@dataclass(frozen=True, slots=True)
class Swept:
    slices: int = 0
    workers: tuple[str, ...] = ()


class Sweeper:
    """Any number may run at once: a lease is taken by deleting it, and only one can."""

    def __init__(self, parts: Parts, host: str, liveness: Liveness | None = None) -> None:
        self._parts = parts
        self._host = host
        self._liveness = liveness
        self._next_tidying = 0.0

    async def run_once(self) -> Swept:
        settings = self._parts.settings
        async with self._parts.db.acquire() as conn:
            # First: what follows may have to wait for a lock that such a one holds.
            for client in await workers.end_frozen(conn, settings.lock_floor_ms):
                self._parts.log.warning("frozen client was cut off", client=client)
            gone = await slices.expired(conn, settings.lock_floor_ms, _MOST_AT_ONCE)
        await self._return_all(gone, holder_is_dead=False)
        dead = await self._bury_local_workers()
        async with self._parts.db.transaction() as conn:
            lost = await workers.silent(conn, settings.lock_cap_ms * _SILENT_LEASES)
            for worker in lost:
                await workers.tell(conn, "worker.lost", worker, {"reason": "no heartbeat"})
        if time.monotonic() > self._next_tidying:
            self._next_tidying = time.monotonic() + _TIDY_SECONDS
            await self._tidy()
        return Swept(len(gone), (*dead, *lost))

    async def _tidy(self) -> None:
        """What is old and nobody's: rows of workers long gone, keys, half-made uploads."""
        async with self._parts.db.transaction() as conn:
            await workers.forget(conn)
        await self._parts.blobs.sweep(_HALF_MADE_SECONDS)

    async def _return_all(self, ids: Sequence[UUID], *, holder_is_dead: bool) -> None:
        for slice_id in ids:
            try:
                await self._return(slice_id, holder_is_dead=holder_is_dead)
            except asyncpg.PostgresError as error:
                # One that cannot be returned must not keep the others.
                self._parts.log.error("lease could not be taken back", error=repr(error))

    async def _bury_local_workers(self) -> list[str]:
        """Leases of a worker known to be dead need not run out first."""
        if self._liveness is None:
            return []
        async with self._parts.db.acquire() as conn:
            candidates = await workers.local(conn, self._host)
        dead = [worker for worker in candidates if self._liveness.is_dead(worker)]
        for worker in dead:
            async with self._parts.db.acquire() as conn:
                held = await slices.of_worker(conn, worker)
            await self._return_all(held, holder_is_dead=True)
            async with self._parts.db.transaction() as conn:
                await workers.stop(conn, worker)
                await workers.tell(conn, "worker.lost", worker, {"reason": "the process died"})
            self._liveness.forget(worker)
        return dead

    async def _return(self, slice_id: UUID, *, holder_is_dead: bool) -> None:
        """Give back what a lost lease held."""
        lanes: set[str] = set()
        async with self._parts.db.transaction() as conn:
            await claims.lock_claims(conn)
            lost = await slices.take_expired(conn, slice_id, holder_is_dead=holder_is_dead)
            if lost is None:
                return
            self._parts.log.warning(
                "lease taken back", slice=str(slice_id), worker=lost.worker, job=str(lost.job_id)
            )
            if lost.kind == "items":
                move = JobMove()
                await return_crashed(conn, move, lost.job_id, lost.id, lost.position, lost.rows)
                written = await write_moves(conn, {lost.job_id: move}, lost.worker)
                lanes |= written.lanes
            else:
                lanes |= await self._return_whole(conn, lost)
        for lane in lanes:
            await self._parts.broker.wake(lane)

    async def _return_whole(self, conn: Connection, lost: slices.Expired) -> set[str]:
        crashes = await slices.count_crash(conn, lost.job_id, lost.position)
        if crashes >= _MOST_CRASHES:
            died = ItemError(
                "WORKER_CRASHED", f"{crashes} workers died over the job's {lost.stage}"
            )
            failed = await ending.fail(conn, lost.job_id, died, lost.worker)
            if failed is not None:
                return {failed}
        # Also one that is ending already: it must come to its end.
        attempts, lane = await jobs.attempts_and_lane(conn, lost.job_id)
        await slices.yield_whole(conn, lost.job_id, lost.position, after_ms=0, attempts=attempts)
        return {lane}
