"""Durations of jobs by class, as they are summed for charts. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

LAST_CLASS: Final = 40
_FIRST_MS: Final = 10.0


def class_end_ms(number: int) -> float:
    """Class n ends at 2^(n/2) x 10 ms, as SQL's `duration_class` has it."""
    return float(_FIRST_MS * 2 ** (number / 2))


def percentile_of_classes(counts: Mapping[int, int], share: float) -> float | None:
    """Interpolated inside the class; None if there are no jobs."""
    total = sum(counts.values())
    if not total:
        return None
    below, rank = 0.0, share * total
    for number in sorted(counts):
        count = counts[number]
        if below + count >= rank:
            low = class_end_ms(number - 1) if number else 0.0
            return round(low + (class_end_ms(number) - low) * (rank - below) / count, 1)
        below += count
    return class_end_ms(LAST_CLASS)
