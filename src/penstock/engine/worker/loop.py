"""The worker loop: claim while slots are free, run, settle, then wait for a ticket or a due
time."""

from __future__ import annotations

import asyncio
import gc
import math
import os
import secrets
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

from penstock.engine.claim import Claim, Limits, LockedJobs, claim, lease_ids
from penstock.engine.context import StopSign
from penstock.engine.finish import finish
from penstock.engine.ingest import Ingest
from penstock.engine.ranges import store_range
from penstock.engine.run import ClaimOutcomes, run_items
from penstock.engine.runtime import Runtime
from penstock.engine.services.leader import Leader
from penstock.engine.services.service import run_service
from penstock.engine.settle import TRANSIENT_DB_ERRORS, SettleResult, release, settle
from penstock.engine.worker.heartbeat import Heartbeat, Report
from penstock.engine.worker.liveness import Liveness
from penstock.engine.worker.memory import give_memory_back
from penstock.engine.worker.reaper import LocalWorkerReaper
from penstock.engine.worker.settle_each import SettleEach
from penstock.engine.worker.slots import Slots
from penstock.engine.worker_errors import CHILD_CRASHED, SLICE_FAILED, report_worker_error
from penstock.model.adaptive import ClaimBounds
from penstock.model.errors import ChildCrashed
from penstock.model.fairness import serves_one_org
from penstock.model.monitor.traces import JobTrace
from penstock.model.ticket import Ticket
from penstock.store.jobs import claims
from penstock.store.jobs.claims import ClaimedItem, Served
from penstock.store.workers import workers

# One connection to work with, one to write.
_BUSY_SLICES = 2
_QUIET_SECONDS = 0.1
_PIECE_MS = 500.0
_MAX_PIECE_MS = 2_000.0
_MIN_SETTLE_ITEMS = 500
_CLOSE_SECONDS = 2.0
_MAX_WAIT_SECONDS = 2.0
_TIDY_SECONDS = 60.0
# What a slice takes of a slot whose stage mostly waits for answers: little processor time.
_WAITING_SHARE = 0.0625


def _limits(runtime: Runtime, served: Served) -> Limits:
    settings = runtime.settings
    # One org never gets all slots, so that another one does not wait for a whole slice.
    one_org = served.job_id is not None or serves_one_org(served.lanes)
    alone = one_org or settings.worker_slots == 1
    return Limits(
        ClaimBounds(
            settings.worker_target_slice_ms, settings.safety_factor, settings.claim_min,
            settings.claim_max, settings.claim_max_bytes,
        ),
        settings.lock_floor_ms, settings.lock_cap_ms, settings.org_max_slices,
        settings.worker_slots if alone else settings.worker_slots - 1, sorted(runtime.pipelines),
        brief={
            (one.name, stage): one.brief_member
            for one in runtime.pipelines.values()
            for stage in one.needs_brief_only
        },
        at_once={
            (one.name, stage): count
            for one in runtime.pipelines.values()
            for stage, count in one.items_at_once.items()
        },
    )  # fmt: skip


class Worker:
    """A worker process and its slots."""

    def __init__(
        self,
        runtime: Runtime,
        served: Served | None = None,
        *,
        sweeps: bool = True,
        announces: bool = True,
    ) -> None:
        self._runtime = runtime
        self._served = served or Served()
        settings = runtime.settings
        self._host = socket.gethostname()
        self.id = f"{self._host}:{os.getpid()}:{secrets.token_hex(3)}"
        self._slots = settings.worker_slots
        # No item starts after twice the target duration of a slice.
        self._time_box = 2 * settings.worker_target_slice_ms / 1000
        self._limits = _limits(runtime, self._served)
        self._locked = LockedJobs()
        self._running = Slots(runtime.log)
        self._items_settled = 0
        self._misses = 0
        self._began = time.monotonic()
        self._tidied_at = self._began
        self._stopping = asyncio.Event()
        self._release_now = asyncio.Event()
        self._minding: asyncio.Task[None] | None = None
        self._quiet_until = 0.0
        self._claim_began = self._began
        self._deadline: float | None = None
        self._heartbeat = Heartbeat(
            runtime.db,
            self.id,
            runtime.log,
            settings.lock_floor_ms,
            runtime.failpoints,
            self._report,
        )
        self._sweeps = sweeps
        self._liveness = Liveness(settings.data_dir / "workers", self.id) if announces else None

    async def __aenter__(self) -> Worker:
        if self._liveness is not None:
            self._liveness.announce()
            async with self._runtime.db.transaction() as conn:
                await workers.register(conn, self.id, self._host, os.getpid(), self._slots)
        self._heartbeat.start()
        self._minding = asyncio.create_task(self._running.mind())
        return self

    async def __aexit__(self, *_: object) -> None:
        """Finish or release running slices within the shutdown time, even while the database is
        away. A shutdown counts no attempt."""
        if self._minding is not None:
            self._minding.cancel()
        drained = await self._running.drain(
            self._runtime.settings.shutdown_ms / 1000, self._release_now
        )
        await asyncio.to_thread(self._heartbeat.stop)
        if self._liveness is None:
            return
        figures = {
            "slicesFinished": self._running.ended - drained.released,
            "slicesReleased": drained.released,
            "slicesLeft": drained.left,
            "itemsSettled": self._items_settled,
            "uptimeMs": int((time.monotonic() - self._began) * 1000),
        }
        try:
            async with asyncio.timeout(_CLOSE_SECONDS), self._runtime.db.transaction() as conn:
                await workers.stop(conn, self.id)
                await workers.add_system_event(conn, "queue.shutdown", self.id, figures)
        except TRANSIENT_DB_ERRORS as error:
            self._runtime.log.warning("could not record the stop of this worker", error=repr(error))
        self._runtime.log.info("worker has stopped", worker=self.id, **figures)
        if not drained.left:
            # The reaper of another worker finds what is left.
            self._liveness.leave()

    def _report(self) -> Report:
        """What the heartbeat reports, called from its thread."""
        figures = self._runtime.figures
        figures.measure()
        shown = figures.snapshot(self._runtime.calls.limits())
        return Report(self._slots, math.ceil(self._running.used), shown)

    def stop(self) -> None:
        """Stop claiming; finish or release running slices. Called again: release them at once."""
        if self._stopping.is_set():
            self._release_now.set()
        self._stopping.set()

    async def run(self, until: Callable[[], bool] | None = None) -> None:
        """Work until stopped, or until ``until`` is true while nothing runs."""
        # Items are many and have no reference cycles: collect garbage less often.
        gc.set_threshold(50_000, 20, 50)
        beside = self._background_tasks()
        try:
            while not self._stopping.is_set():
                self._tidy()
                claimed = None
                if self._running.used < self._slots:
                    claimed = await self._claim()
                if claimed is not None and claimed.suspect:
                    await self._work_alone(claimed)
                    continue
                if claimed is not None:
                    self._start(claimed)
                    # Its items start before the next claim does.
                    await asyncio.sleep(0)
                    continue
                if until is not None and not self._running and until():
                    return
                await self._rest()
        finally:
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, return_exceptions=True)

    def _tidy(self) -> None:
        """Broken connections form reference cycles with their buffers, and the thresholds set in
        `run` rarely trigger a collection: without this a flapping server makes memory grow."""
        now = time.monotonic()
        if now - self._tidied_at > _TIDY_SECONDS:
            gc.collect()
            give_memory_back()
            self._tidied_at = now

    async def run_ticket(self, ticket: Ticket) -> bool:
        """Claim, run and settle the work that the ticket names; False if there is none, for example
        because the ticket came twice."""
        stages = [ticket.stage] if ticket.stage else None
        return await self.run_once(
            replace(self._served, job_id=ticket.job_id, stages=stages, group=ticket.group or None)
        )

    async def run_once(self, served: Served | None = None) -> bool:
        """Claim, run and settle once; False if nothing could be claimed, or no time was left."""
        claimed = await self._claim(served)
        if claimed is None:
            return False
        is_over = self._deadline is not None and time.monotonic() >= self._deadline
        if is_over and claimed.work.kind == "items":
            # The claim took the remaining time. An ingest stores a batch all the same, so that
            # repeated short calls finish the job in the end.
            await self._give_back(claimed)
            return False
        task = self._start(claimed)
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait({task})
            raise
        return True

    async def run_for(self, seconds: float) -> int:
        """Run claims one after the other for this time; answers how many."""
        self._deadline = time.monotonic() + seconds
        done = 0
        while time.monotonic() < self._deadline and await self.run_once():
            done += 1
        return done

    async def _claim(self, served: Served | None = None) -> Claim | None:
        figures = self._runtime.figures
        limits = replace(self._limits, holds_ingest=self._heartbeat.overloaded)
        if figures.is_busy:
            limits = replace(limits, own_cap=min(limits.own_cap, _BUSY_SLICES))
        self._claim_began = time.monotonic()
        try:
            claimed = await claim(
                self._runtime.db,
                self.id,
                served or self._served,
                limits,
                figures=figures,
                locked=self._locked,
            )
        except TRANSIENT_DB_ERRORS as error:
            await self._wait_for_database(error)
            return None
        if self._misses:
            self._runtime.log.info("claims again", misses=self._misses)
            self._misses = 0
        if claimed is not None:
            work = claimed.work
            figures.times.observe("claim", (), time.monotonic() - claimed.claimed_at)
            self._runtime.log.debug(
                "claimed", job=str(work.job_id), pipeline=work.pipeline, stage=work.stage,
                items=len(claimed.items), leaseMs=claimed.lease_ms,
            )  # fmt: skip
            figures.claimed(work.pipeline, work.stage, len(claimed.items), claimed.lease_ms)
            self._runtime.failpoints.reach("after_claim")
        return claimed

    async def _wait_for_database(self, error: BaseException) -> None:
        """Log it once, and wait longer after each failure."""
        self._misses += 1
        if self._misses == 1:
            self._runtime.log.warning("claim will be retried", error=repr(error))
        await asyncio.sleep(min(0.25 * self._misses, _MAX_WAIT_SECONDS))

    def _start(self, claimed: Claim) -> asyncio.Task[None]:
        stop = StopSign()
        work = claimed.work
        waits = work.kind == "items" and work.stage in self._waiting_stages(work.pipeline)
        share = _WAITING_SHARE if waits else 1.0
        return self._running.start(self._work(claimed, stop), stop, share)

    def _waiting_stages(self, pipeline: str) -> frozenset[str]:
        known = self._runtime.pipelines.get(pipeline)
        return frozenset() if known is None else known.waiting_stages

    def _items_at_once(self, claimed: Claim) -> int:
        """How many items the stage works on at the same time."""
        work = claimed.work
        at_once = self._limits.at_once.get((work.pipeline, work.stage), 1)
        return at_once if work.kind == "items" else 1

    async def _work_alone(self, claimed: Claim) -> None:
        """Run an item that crashed before while nothing else runs, so that a crash hits it
        alone."""
        ids = lease_ids(claimed)
        self._heartbeat.hold(ids, claimed.lease_ms, self._hard_seconds(claimed), StopSign())
        await self._until_idle()
        if self._stopping.is_set():
            self._heartbeat.drop(ids)
            await self._give_back(claimed)
            return
        self._start(claimed)
        await self._until_idle()

    async def _until_idle(self) -> None:
        stopping = asyncio.create_task(self._stopping.wait())
        while self._running and not stopping.done():
            await asyncio.wait({stopping, *self._running}, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()

    async def _rest(self) -> None:
        """Wait for a free slot, a ticket, or the next due time."""
        timeout = self._runtime.settings.poll_ms / 1000
        waits: set[asyncio.Task[object]] = {asyncio.create_task(self._stopping.wait())}
        if self._running.used < self._slots:
            timeout = min(timeout, await self._until_due(timeout))
            waits.add(asyncio.create_task(self._runtime.broker.receive(timeout)))
        try:
            await asyncio.wait(
                {*waits, *self._running}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            for task in waits:
                task.cancel()
            await asyncio.gather(*waits, return_exceptions=True)

    async def _until_due(self, most: float) -> float:
        try:
            async with self._runtime.db.acquire() as conn:
                since_claim = time.monotonic() - self._claim_began
                wait = await claims.next_ready_ms(conn, since_claim * 1000)
        except TRANSIENT_DB_ERRORS:
            return most
        # A finished slice or a ticket ends the wait sooner.
        return most if wait is None else min(most, wait / 1000)

    async def _work(self, claimed: Claim, stop: StopSign) -> None:
        work = claimed.work
        attributes = {"pipeline": work.pipeline, "stage": work.stage, "items": len(claimed.items)}
        caller = next((one.traceparent for one in claimed.jobs if one.id == work.job_id), None)
        trace = JobTrace.of(work.job_id, caller)
        with self._runtime.traces.slice(trace, {**attributes, "worker": self.id}):
            await self._work_traced(claimed, stop)

    async def _work_traced(self, claimed: Claim, stop: StopSign) -> None:
        ids = lease_ids(claimed)
        self._heartbeat.hold(ids, claimed.lease_ms, self._hard_seconds(claimed), stop)
        try:
            match claimed.work.kind:
                case "ingest":
                    await Ingest(self._runtime, claimed, stop, self.id).run(self._must_yield)
                case "ranges":
                    await store_range(self._runtime, claimed, stop, self.id)
                case "finish":
                    await finish(self._runtime, claimed, stop, self.id)
                case _ if claimed.leases[0].group is not None:
                    await self._work_groups(claimed, stop)
                case _:
                    await self._work_items(claimed, stop)
        except asyncio.CancelledError:
            await self._give_back(claimed)
            raise
        except TRANSIENT_DB_ERRORS as error:
            # The database failed, not the work: release it as soon as the database answers.
            self._runtime.log.warning("slice is released", error=repr(error))
            await self._give_back(claimed)
        except Exception as error:
            # The lease expires and the items are claimed again: a bug must not end the worker.
            self._runtime.log.error("slice failed", error=repr(error), exc_info=True)
            await self._report_error(SLICE_FAILED, error, claimed)
        finally:
            self._heartbeat.drop(ids)
            work = claimed.work
            seconds = time.monotonic() - claimed.claimed_at
            self._runtime.figures.times.observe("slice", (work.pipeline, work.stage), seconds)

    async def _report_error(self, reason: str, error: Exception, claimed: Claim) -> None:
        """An event for operators; the log has the details if the database does not take it."""
        work = claimed.work
        await report_worker_error(
            self._runtime, self.id, reason, type(error).__name__, work.job_id, work.stage
        )

    async def _give_back(self, claimed: Claim) -> None:
        if self._running.abandoned or not claimed.leases:
            return
        try:
            await asyncio.shield(
                release(self._runtime, claimed, self.id, self._patience_seconds(claimed))
            )
        except TRANSIENT_DB_ERRORS as error:
            self._runtime.log.warning(
                "slice could not be released; its lease will expire", error=repr(error)
            )

    def _patience_seconds(self, claimed: Claim) -> float:
        """How long to retry writing while the database is full or does not answer. The fence makes
        a late write harmless, but a kickoff's caller cannot wait for long."""
        if self._deadline is not None:
            return claimed.lease_ms / 1000
        return self._runtime.settings.job_limit_ms / 1000

    def _hard_seconds(self, claimed: Claim) -> float:
        settings = self._runtime.settings
        if claimed.work.kind != "items":
            # The job's own time limit comes first, with a better error.
            return 2 * settings.job_limit_ms / 1000
        item_ms = self._runtime.item_timeout_ms(claimed.work.pipeline, claimed.work.stage)
        return (2 * settings.worker_target_slice_ms + item_ms) / 1000 + 30

    def _must_yield(self, seconds: float) -> bool:
        """Whether an ingest should release its lease: its time is over, all slots are taken, the
        queue is overloaded, or the lease is near its maximum."""
        if self._deadline is not None:
            return time.monotonic() > self._deadline
        settings = self._runtime.settings
        crowded = self._running.used >= self._slots or self._heartbeat.overloaded
        patience_ms = 2 * settings.worker_target_slice_ms if crowded else settings.job_limit_ms
        return seconds > patience_ms / 1000

    async def _work_groups(self, claimed: Claim, stop: StopSign) -> None:
        """Run the groups of a claim concurrently, each in order."""
        by_slice: dict[UUID, list[ClaimedItem]] = {lease.id: [] for lease in claimed.leases}
        for item in claimed.items:
            by_slice[item.slice_id].append(item)
        shares = [
            Claim(
                claimed.turn,
                claimed.work,
                [lease],
                claimed.lease_ms,
                claimed.jobs,
                by_slice[lease.id],
            )
            for lease in claimed.leases
        ]
        # Wait for all: a group left behind would continue without its lease being extended.
        ends = await asyncio.gather(
            *(self._work_items(part, stop) for part in shares), return_exceptions=True
        )
        for end in ends:
            if isinstance(end, BaseException):
                raise end

    async def _work_items(self, claimed: Claim, stop: StopSign) -> None:
        """Run and settle the claim in pieces of about half a second, so that progress is visible, a
        crash repeats little, and virtual time is charged as it passes."""
        if self._settles_each(claimed):
            await self._work_each(claimed, stop)
            return
        deadline = self._slice_deadline()
        # A smaller piece would wait for its slowest answer with fewer requests under way.
        size = max(_piece_size(claimed), self._items_at_once(claimed))
        left = claimed
        try:
            while left.items:
                over = left is not claimed and (stop.reason or time.monotonic() > deadline)
                piece, rest = _split(left, len(left.items) if over else size)
                if not await self._work_piece(piece, stop, deadline, last=not rest.items):
                    return
                left = rest
        except asyncio.CancelledError:
            await self._give_back(left)
            raise

    def _slice_deadline(self) -> float:
        deadline = time.monotonic() + self._time_box
        return deadline if self._deadline is None else min(deadline, self._deadline)

    def _settles_each(self, claimed: Claim) -> bool:
        known = self._runtime.pipelines.get(claimed.work.pipeline)
        return known is not None and claimed.work.stage in known.settles_each

    async def _work_each(self, claimed: Claim, stop: StopSign) -> None:
        """Run the items side by side and settle each when it ends."""
        each = SettleEach(self._runtime, claimed, stop, self._items_at_once(claimed))
        try:
            await each.run(self._slice_deadline(), self._settle_piece)
        except asyncio.CancelledError:
            await self._give_back(each.left)
            raise
        except TRANSIENT_DB_ERRORS as error:
            self._runtime.log.warning("slice is released", error=repr(error))
            await self._give_back(each.left)

    async def _work_piece(
        self, piece: Claim, stop: StopSign, deadline: float, *, last: bool
    ) -> bool:
        """Run and settle; False if the lease was lost."""
        worked = await run_items(self._runtime, piece, stop, deadline - time.monotonic())
        return await self._settle_piece(piece, worked, last)

    async def _settle_piece(self, piece: Claim, worked: ClaimOutcomes, last: bool) -> bool:
        self._runtime.failpoints.reach("after_work")
        if worked.crashed:
            await self._report_error(CHILD_CRASHED, ChildCrashed(), piece)
        patience = self._patience_seconds(piece)
        if last:
            # From here on a missing slice was settled, not lost.
            self._heartbeat.settling(lease_ids(piece), patience)
        settled = await settle(self._runtime, piece, worked, self.id, patience, last=last)
        if not settled.held:
            # Expected after a cancel; otherwise the sweeper has logged it.
            self._runtime.log.info("lease was lost, nothing written", job=str(piece.work.job_id))
            return False
        self._items_settled += sum(outcome is not None for outcome in worked.outcomes)
        if settled.measured:
            item_ms = worked.work_ms / settled.measured
            self._runtime.figures.worked(piece.work.pipeline, piece.work.stage, item_ms)
        await self._wake_others(settled)
        return True

    async def _wake_others(self, settled: SettleResult) -> None:
        """Wake idle workers for the next stage or the finish, at most a few times a second."""
        now = time.monotonic()
        if settled.written.to_finish or (settled.opened and now > self._quiet_until):
            self._quiet_until = now + _QUIET_SECONDS
            for lane in settled.written.lanes:
                await self._runtime.broker.send(Ticket(lane))

    def _background_tasks(self) -> list[asyncio.Task[None]]:
        """Background tasks: leader candidate and reaper."""
        if not self._sweeps:
            return []
        beside = [asyncio.create_task(Leader(self._runtime, self.id).run())]
        if self._liveness is not None:
            reaper = LocalWorkerReaper(self._runtime, self._host, self._liveness)
            beside.append(asyncio.create_task(run_service(self._runtime, reaper)))
        return beside


def _piece_size(claimed: Claim) -> int:
    """How many items to settle at a time. Groups and claims of many small jobs are settled as a
    whole, since each has a lease of its own."""
    whole = len(claimed.items)
    lease = claimed.leases[0]
    if len(claimed.leases) > 1 or lease.group is not None:
        return whole
    per_ms = whole / max(lease.expected_ms, 1.0)
    # A settle costs as much as some hundred quick items, so quick items are settled in larger
    # pieces.
    soon = min(_MIN_SETTLE_ITEMS, int(_MAX_PIECE_MS * per_ms))
    return max(1, soon, int(_PIECE_MS * per_ms))


def _split(claimed: Claim, size: int) -> tuple[Claim, Claim]:
    """Split into a piece and the rest; a rest of less than half a piece is included."""
    if len(claimed.items) < size * 1.5:
        size = len(claimed.items)
    now = claimed.claimed_at if size == len(claimed.items) else time.monotonic()
    return (
        replace(claimed, items=claimed.items[:size]),
        replace(claimed, items=claimed.items[size:], claimed_at=now),
    )
