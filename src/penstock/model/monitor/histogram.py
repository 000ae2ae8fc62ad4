"""Histograms of durations, as Prometheus counts them. Only the event loop writes; any thread may
take a snapshot."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, Final

# Upper bounds in seconds; the last bucket has none.
BOUNDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
# More series than this are not kept: labels are routes, stages and providers, which are few.
_MAX_SERIES = 500


class Histogram:
    __slots__ = ("counts", "sum")

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS) + 1)
        self.sum = 0.0

    def observe(self, seconds: float) -> None:
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.sum += seconds


class HistogramSet:
    """Histograms by name and labels."""

    def __init__(self, *, enabled: bool = True) -> None:
        self._enabled = enabled
        self._series: dict[tuple[str, tuple[str, ...]], Histogram] = {}

    def observe(self, name: str, labels: tuple[str, ...], seconds: float) -> None:
        if not self._enabled:
            return
        series = self._series.get((name, labels))
        if series is None:
            if len(self._series) >= _MAX_SERIES:
                return
            series = self._series[name, labels] = Histogram()
        series.observe(seconds)

    def snapshot(self) -> list[dict[str, Any]]:
        return [
            {
                "name": name,
                "labels": list(labels),
                "counts": self._series[name, labels].counts[:],
                "sum": round(self._series[name, labels].sum, 6),
            }
            for name, labels in sorted(self._series.copy())
        ]


def cumulative(counts: Sequence[int]) -> list[tuple[str, int]]:
    """Bucket bounds as Prometheus writes them, each with the number of values up to it."""
    total, buckets = 0, []
    for bound, count in zip((*BOUNDS, None), counts, strict=True):
        total += count
        buckets.append(("+Inf" if bound is None else f"{bound:g}", total))
    return buckets
