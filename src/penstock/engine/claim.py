"""Choose the next work fairly and lease it. Claims run one at a time and use the database's
clock."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from penstock.engine.worker.figures import Figures
from penstock.model.adaptive import ClaimBounds, claim_size, lease_ms
from penstock.model.fairness import turn_share
from penstock.model.ids import new_id
from penstock.store.database import CONNECTION_ERRORS, Connection, Database
from penstock.store.errors import LockNotAvailableError
from penstock.store.jobs import claims, ranges
from penstock.store.jobs.claims import (
    Candidate,
    ClaimedItem,
    ClaimedJob,
    Lease,
    Picked,
    Served,
    Turn,
    Work,
)
from penstock.store.jobs.ranges import LeasedRange

# Choices without claimable work that one claim corrects before it returns nothing.
_MAX_TRIES = 16
_MAX_RESTS = 4
_MAX_ORGS = 64
_LOAD_TRIES = 24
_LOAD_PAUSE_S = 0.5
_MAX_NEIGHBOURS = 400
_MAX_GROUPS = 32
# Of a job whose rows mostly wait for a due time, so many are expected to be due.
_DUE_ROWS = 4
_MAX_BESIDE = 64
_CHECK_AGAIN_S = 1.0
# Expected duration of an ingest or finish that has not been measured yet, and of a range of rows.
_WHOLE_JOB_MS = 1000.0
_RANGE_MS = 500.0


@dataclass(frozen=True, slots=True)
class Limits:
    """What a worker may claim."""

    bounds: ClaimBounds
    lock_floor_ms: int
    lock_cap_ms: int
    org_cap: int
    own_cap: int
    pipelines: Sequence[str]
    # The queue is overloaded: claim an ingest only if there is no other work.
    holds_ingest: bool = False
    # Pipelines and stages that need only one member of their items' checkpoints, and which.
    brief: Mapping[tuple[str, str], str] = field(default_factory=dict)
    # … that work on several items at the same time, and how many.
    at_once: Mapping[tuple[str, str], int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Claim:
    """Leases taken together: of one org, pipeline and stage."""

    turn: Turn
    work: Work
    leases: Sequence[Lease]
    lease_ms: int
    jobs: Sequence[ClaimedJob]
    items: Sequence[ClaimedItem]
    claimed_at: float = field(default_factory=time.monotonic)
    # The rows of a lease over a range; None if the lease was lost before they were read.
    range: LeasedRange | None = None

    @property
    def suspect(self) -> bool:
        """The item crashed workers before, so it runs alone."""
        return self.leases[0].suspect


class LockedJobs:
    """Jobs that another transaction keeps locked for longer than the engine does. Claims skip them,
    since waiting for one would delay every other claim, and check them again without waiting."""

    def __init__(self) -> None:
        self.ids: set[UUID] = set()
        self._check_at = 0.0

    async def add_timed_out(self, db: Database, suspects: Collection[UUID]) -> None:
        """A lock wait timed out. Record which of these jobs are still locked; if none is, defer all
        of them."""
        known = set(self.ids)
        self.ids.update(suspects)
        await self._check(db)
        if not self.ids - known:
            self.ids.update(suspects)

    async def refresh(self, db: Database) -> None:
        if self.ids and time.monotonic() >= self._check_at:
            await self._check(db)

    async def _check(self, db: Database) -> None:
        async with db.transaction() as conn:
            self.ids = await claims.locked_jobs(conn, self.ids)
        self._check_at = time.monotonic() + _CHECK_AGAIN_S


class _LockTimedOut(Exception):
    def __init__(self, job_ids: Collection[UUID]) -> None:
        super().__init__(f"one of these is locked: {job_ids}")
        self.job_ids = job_ids


async def claim(
    db: Database, worker: str, served: Served, limits: Limits, *,
    figures: Figures | None = None, locked: LockedJobs | None = None,
) -> Claim | None:  # fmt: skip
    """The next claim, or None when nothing is due. Its size follows from ``figures``."""
    began = time.monotonic()
    empty_handed: list[int] = []
    rests: Counter[int] = Counter()
    locked = locked or LockedJobs()
    await locked.refresh(db)
    for _ in range(_MAX_TRIES):
        try:
            async with claims.claim_transaction(db) as conn:
                chosen = await _choose(conn, worker, served, limits, empty_handed, locked.ids)
                if chosen is None:
                    return None
                turn, work = chosen
                taken = await _take(
                    conn, worker, served, limits, figures or Figures(), turn, work, locked.ids
                )
        except _LockTimedOut as timeout:
            await locked.add_timed_out(db, timeout.job_ids)
            continue
        if taken.leases:
            member = limits.brief.get((work.pipeline, work.stage))
            jobs, items, rows = taken.loaded or await _load(db, work, taken.leases, member)
            return Claim(turn, work, taken.leases, taken.lease_ms, jobs, items, began, rows)
        rests[turn.org_id] += 1
        if rests[turn.org_id] == _MAX_RESTS:
            # Other orgs must not wait until all idle stages of this one have been checked.
            empty_handed.append(turn.org_id)
    return None


_Loaded = tuple[Sequence[ClaimedJob], Sequence[ClaimedItem], LeasedRange | None]


async def _load(db: Database, work: Work, leases: Sequence[Lease], member: str | None) -> _Loaded:
    """Read the jobs and rows of a claim, outside the claim lock, so that a stopped reader does not
    delay other claims. The claim is committed already, so a lost connection is retried."""
    for tries_left in range(_LOAD_TRIES - 1, -1, -1):
        try:
            async with db.acquire() as conn:
                jobs = await claims.load_jobs(conn, sorted({lease.job_id for lease in leases}))
                items: Sequence[ClaimedItem] = []
                rows = None
                if work.kind == "items":
                    items = await claims.load_items(conn, leases, member)
                elif work.kind == "ranges":
                    rows = await ranges.load_leased(conn, work.job_id, leases[0].id)
            return jobs, items, rows
        except CONNECTION_ERRORS:
            if not tries_left:
                raise
            await asyncio.sleep(_LOAD_PAUSE_S)
    raise AssertionError("unreachable")


@dataclass(frozen=True, slots=True)
class _OpenedLeases:
    """Leases, if any, and their duration; the jobs and items of a small claim."""

    leases: Sequence[Lease]
    lease_ms: int
    loaded: _Loaded | None = None


async def _take(
    conn: Connection, worker: str, served: Served, limits: Limits, figures: Figures,
    turn: Turn, work: Work, locked: Collection[UUID],
) -> _OpenedLeases:  # fmt: skip
    """Open leases over claimable items of this work."""
    if work.kind == "ranges":
        return await _take_range(conn, worker, served, limits, turn, work)
    if work.kind != "items":
        leases = [Lease(new_id(), work.job_id, (), 0, _WHOLE_JOB_MS)]
    else:
        item_ms = work.avg_ms or figures.item_ms(work.pipeline, work.stage)
        factor = figures.claim_factor(work.pipeline, work.stage)
        share = turn_share(turn.waiting, limits.own_cap)
        bounds = replace(limits.bounds, target_ms=limits.bounds.target_ms * share)
        least = limits.at_once.get((work.pipeline, work.stage), 1)
        size = max(least, claim_size(bounds, item_ms, work.avg_bytes, factor))
        leases = await _lease_items(
            conn, turn, work, size, item_ms or 10.0, served, locked, figures
        )
    expected = sum(lease.expected_ms for lease in leases)
    lease = lease_ms(expected, limits.lock_floor_ms, limits.lock_cap_ms)
    member = limits.brief.get((work.pipeline, work.stage))
    small = None
    try:
        if leases:
            small = await claims.open_leases(
                conn, turn, work, leases, worker, lease,
                in_turn=served.job_id is None, member=member,
            )  # fmt: skip
        else:
            # Alone in its transaction: it locks a job, and jobs are locked in order.
            await claims.rest_stage(conn, work)
    except LockNotAvailableError as error:
        raise _LockTimedOut({work.job_id, *(one.job_id for one in leases)}) from error
    return _OpenedLeases(leases, lease, None if small is None else (*small, None))


async def _take_range(
    conn: Connection, worker: str, served: Served, limits: Limits, turn: Turn, work: Work
) -> _OpenedLeases:
    """Lease the next free range of rows."""
    one = Lease(new_id(), work.job_id, (), 0, work.avg_ms or _RANGE_MS)
    lease = lease_ms(one.expected_ms, limits.lock_floor_ms, limits.lock_cap_ms)
    in_turn = served.job_id is None
    try:
        taken = await ranges.lease(conn, turn, work, one, worker, lease, in_turn=in_turn)
    except LockNotAvailableError as error:
        raise _LockTimedOut({work.job_id}) from error
    return _OpenedLeases([one] if taken else [], lease)


async def _choose(
    conn: Connection, worker: str, served: Served, limits: Limits, empty_handed: list[int],
    locked: Collection[UUID],
) -> tuple[Turn, Work] | None:  # fmt: skip
    """Choose an org and a stage of one of its jobs. Orgs without claimable work are recorded."""
    if served.job_id is not None:
        if served.job_id in locked:
            return None
        return await claims.choose_stage_of_job(
            conn, served.job_id, limits.pipelines, served.stages
        )
    if limits.holds_ingest:
        others = await _choose_by_turn(
            conn, worker, served, limits, list(empty_handed), locked, no_ingest=True
        )
        if others is not None:
            return others
    return await _choose_by_turn(conn, worker, served, limits, empty_handed, locked)


async def _choose_by_turn(
    conn: Connection, worker: str, served: Served, limits: Limits, empty_handed: list[int],
    locked: Collection[UUID], *, no_ingest: bool = False,
) -> tuple[Turn, Work] | None:  # fmt: skip
    for _ in range(_MAX_ORGS):
        chosen = await claims.choose_work(
            conn, worker, served, limits.pipelines, org_cap=limits.org_cap,
            own_cap=limits.own_cap, not_these=empty_handed, no_ingest=no_ingest, locked=locked,
        )  # fmt: skip
        if chosen is None:
            return None
        turn, work = chosen
        if work is not None:
            return turn, work
        empty_handed.append(turn.org_id)
    return None


async def _lease_items(
    conn: Connection, turn: Turn, work: Work, size: int, item_ms: float, served: Served,
    locked: Collection[UUID], figures: Figures,
) -> list[Lease]:  # fmt: skip
    if work.grouped:
        if work.ungrouped:
            grouped = await _lease_ungrouped(conn, work, size, item_ms)
        else:
            grouped = await _lease_groups(
                conn, turn.org_id, work, size, item_ms, served.group, figures
            )
        if grouped or served.group is not None:
            return grouped
    leases: list[Lease] = []
    crashes, room = 0, size
    for job_id, most, found in await _pick(conn, turn.org_id, work, size, served, locked):
        if not leases:
            crashes = found[0].crashes
            room = max_batch_after_crashes(crashes, size)
        # Items of one claim crash together: those that crashed before are claimed apart, and few at
        # a time.
        if found[0].crashes != crashes or room <= 0:
            continue
        rows, floor = choose_rows(found, most, room)
        room -= len(rows)
        # Only the first stage fills in row order; in later ones any row may be pending.
        floor = floor if work.position == 0 else 0
        expected = len(rows) * item_ms
        exhausts = len(rows) == len(found) < most and not work.grouped
        leases.append(
            Lease(new_id(), job_id, rows, floor, expected, suspect=crashes >= 2, exhausts=exhausts)
        )
    return leases


async def _pick(
    conn: Connection, org_id: int, work: Work, size: int, served: Served, locked: Collection[UUID]
) -> list[Picked]:
    """Candidates of the chosen job, and if they leave room, of jobs beside it."""
    alone = served.job_id is not None
    neighbours = 0 if alone or work.pending >= size else _MAX_NEIGHBOURS
    picked = await claims.pick_items(conn, org_id, work, size, neighbours, served, locked)
    if alone or neighbours or not picked:
        return picked
    # Most of its rows wait for a due time, such as that of a shop's limit: so do those of others,
    # and a claim for each would cost more than the work.
    room = min(size, _MAX_BESIDE) - len(picked[0].candidates)
    if room <= size // 2:
        return picked
    beside = await claims.pick_beside(conn, org_id, work, room, _DUE_ROWS, served, locked)
    return [*picked, *beside]


def max_batch_after_crashes(crashes: int, size: int) -> int:
    """The largest claim of items that crashed this often: an eighth after one crash, one item after
    two. So the item that kills its worker is isolated while the others finish."""
    if crashes >= 2:
        return 1
    return max(1, size // 8) if crashes else size


def choose_rows(
    candidates: Sequence[Candidate], size: int, room: int | None = None
) -> tuple[list[int], int]:
    """Rows to claim and the new floor: due items first, items that crashed apart from the others.
    ``room`` is the space left in the claim."""
    if not candidates:
        return [], 0
    worst = candidates[0].crashes
    size = min(max_batch_after_crashes(worst, size), size if room is None else room)
    chosen: list[Candidate] = []
    for candidate in candidates:
        if len(chosen) == size or candidate.crashes != worst:
            break
        chosen.append(candidate)
    fresh = [candidate.row_no for candidate in chosen if candidate.fresh]
    return [candidate.row_no for candidate in chosen], fresh[-1] + 1 if fresh else 0


async def _lease_ungrouped(conn: Connection, work: Work, size: int, item_ms: float) -> list[Lease]:
    """One lease over items of any group, for a stage that ignores groups."""
    found = await claims.pick_ungrouped(conn, work, size)
    rows, _ = choose_rows(found, size)
    if not rows:
        return []
    suspect = found[0].crashes >= 2
    return [Lease(new_id(), work.job_id, rows, 0, len(rows) * item_ms, suspect=suspect)]


async def _lease_groups(
    conn: Connection, org_id: int, work: Work, size: int, item_ms: float, only: str | None,
    figures: Figures,
) -> list[Lease]:  # fmt: skip
    """One lease per free group: its head items in order, up to the first that must wait. With a
    pace only the head itself, since the next one waits without a slot; more while items of the
    group need no pace."""
    picked = await claims.pick_groups(conn, org_id, work, _MAX_GROUPS, size, only)
    leases: list[Lease] = []
    worst, room = 0, size
    for group, candidates in picked.items():
        if not leases:
            worst = candidates[0][1]
            room = max_batch_after_crashes(worst, size)
        if candidates[0][1] != worst:
            continue
        rows: list[int] = []
        most = room
        if work.pace_ms:
            named = (org_id, work.pipeline, work.stage, group)
            most = min(room, figures.rows_without_pace(named))
        for row_no, crashes, due in candidates:
            if not due or len(rows) == most or crashes != worst:
                break
            rows.append(row_no)
        expected = len(rows) * item_ms
        leases.append(Lease(new_id(), work.job_id, rows, 0, expected, group, suspect=worst >= 2))
        room -= len(rows)
        if room <= 0:
            break
    if work.pace_ms and leases:
        # From the claim on, so that the pace is kept if the worker dies before it settles.
        paces = {lease.group: work.pace_ms for lease in leases if lease.group is not None}
        await claims.pace_groups(conn, org_id, work, paces)
    return leases


def lease_ids(claimed: Claim) -> list[UUID]:
    return [lease.id for lease in claimed.leases]
