"""Correct cells of one row, or the mapping of all columns; then run the job again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from penstock.app import bulk
from penstock.engine.reprocess import require_rows
from penstock.engine.runtime import Runtime, parse_config
from penstock.engine.submit import Order, require_profile, stages_of, valid_config
from penstock.model.effects import NameRow
from penstock.model.errors import ChildCrashed, NotThere, PenstockError, PermanentError
from penstock.model.ids import new_id
from penstock.model.pipeline import Item, Job
from penstock.model.reprocess import Selection
from penstock.model.rows.edits import Change, EditedRow, RowFilter, cell_of, with_cells
from penstock.model.states import TERMINAL_ITEM_STATUSES, TERMINAL_JOB_STATES, ItemStatus
from penstock.store.accounts.accounts import Principal
from penstock.store.accounts.audit_log import audit
from penstock.store.catalog import products
from penstock.store.database import Connection, from_json
from penstock.store.jobs import claims, edits, jobs
from penstock.store.jobs import reprocess as store
from penstock.store.jobs.job_rows import JobDetails

# Rows of one name that run again; if there are more, the column is no name.
MOST_BESIDE = 1000
ENDED_STATUSES = tuple(sorted(TERMINAL_ITEM_STATUSES))


async def fix_item(
    runtime: Runtime, conn: Connection, who: Principal, job_id: UUID, row_no: int,
    cells: Mapping[str, str], ip: str | None, names: Sequence[str] = (),
) -> bulk.Reprocessed:  # fmt: skip
    """Change cells of an ended row, and run it again from the start, together with the rows that
    share a name with it before or after the change (``names``): another of them may now be the
    duplicate, or part of the same product."""
    await claims.lock_claims(conn)
    job = await jobs.get_job(conn, job_id)
    item = await store.lock_item(conn, job_id, row_no)
    if job is None or item is None:
        raise NotThere("NOT_FOUND", f"The job has no row {row_no}.")
    if ItemStatus(item.status) not in TERMINAL_ITEM_STATUSES:
        raise PermanentError(
            "INVALID_STATE", f"Row {row_no} is still at work. Change it when it has ended.",
            state=item.status,
        )  # fmt: skip
    before = from_json(item.input)
    header = from_json(job.header) or []
    after = with_cells(before, header, cells)
    old = {name: cell_of(before, header, name) for name in cells}
    edit_id = new_id()
    await edits.add_edit(
        conn, edit_id, job, who.user_id, RowFilter(rows=(row_no,)),
        Change("paste", pasted={row_no: cells}),
    )  # fmt: skip
    await edits.add_rows(conn, edit_id, job_id, job.org_id, [EditedRow(row_no, old, cells, after)])
    await audit(
        conn, job.org_id, who.user_id, "item.fix", f"job:{job_id}:{row_no}", ip=ip,
        before={"input": before}, after={"cells": dict(cells)},
    )  # fmt: skip
    beside = await products.rows_beside(conn, job_id, row_no, names, MOST_BESIDE)
    rows = tuple(sorted({row_no, *beside}))
    await edits.add_rows_beside(conn, edit_id, job_id, job.org_id, rows)
    again = Selection(whole_job=False, statuses=ENDED_STATUSES, rows=rows, from_start=True)
    return await bulk.reprocess_job(runtime, conn, who, job_id, again, ip)


async def names_once_fixed(
    runtime: Runtime, job: JobDetails, given: Any, cells: Mapping[str, str]
) -> Sequence[str]:
    """The names (id, SKU, GTIN) that a row would have with these cells."""
    return await names_of_rows(
        runtime, job, [with_cells(given, from_json(job.header) or [], cells)]
    )


async def names_of_rows(runtime: Runtime, job: JobDetails, inputs: Iterable[Any]) -> Sequence[str]:
    """The names of rows, by running their first stage on trial. Takes too long for a transaction
    that holds locks. If the trial fails, the run itself reports why."""
    try:
        pipeline = runtime.pipeline(job.pipeline)
        config = parse_config(pipeline, job.config)
        first = pipeline.stages(config)[0]
        if first.cpu is None:
            return ()
        seen = Job(
            job.id, job.org_id, job.pipeline, config, None, from_json(job.header),
            from_json(job.context) or {},
        )  # fmt: skip
        children = runtime.preview_children.for_owner(job.org_id)
        items = [Item(seen, 1, given) for given in inputs]
        outcomes = await children.call(first.cpu, items) if items else []
    except (PenstockError, ChildCrashed):
        return ()
    return [
        name
        for outcome in outcomes
        for effect in outcome.effects
        if isinstance(effect, NameRow)
        for name in effect.keys
    ]


async def remap(
    runtime: Runtime, conn: Connection, who: Principal, job_id: UUID, config: Mapping[str, Any],
    ip: str | None,
) -> bulk.Reprocessed:  # fmt: skip
    """Run the same rows with another configuration: columns are mapped again, and every row runs
    from the start."""
    await claims.lock_claims(conn)
    job = await jobs.get_job(conn, job_id)
    if job is None:
        raise NotThere("NOT_FOUND", f"There is no job {job_id}.")
    if job.state not in TERMINAL_JOB_STATES:
        raise PermanentError(
            "INVALID_STATE", f"The job is {job.state}. Remap it when it has ended.",
            state=job.state,
        )  # fmt: skip
    require_rows(job.pruned_at, "mapped again")
    pipeline = runtime.pipeline(job.pipeline)
    merged = {**from_json(job.config), **config}
    chosen = valid_config(pipeline, Order(job.pipeline, merged))
    await require_profile(conn, job.org_id, pipeline.traits(chosen))
    header = from_json(job.header) or ()
    pipeline.check_remap(parse_config(pipeline, job.config), chosen, header)
    await store.set_config(
        conn, job, chosen.model_dump_json(by_alias=True, exclude_unset=True),
        stages_of(pipeline, chosen, None),
    )  # fmt: skip
    await audit(
        conn, job.org_id, who.user_id, "job.remap", f"job:{job_id}", ip=ip,
        before={"config": from_json(job.config)}, after={"config": merged},
    )  # fmt: skip
    again = Selection(whole_job=True, statuses=ENDED_STATUSES, from_start=True)
    return await bulk.reprocess_job(runtime, conn, who, job_id, again, ip)
