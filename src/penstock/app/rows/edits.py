"""Edit many rows of a job, and undo that: a bulk operation over one job, in two passes.

The first pass writes the new cells, chunk by chunk, and records the old ones. The second reopens
the edited rows, and the rows that share a name with them before or after the edit. So each row runs
again with all cells written. An undo restores the products that the edit created or first changed
between the two passes. The job is held by the operation until the end: it cannot complete,
and no other change of its rows begins. A kill repeats only the chunk that was not committed.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from penstock.app.bulk import reach_of
from penstock.app.rows.fix import ENDED_STATUSES, MOST_BESIDE, names_of_rows
from penstock.engine import reprocess
from penstock.engine.runtime import Runtime
from penstock.model.bulk import BulkAction, JobFilter
from penstock.model.errors import BadInput, NotThere, PermanentError
from penstock.model.ids import new_id
from penstock.model.reprocess import Selection
from penstock.model.rows.edits import Change, EditedRow, Editor, RowFilter, with_cells
from penstock.model.states import TERMINAL_JOB_STATES
from penstock.store.accounts.accounts import Principal
from penstock.store.accounts.audit_log import audit
from penstock.store.catalog import products
from penstock.store.database import Connection, from_json
from penstock.store.jobs import bulk, edits, jobs
from penstock.store.jobs import reprocess as store
from penstock.store.jobs.bulk import NewOperation, Operation
from penstock.store.jobs.job_rows import JobDetails

# Rows read by one statement; at most so many are written in one transaction.
STRETCH = 5000
# Rows reopened in one transaction. Their first stage is tried for the names they will have.
REOPENED_AT_ONCE = 2000
MOST_SHOWN = 20
_COUNT_SECONDS = 2.0
_NO_PRODUCT = UUID(int=0)


@dataclass(frozen=True, slots=True)
class Preview:
    """How many rows would change (``capped``: at least so many), and the first ones."""

    rows: int
    capped: bool
    first: Sequence[EditedRow]


@dataclass(frozen=True, slots=True)
class StartedEdit:
    operation_id: UUID
    edit_id: UUID
    rows: int
    capped: bool
    lane: str


class _Reader:
    """Reads the rows of a job that an edit may change, stretch by stretch. ``above`` is the text to
    fill down into the next rows."""

    def __init__(
        self, conn: Connection, job: JobDetails, wanted: RowFilter, change: Change, above: str = ""
    ) -> None:
        self._conn = conn
        self._job = job
        self._total = int(job.total)
        self._header: list[str] = from_json(job.header) or []
        self._wanted = wanted
        self._change = change
        self._sample: Any = None
        self.above = above

    async def check_columns(self) -> None:
        """Refuse columns that the rows do not have."""
        self._sample = await store.input_of(self._conn, self._job.id, 1)
        known = set(self._header)
        if isinstance(self._sample, dict):
            known |= set(self._sample)
        asked = self._change.columns() | ({self._wanted.column} - {None})
        unknown = sorted(str(name) for name in asked - known)
        if unknown:
            raise BadInput(
                "UNKNOWN_FIELD", f"The rows have no column {unknown[0]!r}.", unknown=unknown
            )

    async def next_rows(self, after: int) -> tuple[list[EditedRow], int | None]:
        """Rows that change, and the row to continue after; None at the end."""
        if self._sample is None:
            self._sample = await store.input_of(self._conn, self._job.id, 1)
        job_id, wanted = self._job.id, self._wanted
        cell = None if wanted.column is None else self._cell(wanted.column)
        fills = self._change.kind == "fillDown"
        if wanted.rows and not fills:
            named = await edits.read_named(self._conn, job_id, wanted, cell)
            return list(Editor(self._change, self._header).edited(named)), None
        until = after + STRETCH
        rows = await edits.read_stretch(
            self._conn, job_id, wanted, cell, after, until, all_rows=fills
        )
        editor = Editor(self._change, self._header, self.above)
        edited = list(editor.edited(rows))
        self.above = editor.above
        return edited, until if until < self._total else None

    def _cell(self, column: str) -> str:
        """Where a column is in the stored rows."""
        is_named = isinstance(self._sample, dict) or column not in self._header
        return column if is_named else str(self._header.index(column))


async def preview(conn: Connection, job_id: UUID, wanted: RowFilter, change: Change) -> Preview:
    """What an edit would change, within the time of a request."""
    reader = _Reader(conn, await _get_job(conn, job_id), wanted, change)
    await reader.check_columns()
    deadline = time.monotonic() + _COUNT_SECONDS
    rows, after = 0, 0
    first: list[EditedRow] = []
    while True:
        edited, following = await reader.next_rows(after)
        rows += len(edited)
        first += edited[: MOST_SHOWN - len(first)]
        if following is None:
            return Preview(rows, False, first)
        if time.monotonic() > deadline:
            return Preview(rows, True, first)
        after = following


async def start(
    conn: Connection, who: Principal, job_id: UUID, wanted: RowFilter, change: Change,
    ip: str | None,
) -> StartedEdit | None:  # fmt: skip
    """Begin an edit, audited; None if it changes nothing."""
    seen = await preview(conn, job_id, wanted, change)
    if not seen.rows and not seen.capped:
        return None
    job = await _get_job(conn, job_id)
    edit_id = new_id()
    most = int(job.total) if seen.capped else seen.rows
    lane = await _begin(conn, who, job, edit_id, {"editId": str(edit_id)}, most, ip)
    await edits.add_edit(conn, edit_id, job, who.user_id, wanted, change)
    await audit(
        conn, job.org_id, who.user_id, "job.edit", f"job:{job_id}", ip=ip,
        after={"editId": str(edit_id), "select": wanted.as_json(), "change": _short(change)},
    )  # fmt: skip
    return StartedEdit(edit_id, edit_id, seen.rows, seen.capped, lane)


async def undo(
    conn: Connection, who: Principal, job_id: UUID, edit_id: UUID | None, ip: str | None
) -> StartedEdit:
    """Write the cells of the last edit as they were before it, and run its rows again. ``edit_id``
    must be that edit, if given."""
    job = await _get_job(conn, job_id)
    last = await edits.last_edit(conn, job_id)
    if last is None:
        raise PermanentError("INVALID_STATE", "The job has no edit to undo.")
    if edit_id is not None and last.id != edit_id:
        raise PermanentError(
            "INVALID_STATE", "Only the last edit can be undone. Undo the later edits first.",
            lastEditId=str(last.id),
        )  # fmt: skip
    if job.state not in TERMINAL_JOB_STATES:
        raise PermanentError(
            "INVALID_STATE", f"The job is {job.state}. Undo the edit when it has ended.",
            state=job.state,
        )  # fmt: skip
    operation_id = new_id()
    params = {"editId": str(last.id), "undo": True}
    lane = await _begin(conn, who, job, operation_id, params, last.rows, ip)
    await edits.mark_undone(conn, last.id)
    await audit(
        conn, job.org_id, who.user_id, "job.edit_undo", f"job:{job_id}", ip=ip,
        after={"editId": str(last.id), "rows": last.rows},
    )  # fmt: skip
    return StartedEdit(operation_id, last.id, last.rows, False, lane)


async def step(runtime: Runtime, conn: Connection, operation: Operation) -> str | None:
    """Write one chunk of an edit, in the caller's transaction; return the lane to wake. Raises
    `reprocess.JobCancelled` if the operation no longer holds the job."""
    assert operation.target is not None
    if not await reprocess.is_held(conn, operation.target, operation.id):
        raise reprocess.JobCancelled
    match (operation.target_selection or {}).get("pass"):
        case "reopen":
            return await _reopen(runtime, conn, operation, operation.target)
        case "products":
            await _take_products_back(conn, operation, operation.target)
            return None
    job = await _get_job(conn, operation.target)
    is_undo = bool(operation.params.get("undo"))
    if is_undo:
        following = await _restore(conn, operation, job)
    else:
        following = await _write(conn, operation, job)
    if following is not None:
        await bulk.move_in_target(conn, operation.id, following, 0, 0)
    elif is_undo:
        first = {"pass": "products", "after": str(_NO_PRODUCT)}
        await bulk.begin_pass(conn, operation.id, job.id, first)
    else:
        await _begin_reopening(conn, operation, job.id)
    return None


async def _begin_reopening(conn: Connection, operation: Operation, job_id: UUID) -> None:
    asked_at = (await bulk.now(conn)).isoformat()
    await bulk.begin_pass(conn, operation.id, job_id, {"pass": "reopen", "askedAt": asked_at})


async def _take_products_back(conn: Connection, operation: Operation, job_id: UUID) -> None:
    """Products that exist only because of the edit are deleted, and others restored, before the
    rows run again."""
    edit = await edits.get_edit(conn, _edit_of(operation))
    assert edit is not None
    after = UUID((operation.target_selection or {})["after"])
    undone, following = await products.undo_of_edit(conn, job_id, edit, after, STRETCH)
    if undone.looked_at:
        data = {"undone": undone.restored + undone.deleted, "refused": len(undone.refused)}
        await jobs.add_event(conn, job_id, "job.status", data, None)
    if following is None:
        await _begin_reopening(conn, operation, job_id)
    else:
        further = {"pass": "products", "after": str(following)}
        await bulk.begin_pass(conn, operation.id, job_id, further)


def _edit_of(operation: Operation) -> UUID:
    return UUID(operation.params["editId"])


async def _write(conn: Connection, operation: Operation, job: JobDetails) -> int | None:
    edit = await edits.get_edit(conn, _edit_of(operation))
    assert edit is not None
    above = (operation.target_selection or {}).get("above", "")
    change = Change.of_json(edit.change)
    reader = _Reader(conn, job, RowFilter.of_json(edit.selection), change, above)
    edited, following = await reader.next_rows(operation.target_row)
    await edits.add_rows(conn, edit.id, job.id, job.org_id, edited)
    if reader.above != above:
        # Stored with the position: finding it again might read all rows above.
        position = {"pass": "write", "above": reader.above}
        await bulk.begin_pass(conn, operation.id, job.id, position)
    return following


async def _restore(conn: Connection, operation: Operation, job: JobDetails) -> int | None:
    rows = await edits.rows_of_edit(conn, _edit_of(operation), operation.target_row, STRETCH)
    header = from_json(job.header) or []
    now = await edits.inputs_of(conn, job.id, [row_no for row_no, _ in rows])
    restored = {
        row_no: _restore_cells(now[row_no], header, before)
        for row_no, before in rows
        if row_no in now
    }
    if restored:
        await edits.set_inputs(conn, job.id, restored)
    return rows[-1][0] if len(rows) == STRETCH else None


def _restore_cells(given: Any, header: list[str], before: Mapping[str, Any]) -> Any:
    if not isinstance(given, dict):
        return with_cells(given, header, before)
    gone = {name for name, value in before.items() if value is None}
    return {name: value for name, value in {**given, **before}.items() if name not in gone}


async def _reopen(
    runtime: Runtime, conn: Connection, operation: Operation, job_id: UUID
) -> str | None:
    asked_at = datetime.fromisoformat((operation.target_selection or {})["askedAt"])
    edit_id, after = _edit_of(operation), operation.target_row
    is_undo = bool(operation.params.get("undo"))
    found = await edits.rows_of_edit(conn, edit_id, after, REOPENED_AT_ONCE, with_beside=is_undo)
    rows = [row_no for row_no, _ in found]
    job = await _get_job(conn, job_id)
    inputs = await edits.inputs_of(conn, job_id, rows)
    names = await names_of_rows(runtime, job, inputs.values())
    beside = await products.rows_beside_many(conn, job_id, rows, names, MOST_BESIDE)
    chosen = tuple(sorted(beside))
    if not is_undo and len(chosen) > len(rows):
        await edits.add_rows_beside(conn, edit_id, job_id, job.org_id, chosen)
    is_last = len(rows) < REOPENED_AT_ONCE
    # Without rows an empty selection would mean all of them.
    again = Selection(whole_job=False, statuses=ENDED_STATUSES, rows=chosen, from_start=True)
    lane: str = job.lane
    if chosen:
        made = await reprocess.reopen_rows(
            runtime, conn, job_id, again, asked_at, operation.id, is_last=is_last
        )
        await bulk.move_in_target(conn, operation.id, max([after, *rows]), made.items, 0)
    elif is_last:
        await reprocess.stop_reopening(conn, job_id, operation.id)
    if is_last:
        await bulk.note(conn, operation.id, job_id, changed=True)
        await bulk.end(conn, operation.id, "done")
    return lane


async def _begin(
    conn: Connection, who: Principal, job: JobDetails, operation_id: UUID,
    params: Mapping[str, Any], most: int, ip: str | None,
) -> str:  # fmt: skip
    """Hold the job, and store the operation that continues."""
    reprocess.require_rows(job.pruned_at, "edited")
    meant = Selection(whole_job=False, statuses=ENDED_STATUSES, from_start=True)
    lane = await reprocess.hold(conn, job.id, meant, most, holder=operation_id, user_id=who.user_id)
    await bulk.add(
        conn,
        NewOperation(
            operation_id, job.org_id, who.user_id, BulkAction.EDIT,
            JobFilter(job_ids=(job.id,)), reach_of(who), params, ip, 1,
            target=job.id, target_selection={"pass": "write"},
        ),
    )  # fmt: skip
    return lane


async def _get_job(conn: Connection, job_id: UUID) -> JobDetails:
    job = await jobs.get_job(conn, job_id)
    if job is None:
        raise NotThere("NOT_FOUND", f"There is no job {job_id}.")
    return job


def _short(change: Change) -> dict[str, Any]:
    """For the audit log; pasted cells are recorded with the edit."""
    said = change.as_json()
    return said | {"rows": len(said["rows"])} if "rows" in said else said
