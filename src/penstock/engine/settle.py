"""Write the outcomes of a claim: results, effects, counters, events and virtual time, in one
transaction under the fence."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from penstock.engine.claim import Claim, lease_ids
from penstock.engine.context import Timer
from penstock.engine.run import YIELD_EVERY, ClaimOutcomes
from penstock.engine.runtime import Runtime, parse_config
from penstock.engine.worker.figures import Tally
from penstock.model.decide import Transition, decide
from penstock.model.effects import Asked, EffectBatch, EffectWriter, LockOrder, SetPace
from penstock.model.errors import ItemError, PermanentError
from penstock.model.outcomes import AddedCells, Outcome, Retry, document_json
from penstock.model.pipeline import Stage
from penstock.model.policy import RetryPolicy
from penstock.model.states import ItemStatus
from penstock.model.text.json_text import JsonText
from penstock.store.database import CONNECTION_ERRORS, Connection, to_json
from penstock.store.errors import (
    DataError,
    DeadlockDetectedError,
    InsufficientResourcesError,
    LockNotAvailableError,
    OperatorInterventionError,
    PostgresError,
    PostgresSystemError,
    QueryCanceledError,
    SerializationError,
)
from penstock.store.jobs import claims, ranges, slices
from penstock.store.jobs.claims import ClaimedItem, ClaimedJob
from penstock.store.jobs.transitions import COUNTER_OF, JobMove, NewChild, Written, write_moves

# Longer ones would not fit into the index that keeps them unique.
_MAX_KEY_LENGTH = 500
# The server's fault alone: lost, full, stopped, out of memory, or two that blocked each other.
TRANSIENT_DB_ERRORS = (
    *CONNECTION_ERRORS,
    DeadlockDetectedError,
    SerializationError,
    InsufficientResourcesError,
    OperatorInterventionError,
    LockNotAvailableError,
    PostgresSystemError,
)
# A statement or a lock wait timed out.
LOCK_TIMEOUTS = (QueryCanceledError, LockNotAvailableError)


@dataclass(slots=True)
class SettleResult:
    """``held`` is False when the lease was lost and nothing was written."""

    held: bool
    written: Written = field(default_factory=Written)
    measured: int = 0
    # Items that can be claimed at once: advanced or released.
    opened: int = 0


async def settle(
    runtime: Runtime,
    claimed: Claim,
    worked: ClaimOutcomes,
    worker: str,
    patience: float,
    *,
    last: bool = True,
) -> SettleResult:
    """Settle the claim, or with ``last=False`` a part of it, keeping the lease.

    A broken connection is retried. If the first attempt was committed after all, its items are no
    longer held by the slice, and the second attempt writes nothing.
    """
    timer, tries = Timer(), 0
    while True:
        try:
            tries += 1
            return await _settle_once(runtime, claimed, worked, worker, last)
        except slices.LeaseBroken as broken:
            if tries == 1 or broken.changed:
                raise
            return SettleResult(True)
        except (*TRANSIENT_DB_ERRORS, PostgresError) as error:
            # The driver reports values it cannot encode like a lost connection.
            is_passing = isinstance(error, TRANSIENT_DB_ERRORS) and not isinstance(error, DataError)
            # Another transaction holds the job lock; retrying would only occupy a slot.
            is_held_up = isinstance(error, LOCK_TIMEOUTS)
            limit = min(patience, claimed.lease_ms / 1000) if is_held_up else patience
            if is_passing and timer.ms / 1000 <= limit:
                if tries == 1:
                    runtime.log.warning("settle will be retried", error=repr(error))
                await asyncio.sleep(min(0.2 * tries, 2.0))
                continue
            if is_passing or not any(worked.outcomes):
                raise
            return await _settle_by_halves(runtime, claimed, worked, worker, patience, last, error)


async def _settle_by_halves(
    runtime: Runtime, claimed: Claim, worked: ClaimOutcomes, worker: str, patience: float,
    last: bool, error: BaseException,
) -> SettleResult:  # fmt: skip
    """One of these results cannot be stored. Find it by halving: the others are settled, and the
    one gets the database's error."""
    items = claimed.items
    if len(items) == 1:
        runtime.log.error("a result could not be stored", error=repr(error))
        refused = Retry(ItemError("INTERNAL_ERROR", f"This result cannot be stored: {error}"))
        return await _settle_once(
            runtime, claimed, ClaimOutcomes([refused], work_ms=worked.work_ms), worker, last
        )
    middle = len(items) // 2
    first = await settle(
        runtime, replace(claimed, items=items[:middle]), worked.part(0, middle), worker, patience,
        last=False,
    )  # fmt: skip
    if not first.held:
        return first
    second = await settle(
        runtime, replace(claimed, items=items[middle:]), worked.part(middle, len(items)), worker,
        patience, last=last,
    )  # fmt: skip
    return SettleResult(
        second.held,
        Written(
            first.written.to_finish + second.written.to_finish,
            first.written.lanes | second.written.lanes,
        ),
        first.measured + second.measured,
        first.opened + second.opened,
    )


class _LateEffects(Exception):
    """Effects came too late: what their stages saw has changed, and those items run again."""

    def __init__(self, places: set[int], error: ItemError) -> None:
        super().__init__(f"{len(places)} effects came too late: {error.message}")
        self.places = places
        self.error = error


async def _settle_once(
    runtime: Runtime, claimed: Claim, worked: ClaimOutcomes, worker: str, last: bool
) -> SettleResult:
    while True:
        try:
            return await _write(runtime, claimed, worked, worker, last)
        except _LateEffects as late:
            again = Retry(late.error, after_ms=0, counted=False)
            worked = worked.without_late_effects(late.places, again)


async def _write(
    runtime: Runtime, claimed: Claim, worked: ClaimOutcomes, worker: str, last: bool
) -> SettleResult:
    ids = set(lease_ids(claimed))
    timer = Timer()
    # Decide before the transaction, so that it holds its locks only for writing.
    writing = await _Writing(runtime, claimed, ids).decide(worked, last)
    async with runtime.db.transaction() as conn:
        held = await (slices.take if last else slices.hold)(conn, list(ids))
        if not held:
            runtime.figures.lost_lease()
            return SettleResult(False)
        if held != ids:
            # Items of a lost lease change neither counters nor virtual time.
            writing = await _Writing(runtime, claimed, held).decide(worked, last)
        await writing.items(conn)
        # After the items, since effects may read their checkpoints.
        await writing.effects(conn, worker, LockOrder.ITEMS, LockOrder.RECORDS)
        written = await write_moves(conn, writing.moves, worker, writing.children)
        await writing.effects(conn, worker, LockOrder.JOBS)
        await writing.paces(conn)
        share = worked.work_ms * len(held) / len(ids)
        await slices.charge(conn, claimed.turn, share)
        runtime.failpoints.reach("before_commit")
    runtime.failpoints.reach("after_commit")
    runtime.db.note_written(len(claimed.items) + sum(map(len, writing.children.values())))
    tally = writing.tally()
    runtime.figures.times.observe("settle", (), timer.ms / 1000)
    runtime.figures.settled(claimed.work.pipeline, claimed.work.stage, tally)
    if tally.retried:
        runtime.log.debug(
            "items will be retried", job=str(claimed.work.job_id), stage=claimed.work.stage,
            items=tally.retried, of=tally.items, spacing=writing.spacing,
        )  # fmt: skip
    return SettleResult(True, written, writing.measured, writing.opened)


class _Writing:
    """The rows to write and the counter changes that follow from a claim's outcomes."""

    def __init__(self, runtime: Runtime, claimed: Claim, held: set[UUID]) -> None:
        self._runtime = runtime
        self._claim = claimed
        self._held = held
        self._position = claimed.work.position
        self._stages = {row.id: _stages_of(runtime, row) for row in claimed.jobs}
        self._spawns = {row.id: _may_spawn(runtime, row) for row in claimed.jobs}
        errors, not_found = (
            runtime.settings.max_attempts_error,
            runtime.settings.max_attempts_not_found,
        )
        self._policies = {
            job_id: _policy_at(stages, self._position).bounded(errors, not_found)
            for job_id, stages in self._stages.items()
        }
        self.moves = {row.job_id: JobMove() for row in claimed.items if row.slice_id in held}
        self.children: dict[UUID, list[NewChild]] = {}
        # Retries wait longer when there are too many errors.
        self.spacing = runtime.figures.spacing(claimed.work.pipeline, claimed.work.stage)
        self.measured = 0
        self.opened = 0
        self._retried = 0
        self._settled: list[tuple[Any, ...]] = []
        self._released: list[tuple[Any, ...]] = []
        self._crashed: list[list[ClaimedItem]] = []
        self._effects: dict[EffectWriter, dict[UUID, list[Asked]]] = {}
        self._paces: dict[str, SetPace] = {}

    async def decide(self, worked: ClaimOutcomes, last: bool) -> _Writing:
        """Decide every item's transition, yielding to the event loop now and then."""
        rows, held = self._claim.items, self._held
        crashed = {index for piece in worked.crashed for index in piece}
        self._crashed = [
            [rows[index] for index in piece if rows[index].slice_id in held]
            for piece in worked.crashed
        ]
        for index, (row, outcome) in enumerate(zip(rows, worked.outcomes, strict=True)):
            if index % YIELD_EVERY == YIELD_EVERY - 1:
                await asyncio.sleep(0)
            if row.slice_id not in held or index in crashed:
                continue
            if outcome is None:
                self._release(row)
            else:
                self._transition(row, outcome)
        if last:
            self._free_groups()
        # The time per item includes the claim, but not this settle.
        self._learn((time.monotonic() - self._claim.claimed_at) * 1000)
        return self

    def _release(self, row: ClaimedItem) -> None:
        self._released.append((row.job_id, row.row_no, row.slice_id))
        move = self.moves[row.job_id]
        move.count("processing", -1)
        move.count("pending", 1)
        stage = move.stage(self._position)
        stage.pending += 1
        stage.wait(0)
        self.opened += 1

    def _transition(self, row: ClaimedItem, outcome: Outcome) -> None:
        stages = self._stages[row.job_id]
        last, policy = len(stages) - 1, self._policies[row.job_id]
        attempts, chance = row.attempts, self._runtime.chance.random()
        try:
            to = decide(
                outcome, stage=self._position, last_stage=last, attempts=attempts, policy=policy,
                chance=chance, spacing=self.spacing,
            )  # fmt: skip
            normalized = None if to.normalized is None else document_json(to.normalized)
            adds = isinstance(to.result, AddedCells)
            shows = to.result.cells if isinstance(to.result, AddedCells) else to.result
            result = None if shows is None else document_json(shows)
            shown = None if to.error is None else to_json(to.error.as_json())
            born = self._children_of(row, to, stages)
            to.effects = [self._runtime.effects.check(effect) for effect in to.effects]
        except (ValueError, KeyError, TypeError, AttributeError, AssertionError) as error:
            wrong = Retry(ItemError("INTERNAL_ERROR", f"The stage gave a bad outcome: {error!r}"))
            to = decide(
                wrong, stage=self._position, last_stage=last, attempts=attempts, policy=policy,
                chance=chance, spacing=self.spacing,
            )  # fmt: skip
            assert to.error is not None
            normalized, result, adds, born = None, None, False, []
            shown = to_json(to.error.as_json())
        self._settled.append((
            row.job_id, row.row_no, row.slice_id, row.generation, to.status.value,
            to.stage, to.attempts, -1.0 if to.delay_ms is None else float(to.delay_ms), adds,
            normalized, result, shown,
        ))  # fmt: skip
        if born:
            self.children.setdefault(row.job_id, []).extend(born)
        self._count(row, to)

    def _children_of(
        self, row: ClaimedItem, to: Transition, stages: Sequence[Stage]
    ) -> list[NewChild]:
        if not to.spawn:
            return []
        places = {stage.name: place for place, stage in enumerate(stages)}
        if not self._spawns[row.job_id]:
            raise ValueError("the pipeline has children but its traits do not say so")
        for child in to.spawn:
            if not isinstance(child.key, str) or not 0 < len(child.key) <= _MAX_KEY_LENGTH:
                raise ValueError(f"a child's key must be text of 1 to {_MAX_KEY_LENGTH} characters")
            if len(child.group or "") > _MAX_KEY_LENGTH:
                raise ValueError(f"a group's name has at most {_MAX_KEY_LENGTH} characters")
        return [
            NewChild(
                row.row_no,
                child.key,
                0 if child.stage is None else places[child.stage],
                child.group,
                # Here, so that one that is no JSON fails its parent only.
                JsonText(to_json(child.input)),
            )
            for child in to.spawn
        ]

    def _count(self, row: ClaimedItem, to: Transition) -> None:
        move = self.moves[row.job_id]
        move.count("processing", -1)
        move.count(COUNTER_OF[to.status], 1)
        move.stage(self._position).open -= 1
        if to.status is ItemStatus.PENDING:
            move.stage(to.stage).enter(1, to.delay_ms or 0)
            self.opened += to.delay_ms is None
            # Waiting and not found are no errors.
            self._retried += not to.measured and to.attempts > row.attempts
        elif to.error is not None:
            move.failed(to.error.code)
        self.measured += to.measured
        # What the last item of a group asks for counts.
        self._paces.pop(row.group_key or "", None)
        for effect in to.effects:
            if isinstance(effect, SetPace):
                self._paces[row.group_key or ""] = effect
                continue
            of_jobs = self._effects.setdefault(self._runtime.effects.writer(effect), {})
            asked = Asked(row.row_no, effect, to.error, to.attempts)
            of_jobs.setdefault(row.job_id, []).append(asked)

    def tally(self) -> Tally:
        """Counts of the outcomes, from the counters of the jobs."""
        counted = [move.counters for move in self.moves.values()]
        done, error, not_found, skipped = (
            sum(counters[name] for counters in counted)
            for name in ("done", "error", "not_found", "skipped")
        )
        return Tally(len(self._settled), done, error, not_found, skipped, self._retried)

    def _learn(self, elapsed_ms: float) -> None:
        """Record the time per item, except for claims of items that crashed before, which are
        tiny."""
        if self.measured and not self._claim.suspect:
            for move in self.moves.values():
                if self._position in move.stages:
                    move.stages[self._position].item_ms = elapsed_ms / self.measured

    def _free_groups(self) -> None:
        """The stage is ready when the group is free again: a claim that found the group held made
        the stage wait for longer."""
        for lease in self._claim.leases:
            if lease.id in self._held and lease.group and lease.job_id in self.moves:
                pace = self._pace_of(lease.group)
                self.moves[lease.job_id].stage(self._position).wait(pace.left_ms(time.monotonic()))

    def _pace_of(self, group: str) -> SetPace:
        return self._paces.get(group) or SetPace(self._claim.work.pace_ms)

    async def paces(self, conn: Connection) -> None:
        """Make the groups of a paced stage wait before their next item."""
        work, held = self._claim.work, self._held
        groups = {lease.group for lease in self._claim.leases if lease.id in held and lease.group}
        if not work.pace_ms or not groups:
            return
        org_id = self._claim.turn.org_id
        paces = {group: self._pace_of(group) for group in groups}
        for group, pace in paces.items():
            self._runtime.figures.paced((org_id, work.pipeline, work.stage, group), pace.pace_ms)
        now = time.monotonic()
        left = {group: pace.left_ms(now) for group, pace in paces.items()}
        await claims.pace_groups(conn, org_id, work, left)

    async def effects(self, conn: Connection, worker: str, *orders: LockOrder) -> None:
        """Write the effects of these lock orders, each type job by job."""
        orgs = {row.id: row.org_id for row in self._claim.jobs}
        for writer in sorted(self._effects, key=lambda one: one.order):
            if writer.order not in orders:
                continue
            late: set[tuple[UUID, int]] = set()
            for job_id, asked in sorted(self._effects[writer].items()):
                batch = EffectBatch(
                    orgs[job_id], job_id, worker, asked, self._is_first_run(job_id),
                    self.moves[job_id].emit,
                )  # fmt: skip
                late |= {(job_id, row_no) for row_no in await writer.write(conn, batch)}
            if late:
                items = enumerate(self._claim.items)
                places = {n for n, row in items if (row.job_id, row.row_no) in late}
                raise _LateEffects(places, writer.late)

    def _is_first_run(self, job_id: UUID) -> bool:
        """Whether no item of the job in this claim has been in a stage before."""
        return self._position == 0 and all(
            row.generation == 1 for row in self._claim.items if row.job_id == job_id
        )

    async def items(self, conn: Connection) -> None:
        """Write the items: settled, released, and those that killed a child process."""
        pipeline = self._runtime.pipeline(self._claim.work.pipeline)
        await slices.settle_items(conn, self._settled, pipeline.problems_member)
        await slices.release_items(conn, self._released)
        for piece in self._crashed:
            for job_id, slice_id in {(row.job_id, row.slice_id) for row in piece}:
                rows = [row.row_no for row in piece if row.slice_id == slice_id]
                await return_crashed(
                    conn, self.moves[job_id], job_id, slice_id, self._position, rows
                )


async def release(
    runtime: Runtime, claimed: Claim, worker: str, patience: float | None = None
) -> None:
    """Release a claim without counting an attempt. Retries for the lease time unless told
    otherwise."""
    patience = claimed.lease_ms / 1000 if patience is None else patience
    if claimed.work.kind == "items":
        nothing = ClaimOutcomes([None] * len(claimed.items))
        await settle(runtime, claimed, nothing, worker, patience)
        return
    timer, tries = Timer(), 0
    while True:
        try:
            return await _release_whole(runtime, claimed)
        except TRANSIENT_DB_ERRORS as error:
            tries += 1
            held_up = isinstance(error, LOCK_TIMEOUTS) and timer.ms > claimed.lease_ms
            if held_up or timer.ms / 1000 > patience:
                raise
            await asyncio.sleep(min(0.2 * tries, 2.0))


async def _release_whole(runtime: Runtime, claimed: Claim) -> None:
    job = claimed.jobs[0]
    async with runtime.db.transaction() as conn:
        if not await slices.take(conn, lease_ids(claimed)):
            return
        if claimed.work.kind == "ranges":
            move = await ranges.release(conn, job.id, claimed.leases[0].id)
            await write_moves(conn, {job.id: move}, None)
        else:
            await slices.yield_whole(
                conn, job.id, claimed.work.position, after_ms=0, attempts=job.attempts
            )


async def return_crashed(
    conn: Connection,
    move: JobMove,
    job_id: UUID,
    slice_id: UUID,
    position: int,
    rows: Sequence[int],
) -> None:
    """Return items whose worker or child died; one that crashed alone three times fails."""
    died = ItemError(
        "WORKER_CRASHED", "The process working on this row died three times, each time on it alone"
    )
    for status in await slices.return_items(conn, job_id, slice_id, rows, to_json(died.as_json())):
        move.count("processing", -1)
        if status == ItemStatus.ERROR:
            move.count("error", 1)
            move.stage(position).open -= 1
            move.failed(died.code)
        else:
            move.count("pending", 1)
            move.stage(position).pending += 1
            move.stage(position).wait(0)


def _stages_of(runtime: Runtime, row: ClaimedJob) -> Sequence[Stage]:
    """Empty where this version no longer accepts the config: then its items have failed."""
    try:
        pipeline = runtime.pipeline(row.pipeline)
        return pipeline.stages(parse_config(pipeline, row.config))
    except PermanentError:
        return ()


def _may_spawn(runtime: Runtime, row: ClaimedJob) -> bool:
    try:
        pipeline = runtime.pipeline(row.pipeline)
        return pipeline.traits(parse_config(pipeline, row.config)).spawns
    except PermanentError:
        return False


def _policy_at(stages: Sequence[Stage], position: int) -> RetryPolicy:
    return stages[position].policy if position < len(stages) else RetryPolicy()
