"""Choose work, open leases over it, and extend them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

import asyncpg

from penstock.store.database import Connection, Database
from penstock.store.queries import load

_sql = load("claims")
_settle = load("settle")
# What a claim answers in its own transaction. More is loaded after the commit: a reader that is
# stopped must not hold the claim lock.
_SMALL_CLAIM_ITEMS = 100
_SMALL_CLAIM_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Served:
    """Which work a worker takes; None: all. Lanes are LIKE patterns (`model.fairness`)."""

    lanes: Sequence[str] | None = None
    pipelines: Sequence[str] | None = None
    stages: Sequence[str] | None = None
    job_id: UUID | None = None
    group: str | None = None

    @property
    def pool(self) -> str:
        """Workers that serve the same work form a pool with its own virtual time; '' serves all."""
        parts = (("lanes", self.lanes), ("pipelines", self.pipelines), ("stages", self.stages))
        return " ".join(
            f"{what}={','.join(sorted(set(names)))}" for what, names in parts if names is not None
        )


@dataclass(frozen=True, slots=True)
class Turn:
    """The org whose turn it is."""

    org_id: int
    weight: int
    vstart: float
    pool: str = ""
    # Number of orgs that wait for the same workers, including this one.
    waiting: int = 1


@dataclass(frozen=True, slots=True)
class Work:
    """A stage of a job with claimable work."""

    job_id: UUID
    pipeline: str
    kind: str
    stage: str
    position: int
    pending: int
    floor: int
    grouped: bool
    avg_ms: float | None
    avg_bytes: float | None
    # Least time between the items of one group.
    pace_ms: int
    # Items of one group may run side by side.
    ungrouped: bool


@dataclass(frozen=True, slots=True)
class Lease:
    """A slice to be opened."""

    id: UUID
    job_id: UUID
    rows: Sequence[int]
    floor: int
    expected_ms: float
    group: str | None = None
    # The item crashed twice: its worker runs nothing else, so that a third crash is conclusive.
    suspect: bool = False
    # Nothing else of the job's stage was due.
    exhausts: bool = False


class ClaimedItem(NamedTuple):
    """An item of a claim; documents are JSON text."""

    slice_id: UUID
    job_id: UUID
    row_no: int
    input: str | None
    normalized: str | None
    attempts: int
    generation: int
    key: str | None
    group_key: str | None
    noticed: str | None


_ITEM_COLUMNS = len(ClaimedItem._fields)


@dataclass(frozen=True, slots=True)
class ClaimedJob:
    """A job of a claim; documents are JSON text."""

    id: UUID
    org_id: int
    user_id: int
    pipeline: str
    config: str
    header: str | None
    context: str
    state: str
    ending: str | None
    standing: bool
    ingest_cursor: str | None
    ingest_done: bool
    attempts: int
    needs_finish: bool
    last_error: str | None
    total: int
    pending: int
    processing: int
    done: int
    error: int
    not_found: int
    skipped: int
    lane: str
    traceparent: str | None
    file_id: UUID | None
    file_name: str
    sha256: str
    size: int | None
    media_type: str
    blob_key: str
    more_files: Sequence[str]


class Candidate(NamedTuple):
    row_no: int
    crashes: int
    fresh: bool


def claim_transaction(db: Database) -> AbstractAsyncContextManager[Connection]:
    """A transaction that holds the claim lock. It waits for a locked job for no longer than a
    second: settles hold one for less than that, and a longer lock is not the engine's."""
    return db.transaction_with(_sql.begin_claim)


async def lock_claims(conn: Connection) -> None:
    await conn.execute(_sql.lock_claims)


async def lock_claims_briefly(conn: Connection, wait_ms: int) -> None:
    """The same with a lock timeout: the transaction fails rather than delay all claims because of a
    locked job."""
    await conn.execute(_sql.lock_claims_briefly, f"{wait_ms}ms")


async def locked_jobs(conn: Connection, job_ids: Collection[UUID]) -> set[UUID]:
    """The jobs that another transaction has locked. Locks the others until this one ends."""
    return {row["id"] for row in await conn.fetch(_sql.locked_jobs, list(job_ids))}


async def choose_work(
    conn: Connection,
    worker: str,
    served: Served,
    known: Sequence[str],
    *,
    org_cap: int,
    own_cap: int,
    not_these: Sequence[int] = (),
    no_ingest: bool = False,
    locked: Collection[UUID] = (),
) -> tuple[Turn, Work | None] | None:
    """The org whose turn it is, and its next work of ``known`` pipelines, if it has any: a newer
    version may have submitted others."""
    pipelines = [name for name in known if served.pipelines is None or name in served.pipelines]
    row = await conn.fetchrow(
        _sql.choose_work, worker, org_cap, own_cap, list(not_these), served.lanes, served.pipelines,
        served.stages, no_ingest, served.pool, pipelines, list(locked),
    )  # fmt: skip
    if row is None:
        return None
    turn = Turn(row["org_id"], row["weight"], row["vstart"], served.pool, row["waiting"])
    return turn, None if row["job_id"] is None else _work(row)


async def choose_stage_of_job(
    conn: Connection, job_id: UUID, known: Sequence[str], stages: Sequence[str] | None = None
) -> tuple[Turn, Work] | None:
    row = await conn.fetchrow(_sql.choose_stage_of_job, job_id, known, stages)
    if row is None:
        return None
    return Turn(row["org_id"], row["weight"], row["vstart"]), _work(row)


def _work(row: Any) -> Work:
    return Work(
        row["job_id"], row["pipeline"], row["kind"], row["stage"], row["position"], row["pending"],
        row["floor"], row["grouped"], row["avg_ms"], row["avg_bytes"],
        row["pace_ms"], row["ungrouped"],
    )  # fmt: skip


class Picked(NamedTuple):
    """Candidates of one job, and how many of them the claim has room for."""

    job_id: UUID
    size: int
    candidates: list[Candidate]


async def pick_items(
    conn: Connection, org_id: int, work: Work, size: int, neighbours: int, served: Served,
    locked: Collection[UUID] = (),
) -> list[Picked]:  # fmt: skip
    """Candidates of the chosen job, then of up to so many ``neighbours`` that fit beside it."""
    room = size - work.pending if neighbours else 0
    return await _pick(conn, org_id, work, size, room, neighbours, size, served, locked)


async def pick_beside(
    conn: Connection, org_id: int, work: Work, room: int, expected: int, served: Served,
    locked: Collection[UUID] = (),
) -> list[Picked]:  # fmt: skip
    """Candidates of jobs beside the chosen one, as many jobs as fill the room with ``expected``
    rows each."""
    return await _pick(conn, org_id, work, 0, room, room, expected, served, locked)


async def _pick(
    conn: Connection, org_id: int, work: Work, size: int, room: int, neighbours: int,
    expected: int, served: Served, locked: Collection[UUID],
) -> list[Picked]:  # fmt: skip
    rows = await conn.fetch(
        _sql.pick_items, work.job_id, work.position, work.floor, size, room, neighbours,
        work.stage, org_id, work.pipeline, served.lanes, list(locked), expected,
    )  # fmt: skip
    picked: dict[UUID, Picked] = {}
    for job_id, most, *candidate in rows:
        of_job = picked.get(job_id) or picked.setdefault(job_id, Picked(job_id, most, []))
        of_job.candidates.append(Candidate._make(candidate))
    return list(picked.values())


async def pick_ungrouped(conn: Connection, work: Work, size: int) -> list[Candidate]:
    """Items with a group, for a stage that ignores groups."""
    rows = await conn.fetch(_sql.pick_ungrouped, work.job_id, work.position, size)
    return [Candidate._make(row) for row in rows]


async def pace_groups(
    conn: Connection, org_id: int, work: Work, paces: Mapping[str, float]
) -> None:
    """Nothing of these groups starts before their pace, in milliseconds, allows it."""
    groups = sorted(paces)
    await conn.execute(
        _sql.pace_groups, org_id, work.pipeline, work.stage, groups, [paces[one] for one in groups]
    )


async def forget_paces(conn: Connection) -> None:
    await conn.execute(_sql.forget_paces)


async def pick_groups(
    conn: Connection, org_id: int, work: Work, groups: int, size: int, only: str | None = None
) -> Mapping[str, list[tuple[int, int, bool]]]:
    """Row number, crashes and whether it is due, of the head of each free group."""
    rows = await conn.fetch(
        _sql.pick_groups,
        work.job_id,
        work.position,
        work.pipeline,
        work.stage,
        groups,
        size,
        org_id,
        only,
    )
    picked: dict[str, list[tuple[int, int, bool]]] = {}
    for group, row_no, crashes, due in rows:
        picked.setdefault(group, []).append((row_no, crashes, due))
    return picked


async def open_leases(
    conn: Connection,
    turn: Turn,
    work: Work,
    leases: Sequence[Lease],
    worker: str,
    lease_ms: float,
    *,
    in_turn: bool = True,
    member: str | None = None,
) -> tuple[list[ClaimedJob], list[ClaimedItem]] | None:
    """Write the leases of a claim: mark items, open slices, update stages and jobs. Answers the
    jobs and items of a small claim; those of a large one are loaded after the commit. A claim out
    of turn, by a worker that serves one job only, does not advance virtual time."""
    marked = await open_slices(conn, turn, work, leases, worker, lease_ms, in_turn=in_turn)
    if marked != sum(len(lease.rows) for lease in leases):
        raise RuntimeError(f"claimed {leases}, but marked {marked} items")
    per_job: dict[UUID, tuple[int, int, bool]] = {}
    for lease in leases:
        count, floor, exhausts = per_job.get(lease.job_id, (0, 0, True))
        per_job[lease.job_id] = (
            count + len(lease.rows), max(floor, lease.floor), exhausts and lease.exhausts,
        )  # fmt: skip
    jobs = sorted(per_job)
    counts, floors, exhausted = zip(*map(per_job.__getitem__, jobs), strict=True)
    small = leases if sum(counts) <= _SMALL_CLAIM_ITEMS else []
    return await take_items(conn, work, jobs, counts, floors, worker, small, member, exhausted)


async def take_items(
    conn: Connection, work: Work, jobs: Sequence[UUID], counts: Sequence[int],
    floors: Sequence[int], worker: str, loads: Sequence[Lease] = (), member: str | None = None,
    exhausted: Sequence[bool] = (),
) -> tuple[list[ClaimedJob], list[ClaimedItem]] | None:  # fmt: skip
    """Move so many items of each job from pending to processing, and start the jobs. The jobs must
    be locked. Answers the jobs and items of the leases in ``loads``, unless they are large."""
    rows = await conn.fetch(
        _sql.take_items, jobs, work.position, counts, floors, worker, work.stage, *_columns(loads),
        member, _SMALL_CLAIM_BYTES, exhausted or [False] * len(jobs),
    )  # fmt: skip
    return _loaded(rows) if rows else None


def _loaded(rows: Sequence[Any]) -> tuple[list[ClaimedJob], list[ClaimedItem]]:
    jobs: list[ClaimedJob] = []
    items: list[ClaimedItem] = []
    for row in rows:
        columns = list(row.items())
        if row["id"] is not None:
            jobs.append(ClaimedJob(**dict(columns[_ITEM_COLUMNS:])))
        if row["slice_id"] is not None:
            items.append(ClaimedItem._make(value for _, value in columns[:_ITEM_COLUMNS]))
    return jobs, items


async def open_slices(
    conn: Connection, turn: Turn, work: Work, leases: Sequence[Lease], worker: str, lease_ms: float,
    *, in_turn: bool,
) -> int:  # fmt: skip
    """Write the slices and mark their items; answers how many items were marked."""
    marked = await conn.fetchval(
        _sql.open_slices, work.kind, turn.org_id, work.pipeline, work.stage, work.position, worker,
        lease_ms, turn.vstart, *_columns(leases), [lease.group for lease in leases],
        [lease.expected_ms for lease in leases], turn.vstart if in_turn else None,
        turn.pool,
    )  # fmt: skip
    return int(marked)


async def rest_stage(conn: Connection, work: Work) -> None:
    """Nothing was claimable: set the stage's ready time to its next due item.

    The job is locked first, as in a settle, so this must be the transaction's only change."""
    await conn.fetch(_settle.lock_jobs, [work.job_id])
    await conn.execute(_sql.rest_stage, work.job_id, work.position)
    await conn.execute(_sql.refresh_ready, [work.job_id])


async def load_items(
    conn: Connection, leases: Sequence[Lease], member: str | None
) -> list[ClaimedItem]:
    """The items of a claim; with ``member`` only that of their checkpoints, and no input."""
    rows = await conn.fetch(_sql.load_items, *_columns(leases), member)
    return [ClaimedItem._make(row) for row in rows]


def _columns(leases: Sequence[Lease]) -> tuple[list[UUID], list[UUID], list[str]]:
    """Leases as three columns. Rows go as text: asyncpg looks at each member of an array, which
    for numbers and ids costs more than all else."""
    return (
        [lease.id for lease in leases],
        [lease.job_id for lease in leases],
        [",".join(map(str, lease.rows)) for lease in leases],
    )


async def load_jobs(conn: Connection, job_ids: Sequence[UUID]) -> list[ClaimedJob]:
    return [ClaimedJob(**row) for row in await conn.fetch(_sql.load_jobs, list(job_ids))]


async def next_ready_ms(conn: Connection, since_claim_ms: float) -> float | None:
    """Until something may be claimed that was not due at the last claim, so long ago."""
    wait = await conn.fetchval(_sql.next_ready, since_claim_ms)
    return None if wait is None else max(0.0, float(wait))


async def extend(conn: Connection, slice_ids: Sequence[UUID], lease_ms: float) -> dict[UUID, bool]:
    """Slices that are still held, and whether they were extended; the others were lost. Waits for
    a slice that is being written, but not so long that the others expire."""
    asked = (list(slice_ids), lease_ms)
    try:
        rows = await conn.fetch(_sql.extend_slices, *asked)
    except asyncpg.LockNotAvailableError:
        rows = await conn.fetch(_sql.extend_free_slices, *asked)
    return {row["id"]: row["extended"] for row in rows}


async def limit_waits(conn: Connection, seconds: float) -> None:
    await conn.execute(_sql.limit_waits, f"{int(seconds * 1000)}ms")
