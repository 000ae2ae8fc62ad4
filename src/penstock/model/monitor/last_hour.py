"""Metrics of the last hour. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

MINUTES = 60


@dataclass(frozen=True, slots=True)
class EndedJob:
    """A job that ended; ``failed`` also where all its rows failed."""

    at: datetime
    rows: int
    took_ms: int
    failed: bool = False
    row_errors: int = 0


@dataclass(slots=True)
class Minute:
    at: datetime
    done: int = 0
    failed: int = 0
    rows: int = 0


def minutes(ended: Sequence[EndedJob], now: datetime) -> list[Minute]:
    """Jobs that ended in each of the last sixty minutes, the oldest first."""
    last = now.replace(second=0, microsecond=0)
    made = [Minute(last - timedelta(minutes=MINUTES - 1 - place)) for place in range(MINUTES)]
    for one in ended:
        ago = int((last - one.at.replace(second=0, microsecond=0)).total_seconds() // 60)
        if 0 <= ago < MINUTES:
            minute = made[MINUTES - 1 - ago]
            minute.failed += one.failed
            minute.done += not one.failed
            minute.rows += one.rows
    return made


def percentile(values: Sequence[int], share: float) -> int | None:
    """The smallest value that at least this share of all values does not exceed."""
    if not values:
        return None
    ordered = sorted(values)
    return ordered[max(0, -(-round(share * 1000) * len(ordered) // 1000) - 1)]


def success_rate(ended: Sequence[EndedJob]) -> float | None:
    """None if no job has ended."""
    return None if not ended else sum(not one.failed for one in ended) / len(ended)


def row_success_rate(ended: Sequence[EndedJob]) -> float | None:
    """The share of rows without an error. None if no row has ended."""
    rows = sum(one.rows for one in ended)
    return None if not rows else 1 - min(rows, sum(one.row_errors for one in ended)) / rows
