"""Figures of each column of a job's file, while its rows are worked on and after."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.app.exports import OpenConnection
from penstock.engine.runtime import Runtime
from penstock.model.ports import Tally
from penstock.model.states import TERMINAL_JOB_STATES
from penstock.store.catalog.tallies import TALLIED_AT_ONCE, TallyOfWindows
from penstock.store.database import from_json
from penstock.store.jobs.job_rows import JobDetails

# A page asks again every few seconds while the job runs.
_PATIENCE_S = 0.5
_NEEDED = frozenset(("filled", "changed"))


@dataclass(frozen=True, slots=True)
class ColumnFigures:
    """``rows``: how many rows, from the first one on, the problems and changes were counted in."""

    rows: int
    columns: Sequence[Mapping[str, Any]]


async def column_figures(
    runtime: Runtime, opened: OpenConnection, job: JobDetails
) -> ColumnFigures:
    """Those of the summary once the job has ended; before that, of the first rows, as many as can
    be counted in a moment."""
    pipeline = runtime.pipelines.get(job.pipeline)
    context = from_json(job.context) or {}
    if pipeline is None or pipeline.column_figures(context, Tally({}, {})) is None:
        return ColumnFigures(0, ())
    if job.state in TERMINAL_JOB_STATES:
        kept = (from_json(job.summary) or {}).get("columns") or ()
        if kept and kept[0].keys() >= _NEEDED:
            return ColumnFigures(job.total, kept)
    deadline, rows = time.monotonic() + _PATIENCE_S, 0
    adding = TallyOfWindows(with_changes=True)
    while rows < job.total and time.monotonic() < deadline:
        async with opened() as conn:
            await adding.add_rows(conn, job.id, rows)
        rows = min(rows + TALLIED_AT_ONCE, job.total)
    return ColumnFigures(rows, pipeline.column_figures(context, adding.result()) or ())
