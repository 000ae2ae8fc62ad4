"""What a benchmark is: one file in `entries`, a name, and lines with a goal."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
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
    """One figure against its goal; ``met`` is None where it is only reported. A line without
    figures says in ``note`` why there are none."""

    name: str
    unit: str
    ours: Figures | None
    baseline: Figures | None = None
    goal: str = "reported"
    met: bool | None = None
    against: str = ""
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """Median of the ratios of each repetition: its two halves ran under the same noise."""
        if self.ours is None or self.baseline is None:
            return None
        pairs = zip(self.ours.values, self.baseline.values, strict=True)
        return Figures([ours / base for ours, base in pairs]).median

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name, "unit": self.unit, "ours": _values(self.ours),
            "baseline": _values(self.baseline), "against": self.against, "ratio": self.ratio,
            "goal": self.goal, "met": self.met, "note": self.note,
        }  # fmt: skip

    @classmethod
    def of_json(cls, found: dict[str, Any]) -> Line:
        return cls(
            found["name"], found["unit"], _figures(found["ours"]), _figures(found["baseline"]),
            found["goal"], found["met"], found["against"], found["note"],
        )  # fmt: skip


def _values(figures: Figures | None) -> list[float] | None:
    return None if figures is None else list(figures.values)


def _figures(values: list[float] | None) -> Figures | None:
    return None if values is None else Figures(values)


@dataclass(frozen=True)
class Entry:
    """``about`` is what its page says: what is compared, and what is not."""

    name: str
    run: Callable[[Lab, Scale], Awaitable[Sequence[Line]]]
    title: str = ""
    about: str = ""


def share_of(
    name: str, unit: str, ours: list[float], baseline: list[float], least: float, against: str = ""
) -> Line:
    """A line whose goal is a share of its baseline."""
    line = Line(name, unit, Figures(ours), Figures(baseline), against=against)
    goal = f"≥ {least:.0%} of it" if least < 1 else f"≥ {least:g} × it"
    return replace(line, goal=goal, met=(line.ratio or 0) >= least)


def within(name: str, unit: str, ours: list[float], baseline: list[float], most: float) -> Line:
    """A line that may be at most so many times its baseline."""
    line = Line(name, unit, Figures(ours), Figures(baseline))
    return replace(line, goal=f"≤ {most:g} × it", met=line.ratio is not None and line.ratio <= most)


def at_most(name: str, unit: str, ours: list[float], most: float) -> Line:
    figures = Figures(ours)
    return Line(name, unit, figures, None, f"≤ {most:g} {unit}".rstrip(), figures.median <= most)


def at_least(name: str, unit: str, ours: list[float], least: float) -> Line:
    figures = Figures(ours)
    goal = f"≥ {least:,g} {unit}".rstrip()
    return Line(name, unit, figures, None, goal, figures.median >= least)


def reported(name: str, unit: str, ours: list[float]) -> Line:
    return Line(name, unit, Figures(ours))


def not_measured(name: str, why: str) -> Line:
    return Line(name, "", None, note=why)
