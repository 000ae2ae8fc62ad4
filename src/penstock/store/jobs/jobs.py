"""Jobs: add, list, control and end them; files and idempotency keys of submits."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import asyncpg

from penstock.model.errors import NotThere
from penstock.model.ids import first_id_of
from penstock.model.pipeline import Row
from penstock.store.database import Connection, from_json, to_json
from penstock.store.jobs import ranges
from penstock.store.jobs.job_rows import (
    FileRow,
    JobDetails,
    JobRow,
    LastHour,
    QueueState,
    StoredAnswer,
    WaitingLine,
)
from penstock.store.jobs.transitions import final_counts, write_events
from penstock.store.queries import load

_sql = load("jobs")
_control = load("control")
_claims = load("claims")
_settle = load("settle")
INGEST, FINISH = -1, 1000
_COUNTABLE = 20_001
_NEWEST, _OLDEST = UUID(int=2**128 - 1), UUID(int=0)
_CLOCKS = timedelta(days=1)
_LOOKED_AT = 2000
_PATIENCE_S = 0.25
# Jobs read by one statement, and bytes of their documents after which a page ends early.
_JOBS_AT_ONCE = 50
_PAGE_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class NewStage:
    position: int
    kind: str
    name: str
    barrier: bool = False
    before: float = 0.0
    pending: int = 0
    ready: bool = False
    pace_ms: int = 0
    ungrouped: bool = False


@dataclass(frozen=True, slots=True)
class NewJob:
    id: UUID
    org_id: int
    user_id: int
    pipeline: str
    config: str
    lane: str
    priority: int
    stages: Sequence[NewStage]
    name: str = ""
    file_id: UUID | None = None
    # Files beyond the first one.
    more_files: Sequence[UUID] = ()
    bytes_total: int = 0
    ip: str | None = None
    standing: bool = False
    needs_finish: bool = False
    due_at: datetime | None = None
    header: Sequence[str] | None = None
    rows: Sequence[Row] | None = None
    told: Mapping[str, Any] = field(default_factory=dict)
    traceparent: str | None = None


async def add_jobs(conn: Connection, new: Sequence[NewJob], notify: str | None = None) -> None:
    """Write jobs with their stages, their inline rows and their first events, all or none. The
    commit wakes workers that listen on the channel ``notify``."""
    jobs = [
        (
            job.id, job.org_id, job.user_id, job.pipeline, job.name, job.config, job.file_id,
            job.ip, job.priority, job.lane, job.standing, job.needs_finish,
            any(stage.barrier for stage in job.stages),
            any(row.group is not None for row in job.rows or ()),
            None if job.header is None else to_json(list(job.header)), job.due_at,
            len(job.rows or ()), job.rows is not None, job.bytes_total, to_json(dict(job.told)),
        )
        for job in new
    ]  # fmt: skip
    stages = [
        (
            place, s.position, s.kind, s.name, s.barrier, s.before, s.pending, s.ready, s.pace_ms,
            s.ungrouped,
        )
        for place, job in enumerate(new, 1) for s in job.stages
    ]  # fmt: skip
    files = [
        (place, n, one)
        for place, job in enumerate(new, 1)
        for n, one in enumerate(job.more_files, 1)
    ]
    rows = [
        (place, row_no, row.key, row.group, to_json(row.input))
        for place, job in enumerate(new, 1)
        for row_no, row in enumerate(job.rows or (), 1)
    ]
    try:
        await conn.execute(
            _sql.add_jobs, *_columns(jobs, 20), *_columns(stages, 10), *_columns(files, 3),
            *_columns(rows, 5), notify, [job.traceparent for job in new],
        )  # fmt: skip
    except asyncpg.ForeignKeyViolationError as error:
        if error.constraint_name not in ("jobs_file_id_fkey", "job_files_file_id_fkey"):
            raise
        # The file was unused for so long that the tidier deleted it just now.
        raise NotThere("FILE_NOT_FOUND", "A file of this job was deleted meanwhile.") from error


def _columns(rows: Sequence[tuple[Any, ...]], count: int) -> Sequence[Sequence[Any]]:
    return list(zip(*rows, strict=True)) or [()] * count


async def get_job(conn: Connection, job_id: UUID) -> JobDetails | None:
    row = await conn.fetchrow(_sql.get_job, job_id)
    return None if row is None else JobDetails(**row)


@dataclass(frozen=True, slots=True)
class Listed:
    """A filter; states as shown to people, including ``paused`` and ``delayed``."""

    states: Sequence[str] | None = None
    not_states: Sequence[str] | None = None
    pipeline: str | None = None
    text: str | None = None
    user_id: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    # Whether jobs that never end are listed, too.
    standing: bool = False


async def list_jobs(
    conn: Connection, wanted: Listed, after: UUID | None, size: int
) -> tuple[list[JobRow], UUID | None]:
    """Jobs, newest first, and where to continue. A page ends early if few jobs match."""
    place, oldest = after or _NEWEST, _OLDEST
    if wanted.until is not None:
        # Ids sort by creation time, by the clock of the process that made them.
        place = min(place, first_id_of(wanted.until + _CLOCKS))
    if wanted.since is not None:
        oldest = first_id_of(wanted.since - _CLOCKS)
    filters = astuple(wanted)
    window = size + 1 if wanted == Listed() else _LOOKED_AT
    ids: list[UUID] = []
    until = time.monotonic() + _PATIENCE_S
    while True:
        found = await conn.fetchrow(
            _sql.walk_listed, place, oldest, window, size + 1 - len(ids), *filters
        )
        assert found is not None
        ids += found["ids"]
        if len(ids) > size:
            following = ids[size - 1]
        elif found["place"] is not None and time.monotonic() < until:
            place = found["place"]
            continue
        else:
            following = found["place"]
        return await _whole(conn, ids[:size], following)


async def _whole(
    conn: Connection, ids: Sequence[UUID], following: UUID | None
) -> tuple[list[JobRow], UUID | None]:
    """The jobs of a page, which ends early if their configs and summaries are large."""
    rows: list[JobRow] = []
    size = 0
    for first in range(0, len(ids), _JOBS_AT_ONCE):
        if size > _PAGE_BYTES:
            return rows, rows[-1].id
        some = await conn.fetch(_sql.listed_jobs, ids[first : first + _JOBS_AT_ONCE])
        rows += [JobRow(**row) for row in some]
        size += sum(len(row["config"]) + len(row["summary"] or "") for row in some)
    return rows, following


async def queue_state(conn: Connection, most: int = _COUNTABLE) -> QueueState:
    """Depth and capacity of the queue; counts up to ``most``."""
    row = await conn.fetchrow(_sql.queue_state, most)
    assert row is not None
    lines = [WaitingLine(*one) for one in from_json(row["lines"]) or ()]
    return QueueState(**{**row, "lines": lines})


async def last_hour(conn: Connection, most: int) -> LastHour:
    """Jobs that ended in the last hour, each way counted up to ``most``."""
    row = await conn.fetchrow(_sql.last_hour, most)
    assert row is not None
    return LastHour(**row)


async def delayed_until(conn: Connection, due_at: datetime | None, delay_ms: int) -> datetime:
    until: datetime = await conn.fetchval(_sql.delayed_until, due_at, delay_ms)
    return until


async def add_file(
    conn: Connection, *, file_id: UUID, org_id: int, user_id: int, name: str, media_type: str,
    sha256: str, size: int, blob_key: str,
) -> datetime:  # fmt: skip
    """Add a file; answers its creation time. Its blob cannot be deleted during this transaction."""
    await conn.execute(_sql.hold_blob, blob_key)
    created_at: datetime = await conn.fetchval(
        _sql.add_file, file_id, org_id, user_id, name, media_type, sha256, size, blob_key
    )
    return created_at


async def take_blob(conn: Connection, blob_key: str) -> bool:
    """Whether the blob may be deleted in this transaction, because nothing refers to it. Checks all
    orgs, so ``conn`` must be the owner's."""
    await conn.execute(_sql.take_blob, blob_key)
    return not await conn.fetchval(_sql.is_blob_referenced, blob_key)


async def more_files(conn: Connection, job_id: UUID) -> tuple[UUID, ...]:
    """The files of a job beyond its first one."""
    return tuple(row["file_id"] for row in await conn.fetch(_sql.more_files_of, job_id))


async def get_file(conn: Connection, file_id: UUID) -> FileRow | None:
    row = await conn.fetchrow(_sql.get_file, file_id)
    return None if row is None else FileRow(**row)


async def try_key(conn: Connection, org_id: int, user_id: int, key: str) -> bool:
    """False while another request with the same idempotency key is under way."""
    return bool(await conn.fetchval(_sql.try_key, f"{org_id}:{user_id}:{key}"))


async def find_key(conn: Connection, org_id: int, user_id: int, key: str) -> StoredAnswer | None:
    row = await conn.fetchrow(_sql.find_key, org_id, user_id, key)
    return None if row is None else StoredAnswer(**row)


@dataclass(frozen=True, slots=True)
class NewKey:
    """An idempotency key, and the answer to repeat for it."""

    org_id: int
    user_id: int
    key: str
    digest: bytes
    response: str
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    job_id: UUID | None = None


async def add_keys(conn: Connection, keys: Sequence[NewKey]) -> None:
    if keys:
        rows = [
            (k.org_id, k.user_id, k.key, k.digest, k.job_id, k.response, k.status,
             to_json(k.headers))
            for k in keys
        ]  # fmt: skip
        await conn.execute(_sql.add_keys, *_columns(rows, 8))


async def pause(conn: Connection, job_id: UUID) -> str | None:
    """Pause; answers the lane, or None if nothing changed."""
    return await _flag(conn, _control.pause_job, job_id, "job.paused")


async def resume(conn: Connection, job_id: UUID) -> str | None:
    return await _flag(conn, _control.resume_job, job_id, "job.resumed")


async def set_priority(conn: Connection, job_id: UUID, priority: int) -> str | None:
    """Answers the lane; None if the job has ended, or has that priority."""
    await conn.execute(_claims.lock_claims)
    row = await conn.fetchrow(_control.set_priority, job_id, priority)
    if row is None:
        return None
    told = to_json({"priority": priority})
    await write_events(conn, [(row["org_id"], row["id"], row["seq"], "job.status", told)], None)
    return str(row["lane"])


async def _flag(conn: Connection, statement: str, job_id: UUID, event: str) -> str | None:
    await conn.execute(_claims.lock_claims)
    row = await conn.fetchrow(statement, job_id)
    if row is None:
        return None
    await write_events(conn, [(row["org_id"], row["id"], row["seq"], event, "{}")], None)
    return str(row["lane"])


@dataclass(frozen=True, slots=True)
class Begun:
    """A job whose ending has begun."""

    lane: str
    pipeline: str
    open_items: int


async def begin_ending(
    conn: Connection, job_id: UUID, ending: str, error: Mapping[str, Any] | None
) -> Begun | None:
    """Begin to cancel or fail a job: after the commit none of its items starts. Deletes the leases
    first: waits for a settle in progress, and fences later ones off."""
    await conn.execute(_claims.lock_claims)
    await conn.fetch(_control.drop_slices, job_id)
    row = await conn.fetchrow(
        _control.begin_ending, job_id, ending, None if error is None else to_json(error)
    )
    if row is None:
        return None
    told = to_json({"state": "cancelling", "ending": ending})
    await write_events(conn, [(row["org_id"], job_id, row["seq"], "job.status", told)], None)
    await conn.execute(_control.shut_stages, job_id)
    return Begun(row["lane"], row["pipeline"], row["open"])


async def skip_open_items(
    conn: Connection, job_id: UUID, reason: Mapping[str, Any], most: int
) -> int:
    """Skip up to ``most`` open items of an ending job, or the rows of some ranges; answers how many
    are still open."""
    row = await conn.fetchrow(_control.skip_items, job_id, most, to_json(reason))
    assert row is not None
    pending, processing = row["pending"], row["processing"]
    if pending + processing < most:
        pending += await ranges.skip_some(conn, job_id, reason, most - pending - processing)
    left = await conn.fetchrow(_control.count_skipped, job_id, pending, processing)
    assert left is not None
    skipped = pending + processing
    if skipped:
        await conn.execute(
            _settle.count_errors, [job_id], [left["org_id"]], [reason["code"]], [skipped]
        )
    return int(left["open"])


async def end_ending(conn: Connection, job_id: UUID, worker: str | None) -> bool:
    """End the job as cancelled or failed, once no item is open."""
    row = await conn.fetchrow(_control.end_ending, job_id)
    if row is None:
        return False
    event = f"job.{row['state']}"
    told = final_counts(row)
    if row["last_error"] is not None and row["state"] == "failed":
        told["lastError"] = from_json(row["last_error"])
    await write_events(conn, [(row["org_id"], row["id"], row["seq"], event, to_json(told))], worker)
    return True


async def add_event(
    conn: Connection, job_id: UUID, event: str, data: Mapping[str, Any], worker: str | None
) -> None:
    """Write one event of a job, numbered under its lock."""
    row = await conn.fetchrow(_settle.next_seq, job_id, 1)
    if row is not None:
        await write_events(
            conn, [(row["org_id"], job_id, row["seq"], event, to_json(data))], worker
        )


async def attempts_and_lane(conn: Connection, job_id: UUID) -> tuple[int, str]:
    row = await conn.fetchrow(_control.lock_job, job_id)
    assert row is not None
    return row["attempts"], row["lane"]
