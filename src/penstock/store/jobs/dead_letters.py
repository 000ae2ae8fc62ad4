"""Write, read, close and delete dead letters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from penstock.model.errors import ItemError
from penstock.model.ids import new_id
from penstock.model.text.failure_signature import signature
from penstock.store.database import Connection, clean, to_json
from penstock.store.jobs.transitions import write_events
from penstock.store.queries import load

_sql = load("dead_letters")
STATES = ("open", "reprocessed", "discarded")
_LONGEST_MESSAGE = 4000
LetterCursor = tuple[datetime, UUID]


@dataclass(frozen=True, slots=True)
class Matching:
    """A filter; unset fields match all. ``since`` is inclusive, ``until`` exclusive."""

    signature: str | None = None
    code: str | None = None
    pipeline: str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class LetterRow:
    """A dead letter as lists show it. ``row_no`` is set for one item of a standing job."""

    id: UUID
    org_id: int
    user_id: int
    job_id: UUID
    row_no: int | None
    pipeline: str
    name: str
    file_id: UUID | None
    priority: int
    attempts: int
    code: str
    message: str
    signature: str
    first_failed_at: datetime
    last_failed_at: datetime
    state: str
    new_job_id: UUID | None
    reason: str | None
    closed_by: int | None
    closed_at: datetime | None
    org: str


@dataclass(frozen=True, slots=True)
class LetterDetails(LetterRow):
    """``config`` and ``details`` are JSON; ``plan`` is of the org."""

    config: str
    details: str
    plan: str


@dataclass(frozen=True, slots=True)
class LetterGroup:
    """Open letters of one signature, with what the newest says; None if it was deleted."""

    signature: str
    open: int
    first_failed_at: datetime
    last_failed_at: datetime
    newest: UUID
    pipeline: str | None
    code: str | None
    message: str | None


@dataclass(frozen=True, slots=True)
class PickedLetter:
    """An open letter, locked for a bulk action."""

    id: UUID
    org_id: int
    user_id: int
    signature: str
    last_failed_at: datetime


@dataclass(frozen=True, slots=True)
class LetterItem:
    """The one item of a standing job that a letter is about."""

    row_no: int
    name: str
    first_failed_at: datetime | None = None


async def add_letter(
    conn: Connection, job_id: UUID, pipeline: str, error: ItemError, *, runs: int,
    trace: str | None, worker: str | None, item: LetterItem | None = None,
) -> UUID:  # fmt: skip
    """Write the letter of a failing job, or of one ``item`` of it, in the transaction and under the
    lock of the failure. ``runs``: failed runs since the last one that was counted."""
    letter_id, shown = new_id(), error.as_json()
    details = error.details | {key: shown[key] for key in ("column", "value") if key in shown}
    alike = signature(pipeline, error.code, error.message, details)
    row = await conn.fetchrow(
        _sql.add_letter, letter_id, job_id, runs, error.code,
        clean(error.message[:_LONGEST_MESSAGE]), to_json(details),
        None if trace is None else clean(trace), alike,
        *((None, None, None) if item is None else (item.row_no, item.name, item.first_failed_at)),
    )  # fmt: skip
    assert row is not None
    await conn.execute(
        _sql.join_group, row["org_id"], alike, row["user_id"], row["first_failed_at"], letter_id
    )
    numbered = await conn.fetchrow(_sql.number_letter, job_id)
    assert numbered is not None
    told = {"letterId": letter_id, "signature": alike, "error": shown}
    event = (row["org_id"], job_id, numbered["seq"], "job.dead_lettered", to_json(told))
    await write_events(conn, [event], worker)
    return letter_id


async def list_letters(
    conn: Connection, states: Sequence[str], which: Matching, after: LetterCursor | None, limit: int
) -> list[LetterRow]:
    """Newest first."""
    at, last = after or (None, None)
    asked = [states or STATES, at, last, which.code, which.pipeline, which.since, which.until]
    if which.signature is None:
        rows = await conn.fetch(_sql.list_letters, *asked, limit)
    else:
        rows = await conn.fetch(_sql.list_alike, *asked, limit, which.signature)
    return [LetterRow(**row) for row in rows]


async def list_groups(conn: Connection, after: str | None, limit: int) -> list[LetterGroup]:
    """Groups of open letters with the same signature. The cost depends on the number of groups on
    the page, not on the number of letters."""
    return [LetterGroup(**row) for row in await conn.fetch(_sql.list_groups, after, limit)]


async def get_letter(conn: Connection, letter_id: UUID) -> LetterDetails | None:
    row = await conn.fetchrow(_sql.get_letter, letter_id)
    return None if row is None else LetterDetails(**row)


async def trace_of(conn: Connection, letter_id: UUID) -> str | None:
    """Readable by admins and by the owner of the database, not by the API's role."""
    trace: str | None = await conn.fetchval(_sql.get_trace, letter_id)
    return trace


async def hold_letter(conn: Connection, letter_id: UUID) -> LetterDetails | None:
    """Lock a letter until this transaction ends; None if there is none in the scope of ``conn``."""
    await conn.fetchval(_sql.lock_letter, letter_id)
    return await get_letter(conn, letter_id)


async def pick_open(
    conn: Connection, which: Matching, after: LetterCursor | None, limit: int
) -> list[PickedLetter]:
    """Lock open letters for a bulk action, oldest first."""
    at, last = after or (None, None)
    rows = await conn.fetch(
        _sql.pick_open, at, last, which.code, which.pipeline, which.since, which.until,
        which.signature, limit,
    )  # fmt: skip
    return [PickedLetter(**row) for row in rows]


async def count_open(conn: Connection, which: Matching, most: int) -> int:
    """The number of matching letters, at most ``most``."""
    return int(
        await conn.fetchval(
            _sql.count_open, which.code, which.pipeline, which.since, which.until,
            which.signature, most,
        )
    )  # fmt: skip


async def close_reprocessed(
    conn: Connection, new_jobs: Sequence[tuple[UUID, UUID]], user_id: int
) -> None:
    """Close letters, each with the job that was created from it."""
    letters, jobs = zip(*new_jobs, strict=True)
    await _close(conn, letters, "reprocessed", jobs, None, user_id)


async def close_discarded(
    conn: Connection, letters: Sequence[UUID], reason: str, user_id: int
) -> None:
    await _close(conn, letters, "discarded", [None] * len(letters), reason, user_id)


async def close_of_job(conn: Connection, job_id: UUID, user_id: int | None) -> None:
    """Close the letter of a failed job that is reprocessed itself."""
    closed = await conn.fetch(_sql.close_letters_of_job, job_id, user_id)
    await _leave_groups(conn, Counter(tuple(row) for row in closed))


async def close_of_items(
    conn: Connection, job_id: UUID, rows: Sequence[int], user_id: int | None
) -> None:
    """Close letters of items that are retried or have succeeded."""
    closed = await conn.fetch(_sql.close_letters_of_items, job_id, list(rows), user_id)
    await _leave_groups(conn, Counter(tuple(row) for row in closed))


async def _close(
    conn: Connection, letters: Sequence[UUID], state: str, jobs: Sequence[UUID | None],
    reason: str | None, user_id: int,
) -> None:  # fmt: skip
    closed = await conn.fetch(_sql.close_letters, list(letters), state, list(jobs), reason, user_id)
    if len(closed) != len(letters):
        raise RuntimeError(f"{len(letters) - len(closed)} letters that we hold are not open")
    await _leave_groups(conn, Counter(tuple(row) for row in closed))


async def _leave_groups(conn: Connection, fewer: Counter[tuple[Any, ...]]) -> None:
    rows = [(*group, letters) for group, letters in fewer.items() if letters]
    if rows:
        await conn.execute(_sql.leave_groups, *(list(column) for column in zip(*rows, strict=True)))


async def drop_old(conn: Connection, days: float, most: int) -> int:
    """Delete up to ``most`` letters older than this; answers the number."""
    rows = await conn.fetch(_sql.drop_old_letters, days, most)
    await _leave_groups(
        conn,
        Counter({(r["org_id"], r["signature"], r["user_id"]): r["open"] for r in rows}),
    )
    return sum(row["letters"] for row in rows)


async def drop_old_groups(conn: Connection, days: float) -> None:
    await conn.execute(_sql.drop_old_groups, days)
