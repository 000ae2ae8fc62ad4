"""Run ended items again: a new generation of them and of their job.

A few items are reopened in the transaction of the request. Many are reopened in chunks by a bulk
operation (`app.bulk_operations`), whose id the job carries until the last chunk is done: until then
the job cannot complete, and no barrier opens.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from uuid import UUID

from penstock.engine.runtime import Runtime, parse_config
from penstock.model.errors import NotThere, PenstockError, PermanentError
from penstock.model.policy import RetryPolicy
from penstock.model.reprocess import ReprocessDecision, Selection
from penstock.model.states import TERMINAL_JOB_STATES, ItemStatus, JobState
from penstock.store.database import Connection
from penstock.store.jobs import claims, dead_letters
from penstock.store.jobs import reprocess as store
from penstock.store.jobs.transitions import COUNTER_OF, JobMove, write_moves

# Items reopened under the claim lock, which delays all claims; a bulk operation reopens the rest.
MOST_AT_ONCE = 2000
CHUNK = 5000


class JobCancelled(Exception):
    """The job was cancelled while its items were being reopened."""


@dataclass(frozen=True, slots=True)
class ReopenResult:
    """What was reopened. ``lane`` is to be woken; None: nothing changed. ``rest`` is left to a bulk
    operation."""

    items: int = 0
    left_out: int = 0
    lane: str | None = None
    rest: Selection | None = None
    asked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """A chunk; ``next_row`` is where to continue, None at the end."""

    items: int
    left_out: int
    next_row: int | None
    lane: str


@dataclass(frozen=True, slots=True)
class _Hold:
    """The bulk operation that holds the job until up to ``most`` items are reopened."""

    by: UUID
    most: int


@dataclass(slots=True)
class _Reopened:
    """The items of a window that are reopened, and the change of the job's counters."""

    taken: list[int] = field(default_factory=list)
    left_out: int = 0
    move: JobMove = field(default_factory=JobMove)


async def begin(
    runtime: Runtime, conn: Connection, job_id: UUID, selection: Selection, *, holder: UUID,
    user_id: int,
) -> ReopenResult:  # fmt: skip
    """Reopen the job in the caller's transaction, and its items if they are few; otherwise the
    operation ``holder`` continues with `reopen_more`. ``user_id`` made the request."""
    await claims.lock_claims(conn)
    job = await store.get_job_to_reopen(conn, job_id)
    if job is None:
        raise NotThere("NOT_FOUND", f"There is no job {job_id}.")
    _refuse(job, selection)
    meant = selection.in_state(job.state)
    # A job that ended early is reopened even without items: its ingest or summary may be missing.
    takes_up = meant.whole_job and job.state in {JobState.FAILED, JobState.CANCELLED}
    most = meant.most(job.ended_items)
    if meant.codes:
        most = min(most, await store.count_codes(conn, job_id, meant.codes))
    window = None
    if most <= MOST_AT_ONCE:
        window = await store.window(conn, job_id, meant, 0, CHUNK, job.asked_at)
    # The items may be few but spread over more rows than one window.
    if window is None or window.next_row is not None:
        await store.drop_finish(conn, job_id)
        await _renew(conn, job_id, JobMove(), meant, user_id, _Hold(holder, most))
        return ReopenResult(lane=job.lane, rest=meant, asked_at=job.asked_at)
    judged = _judge(runtime, job, meant, window)
    if not judged.taken and not takes_up:
        return ReopenResult(left_out=judged.left_out)
    await store.drop_finish(conn, job_id)
    await _reopen(conn, job_id, meant, judged)
    await _renew(conn, job_id, judged.move, meant, user_id)
    return ReopenResult(len(judged.taken), judged.left_out, job.lane)


async def hold(
    conn: Connection, job_id: UUID, selection: Selection, most: int, *, holder: UUID, user_id: int
) -> str:
    """Reopen the job without items, for an operation that changes up to ``most`` of its rows and
    reopens them with `reopen_rows`. Answers the lane."""
    await claims.lock_claims(conn)
    job = await store.get_job_to_reopen(conn, job_id)
    if job is None:
        raise NotThere("NOT_FOUND", f"There is no job {job_id}.")
    _refuse(job, selection)
    await store.drop_finish(conn, job_id)
    await _renew(conn, job_id, JobMove(), selection, user_id, _Hold(holder, most))
    return str(job.lane)


async def is_held(conn: Connection, job_id: UUID, holder: UUID) -> bool:
    """Whether the operation still holds the job: a cancel ends that."""
    job = await store.get_job_to_reopen(conn, job_id)
    return job is not None and job.reopening == holder


async def reopen_rows(
    runtime: Runtime, conn: Connection, job_id: UUID, selection: Selection, asked_at: datetime,
    holder: UUID, *, is_last: bool,
) -> Chunk:  # fmt: skip
    """Reopen the rows that ``selection`` names, all in this transaction; with ``is_last`` the job
    may complete after that."""
    job = await store.get_job_to_reopen(conn, job_id)
    if job is None or job.reopening != holder:
        raise JobCancelled
    items = left_out = 0
    move, after_row = JobMove(), 0
    while True:
        window = await store.window(conn, job_id, selection, after_row, CHUNK, asked_at)
        judged = _judge(runtime, job, selection, window, move)
        await _reopen(conn, job_id, selection, judged)
        items, left_out = items + len(judged.taken), left_out + judged.left_out
        if window.next_row is None:
            break
        after_row = window.next_row
    locked = await store.lock(conn, job_id)
    if locked is None or locked.reopening != holder:
        raise JobCancelled
    await store.run_more(conn, job_id, items)
    if is_last:
        await store.end_reopening(conn, job_id, holder)
    await write_moves(conn, {job_id: move}, None)
    return Chunk(items, left_out, None, job.lane)


async def reopen_more(
    runtime: Runtime, conn: Connection, job_id: UUID, selection: Selection, asked_at: datetime,
    after_row: int, holder: UUID,
) -> Chunk:  # fmt: skip
    """Reopen the next chunk. This needs no claim lock: the job cannot end while it has a holder,
    and a cancel, which removes the holder, is seen under the job's lock."""
    job = await store.get_job_to_reopen(conn, job_id)
    if job is None or job.reopening != holder:
        raise JobCancelled
    window = await store.window(conn, job_id, selection, after_row, CHUNK, asked_at)
    judged = _judge(runtime, job, selection, window)
    await _reopen(conn, job_id, selection, judged)
    locked = await store.lock(conn, job_id)
    if locked is None or locked.reopening != holder:
        raise JobCancelled
    if locked.state in TERMINAL_JOB_STATES:
        # Workers of the previous version know no holders.
        await _renew(conn, job_id, JobMove(), selection, None, _Hold(holder, 0))
    await store.run_more(conn, job_id, len(judged.taken))
    if window.next_row is None:
        await store.end_reopening(conn, job_id, holder)
    await write_moves(conn, {job_id: judged.move}, None)
    return Chunk(len(judged.taken), judged.left_out, window.next_row, job.lane)


async def stop_reopening(conn: Connection, job_id: UUID, holder: UUID) -> None:
    """Stop reopening. The items reopened so far are processed, then the job is complete."""
    if await store.end_reopening(conn, job_id, holder):
        await write_moves(conn, {job_id: JobMove()}, None)


def require_rows(pruned_at: datetime | None, change: str) -> None:
    """Refuse a change that needs rows which retention has deleted."""
    if pruned_at is not None:
        raise PermanentError(
            "INVALID_STATE",
            f"The job can no longer be {change}: its rows were deleted on {pruned_at:%Y-%m-%d},"
            " because they were older than the retention of your org.",
            prunedAt=pruned_at.isoformat(),
        )


def _refuse(job: store.JobToReopen, selection: Selection) -> None:
    require_rows(job.pruned_at, "reprocessed")
    if job.state == JobState.CANCELLING:
        raise PermanentError(
            "INVALID_STATE", "The job is still being ended. Reprocess it when it has ended.",
            state=job.state,
        )  # fmt: skip
    if job.reopening is not None:
        raise PermanentError(
            "INVALID_STATE", "Items of this job are being reopened already.",
            state=job.state, operationId=str(job.reopening),
        )  # fmt: skip
    ended = job.state in TERMINAL_JOB_STATES
    if ended and not job.ingest_done and not selection.whole_job:
        raise PermanentError(
            "INVALID_STATE",
            "The job ended before all its rows were read, so single items of it cannot go on alone."
            " Reprocess it with scope `job`.",
            state=job.state,
        )


async def _reopen(conn: Connection, job_id: UUID, meant: Selection, judged: _Reopened) -> None:
    await store.reopen_items(
        conn, job_id, judged.taken,
        from_start=meant.from_start, reset_attempts=meant.reset_attempts, decision=meant.decision,
    )  # fmt: skip


async def _renew(
    conn: Connection, job_id: UUID, move: JobMove, meant: Selection, user_id: int | None,
    hold: _Hold | None = None,
) -> None:  # fmt: skip
    """Reopen the job itself, after its items: state, generation, stages, counters, event. It may be
    complete by that, if only its summary was missing."""
    locked = await store.lock(conn, job_id)
    assert locked is not None
    ended = locked.state in TERMINAL_JOB_STATES
    generation = await store.begin_again(
        conn, job_id, ended=ended, holder=hold.by if hold else None,
        most=hold.most if hold else 0, reopened=move.counters["pending"],
    )  # fmt: skip
    data = {"generation": generation}
    data |= {"atMost": hold.most} if hold else {"items": move.counters["pending"]}
    move.events.append(
        ("job.queued" if ended else "job.status", data | {"reprocess": meant.as_json()})
    )
    await write_moves(conn, {job_id: move}, None)
    if locked.state == JobState.FAILED:
        await dead_letters.close_of_job(conn, job_id, user_id)


def _judge(
    runtime: Runtime, job: store.JobToReopen, meant: Selection, window: store.Window,
    move: JobMove | None = None,
) -> _Reopened:  # fmt: skip
    judged, policies = _Reopened(left_out=window.missing), _Policies(runtime, job)
    judged.move = move or judged.move
    for item in window.items:
        if meant.stage is not None and policies.name_at(item.stage) != meant.stage:
            continue
        match meant.decide(item, policies.at):
            case ReprocessDecision.LEFT_OUT:
                judged.left_out += 1
            case ReprocessDecision.TAKEN:
                judged.taken.append(item.row_no)
                move = judged.move
                move.count(COUNTER_OF[ItemStatus(item.status)], -1)
                move.count("pending", 1)
                stage = 0 if meant.from_start and not item.born else item.stage
                shut = stage == 0 and policies.needs_full_input and not job.ingest_done
                move.stage(stage).enter(1, None if shut else 0)
                if item.code is not None:
                    move.errors[item.code] = move.errors.get(item.code, 0) - 1
            case ReprocessDecision.NOT_MEANT:
                pass
    return judged


class _Policies:
    """The stages of the job's pipeline; none where it no longer accepts the config."""

    def __init__(self, runtime: Runtime, job: store.JobToReopen) -> None:
        settings = runtime.settings
        self._bounds = (settings.max_attempts_error, settings.max_attempts_not_found)
        try:
            pipeline = runtime.pipeline(job.pipeline)
            config = parse_config(pipeline, job.config)
            self._stages = pipeline.stages(config)
            # The first stage of this job waits for all rows.
            self.needs_full_input = pipeline.traits(config).needs_full_input
        except PenstockError:
            self._stages, self.needs_full_input = (), False
        self.at = cache(self._at)

    def name_at(self, stage: int) -> str | None:
        return self._stages[stage].name if stage < len(self._stages) else None

    def _at(self, stage: int) -> RetryPolicy:
        known = stage < len(self._stages)
        return (self._stages[stage].policy if known else RetryPolicy()).bounded(*self._bounds)
