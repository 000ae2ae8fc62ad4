"""What a benchmark is: one file in `entries`, a name, and lines with a goal."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.lab import Lab
from benchmarks.measure import Figures


@dataclass(frozen=True)
class Scale:
    """How much to measure: all of it, or just enough to see that it works."""

    quick: bool
    repetitions: int = 3

    def of(self, full: int, quick: int) -> int:
        return quick if self.quick else full


@dataclass(frozen=True)
class Line:
    """One figure against its goal; ``met`` is None where it is only reported."""

    name: str
    unit: str
    ours: Figures
    baseline: Figures | None = None
    goal: str = "reported"
    met: bool | None = None

    @property
    def ratio(self) -> float | None:
        """Median of the ratios of each repetition: its two halves ran under the same noise."""
        if self.baseline is None:
            return None
        pairs = zip(self.ours.values, self.baseline.values, strict=True)
        return Figures([ours / base for ours, base in pairs]).median

    def as_json(self) -> dict[str, Any]:
        return {
            "entry": self.name, "unit": self.unit, "ours": list(self.ours.values),
            "baseline": None if self.baseline is None else list(self.baseline.values),
            "ratio": self.ratio, "goal": self.goal, "met": self.met,
        }  # fmt: skip


@dataclass(frozen=True)
class Entry:
    name: str
    run: Callable[[Lab, Scale], Awaitable[Sequence[Line]]]


def share_of(name: str, unit: str, ours: list[float], baseline: list[float], least: float) -> Line:
    """A line whose goal is a share of its baseline."""
    line = Line(name, unit, Figures(ours), Figures(baseline), f"≥ {least:.0%} of baseline")
    met = (line.ratio or 0) >= least
    return Line(line.name, line.unit, line.ours, line.baseline, line.goal, met)


def at_most(name: str, unit: str, ours: list[float], most: float) -> Line:
    figures = Figures(ours)
    return Line(name, unit, figures, None, f"≤ {most:g} {unit}", figures.median <= most)
