"""Store rows as items: COPY, counters and cursor in one transaction per batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from penstock.model.pipeline import Row
from penstock.store.database import Connection, Json, from_json, to_json
from penstock.store.jobs import ranges
from penstock.store.jobs.claims import ClaimedJob
from penstock.store.jobs.ranges import RANGES
from penstock.store.jobs.transitions import JobMove, Written, write_moves
from penstock.store.queries import load

_sql = load("ingest")
_COLUMNS = (
    "job_id", "row_no", "org_id", "user_id", "job_type", "key", "group_key", "input", "noticed",
)  # fmt: skip


async def next_row(conn: Connection, job_id: UUID) -> int:
    """First free row number, under the job's lock: children may be added at the same time."""
    return int(await conn.fetchval(_sql.rows_stored, job_id)) + 1


async def copy_rows(
    conn: Connection,
    schema: str,
    job: ClaimedJob,
    first: int,
    rows: Sequence[Row],
    inputs: Sequence[str],
) -> None:
    fixed = (job.org_id, job.user_id, job.pipeline)
    records = [
        (
            job.id,
            first + n,
            *fixed,
            row.key,
            row.group,
            text,
            None if row.noticed is None else to_json(list(row.noticed)),
        )
        for n, (row, text) in enumerate(zip(rows, inputs, strict=True))
    ]
    await conn.copy_records_to_table(
        "job_items", schema_name=schema, columns=_COLUMNS, records=records
    )


async def save_batch(
    conn: Connection, job_id: UUID, *, rows: int, row_bytes: float, cursor: Mapping[str, Any],
    bytes_read: int, bytes_total: int, header: Sequence[str] | None, grouped: bool, ready: bool,
    worker: str, in_range: bool,
) -> Written:  # fmt: skip
    """Counters and cursor of a batch; ``ready`` opens the first stage for its rows. Rows
    ``in_range`` are not items yet."""
    move = JobMove()
    move.count("total", rows)
    move.count("pending", rows)
    if not in_range:
        move.stage(0).enter(rows, 0 if ready else None)
    elif rows:
        move.stage(RANGES).enter(1, None)
    return await save_move(
        conn, job_id, move, row_bytes=row_bytes, cursor=cursor, bytes_read=bytes_read,
        bytes_total=bytes_total, header=header, grouped=grouped, worker=worker,
    )  # fmt: skip


async def save_move(
    conn: Connection, job_id: UUID, move: JobMove, *, row_bytes: float, cursor: Mapping[str, Any],
    bytes_read: int, bytes_total: int, header: Sequence[str] | None, worker: str,
    grouped: bool = False,
) -> Written:  # fmt: skip
    """The same for rows that were stored in another way."""
    shown = None if header is None else to_json(list(header))
    await conn.execute(
        _sql.ingest_batch, job_id, to_json(dict(cursor)), bytes_read, bytes_total, shown, grouped
    )
    await conn.execute(_sql.learn_row_bytes, job_id, row_bytes)
    await conn.execute(_sql.forgive_crashes, job_id)
    return await write_moves(conn, {job_id: move}, worker)


async def end_ingest(
    conn: Connection, job_id: UUID, context: Mapping[str, Any], labels: Mapping[str, int],
    waiting: Sequence[int] | None, worker: str,
) -> Written:  # fmt: skip
    """All rows are stored; a job without rows is complete. ``waiting`` as in `ranges.open_all`."""
    await conn.execute(_sql.end_ingest, job_id, to_json(dict(context)), to_json(dict(labels)))
    await conn.execute(_sql.end_reading, job_id)
    await conn.execute(_sql.open_first_stage, job_id)
    await ranges.open_all(conn, job_id, waiting)
    return await write_moves(conn, {job_id: JobMove()}, worker)


async def saved_cursor(conn: Connection, job_id: UUID) -> tuple[Json, int]:
    """The saved cursor, and the number of stored rows."""
    row = await conn.fetchrow(_sql.saved_cursor, job_id)
    assert row is not None
    return from_json(row["ingest_cursor"]), row["total"]
