"""Edits of rows: the rows they read, the cells they changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from penstock.model.rows.edits import Change, EditedRow, RowFilter
from penstock.store.database import Connection, Json, from_json, to_json
from penstock.store.jobs.job_rows import JobDetails
from penstock.store.jobs.result_cache import own_rows
from penstock.store.queries import load

_sql = load("edits")


@dataclass(frozen=True, slots=True)
class StoredEdit:
    """An edit; ``edited_by`` is an address, ``rows`` the number of rows it changed."""

    id: UUID
    selection: Mapping[str, Any]
    change: Mapping[str, Any]
    rows: int
    created_at: datetime
    undone_at: datetime | None
    edited_by: str
    state: str


class ReadRow(NamedTuple):
    """A row and its cells; ``chosen`` if it matches the filter."""

    row_no: int
    input: Json
    chosen: bool


async def read_stretch(
    conn: Connection, job_id: UUID, wanted: RowFilter, cell: str | None, after: int, until: int, *,
    all_rows: bool,
) -> list[ReadRow]:  # fmt: skip
    """Rows from ``after`` to ``until``; those that match, or with ``all_rows`` all. ``cell`` is
    where the column of the filter is in a row."""
    rows = await conn.fetch(
        _sql.edit_window, job_id, after, until, *_conditions(wanted, cell), all_rows
    )
    named = set(wanted.rows)
    return [
        ReadRow(
            row["row_no"], from_json(row["input"]),
            row["chosen"] and (not named or row["row_no"] in named),
        )
        for row in rows
    ]  # fmt: skip


async def read_named(
    conn: Connection, job_id: UUID, wanted: RowFilter, cell: str | None
) -> list[ReadRow]:
    rows = await conn.fetch(_sql.named_rows, job_id, list(wanted.rows), *_conditions(wanted, cell))
    return [ReadRow(row["row_no"], from_json(row["input"]), row["chosen"]) for row in rows]


def _conditions(wanted: RowFilter, cell: str | None) -> tuple[Any, ...]:
    problem = None
    if wanted.problem is not None:
        code = None if wanted.problem == "*" else wanted.problem
        asked = {"code": code, "column": wanted.problem_column}
        said = {name: word for name, word in asked.items() if word is not None}
        problem = to_json([said] if said else [])
    value = None if wanted.column is None else wanted.value or ""
    # As it is in the stored JSON, where quotes are escaped.
    text = to_json(wanted.text.lower())[1:-1] if wanted.text else None
    return (list(wanted.statuses) or None, wanted.code, problem, cell, value, text)


async def set_inputs(conn: Connection, job_id: UUID, inputs: Mapping[int, Json]) -> None:
    shown = [to_json(one) for one in inputs.values()]
    await own_rows(conn, job_id)
    await conn.execute(_sql.set_inputs, job_id, list(inputs), shown)


async def inputs_of(conn: Connection, job_id: UUID, rows: Sequence[int]) -> dict[int, Json]:
    found = await conn.fetch(_sql.inputs_of_rows, job_id, list(rows))
    return {row["row_no"]: from_json(row["input"]) for row in found}


async def add_edit(
    conn: Connection,
    edit_id: UUID,
    job: JobDetails,
    edited_by: int,
    wanted: RowFilter,
    change: Change,
) -> None:
    await conn.execute(
        _sql.add_edit, edit_id, job.id, job.org_id, job.user_id, edited_by,
        to_json(wanted.as_json()), to_json(change.as_json()),
    )  # fmt: skip


async def add_rows(
    conn: Connection, edit_id: UUID, job_id: UUID, org_id: int, edited: Sequence[EditedRow]
) -> None:
    """Record the cells that changed, and write the new ones to the rows."""
    if not edited:
        return
    await set_inputs(conn, job_id, {one.row_no: one.input for one in edited})
    await conn.execute(
        _sql.add_rows, edit_id, job_id, org_id, [one.row_no for one in edited],
        [to_json(dict(one.before)) for one in edited], [to_json(dict(one.after)) for one in edited],
    )  # fmt: skip
    await conn.execute(_sql.count_rows, edit_id, len(edited))


async def mark_undone(conn: Connection, edit_id: UUID) -> None:
    await conn.execute(_sql.mark_undone, edit_id)


async def get_edit(conn: Connection, edit_id: UUID) -> StoredEdit | None:
    return _edit(await conn.fetchrow(_sql.get_edit, edit_id))


async def last_edit(conn: Connection, job_id: UUID) -> StoredEdit | None:
    """The last edit that is not undone."""
    return _edit(await conn.fetchrow(_sql.last_edit, job_id))


async def list_edits(conn: Connection, job_id: UUID, limit: int) -> list[StoredEdit]:
    """The last edits first."""
    rows = await conn.fetch(_sql.list_edits, job_id, limit)
    return [edit for row in rows if (edit := _edit(row)) is not None]


def _edit(row: Any) -> StoredEdit | None:
    if row is None:
        return None
    return StoredEdit(
        row["id"], from_json(row["selection"]), from_json(row["change"]), row["rows"],
        row["created_at"], row["undone_at"], row["edited_by"], row["state"],
    )  # fmt: skip


async def add_rows_beside(
    conn: Connection, edit_id: UUID, job_id: UUID, org_id: int, rows: Sequence[int]
) -> None:
    """Record rows that run again because they share a name with an edited row."""
    await conn.execute(_sql.add_rows_beside, edit_id, job_id, org_id, list(rows))


async def rows_of_edit(
    conn: Connection, edit_id: UUID, after: int, most: int, *, with_beside: bool = False
) -> list[tuple[int, Mapping[str, Any]]]:
    """The next rows that an edit changed, with their cells before it. ``with_beside``: and the rows
    that ran again with them."""
    rows = await conn.fetch(_sql.edit_rows, edit_id, after, most, with_beside)
    return [(row["row_no"], from_json(row["before"])) for row in rows]
