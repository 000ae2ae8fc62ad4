"""The progress of a job. Pure; the stored percentage never falls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from penstock.model.states import shown_state


def shares_before(shares: Sequence[float]) -> list[float]:
    """The share of an item's work that is done when it enters each stage."""
    whole = sum(shares) or 1.0
    before, out = 0.0, []
    for share in shares:
        out.append(before / whole)
        before += share
    return out


def describe(
    *,
    percent: float,
    stage: str | None,
    rows_done: int,
    rows_total: int,
    elapsed_ms: int,
    state: str,
    skipped: int = 0,
    kept: int = 0,
    standing: bool = False,
) -> dict[str, Any]:
    """Progress as shown in events and the API. ``kept`` rows had ended before this run: they tell
    nothing about how fast it is. A ``standing`` job has no end to wait for."""
    remaining: int | None = None
    at_first = 100.0 * kept / rows_total if rows_total else 0.0
    if state in {"done", "failed", "cancelled"}:
        remaining = 0
    elif percent > at_first and not standing:
        remaining = round(elapsed_ms / (percent - at_first) * (100 - percent))
    return {
        "percent": round(percent, 1),
        "stage": stage,
        "message": f"Standing: {rows_done:,} of {rows_total:,} done so far, takes more at any time"
        if standing and state in {"queued", "running"}
        else _message(state, stage, rows_done, rows_total, skipped),
        "rowsDone": rows_done,
        "rowsTotal": rows_total,
        "rowsRun": max(0, rows_done - kept),
        "elapsedMs": elapsed_ms,
        "estimatedRemainingMs": remaining,
    }


class JobProgress(Protocol):
    """What the progress of a stored job is computed from."""

    @property
    def state(self) -> str: ...
    @property
    def paused(self) -> bool: ...
    @property
    def delayed(self) -> bool: ...
    @property
    def stage(self) -> str | None: ...
    @property
    def percent(self) -> float: ...
    @property
    def total(self) -> int: ...
    @property
    def pending(self) -> int: ...
    @property
    def processing(self) -> int: ...
    @property
    def skipped(self) -> int: ...
    @property
    def kept_rows(self) -> int: ...
    @property
    def elapsed_ms(self) -> int | None: ...
    @property
    def standing(self) -> bool: ...


def progress_of(job: JobProgress) -> dict[str, Any]:
    """The progress of a stored job."""
    return describe(
        percent=job.percent,
        stage=job.stage,
        rows_done=job.total - job.pending - job.processing,
        rows_total=job.total,
        elapsed_ms=job.elapsed_ms or 0,
        skipped=job.skipped,
        kept=job.kept_rows,
        standing=job.standing,
        state=shown_state(job.state, paused=job.paused, delayed=job.delayed),
    )


def _message(state: str, stage: str | None, rows_done: int, rows_total: int, skipped: int) -> str:
    match state:
        case "queued" | "delayed":
            return "Waiting for a worker"
        case "running" if stage == "ingest":
            return f"Storing rows: {rows_total:,} so far"
        case "running":
            return f"{rows_done:,} of {rows_total:,} rows finished" + (
                f", in {stage}" if stage else ""
            )
        case _:
            left_out = f", {skipped:,} skipped" if skipped else ""
            worked = f"{rows_done - skipped:,} of {rows_total:,} rows finished{left_out}"
            return f"{state.capitalize()}: {worked}"
