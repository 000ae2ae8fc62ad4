"""The progress of a job. Pure; the stored percentage never falls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
) -> dict[str, Any]:
    """Progress as shown in events and the API."""
    remaining: int | None = None
    if state in {"done", "failed", "cancelled"}:
        remaining = 0
    elif percent > 0:
        remaining = round(elapsed_ms / percent * (100 - percent))
    return {
        "percent": round(percent, 1),
        "stage": stage,
        "message": _message(state, stage, rows_done, rows_total, skipped),
        "rowsDone": rows_done,
        "rowsTotal": rows_total,
        "elapsedMs": elapsed_ms,
        "estimatedRemainingMs": remaining,
    }


def progress_of(job: Any) -> dict[str, Any]:
    """The progress of a stored job."""
    return describe(
        percent=job["percent"],
        stage=job["stage"],
        rows_done=job["total"] - job["pending"] - job["processing"],
        rows_total=job["total"],
        elapsed_ms=job["elapsed_ms"] or 0,
        skipped=job["skipped"],
        state=shown_state(job["state"], paused=job["paused"], delayed=bool(job["delayed"])),
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
