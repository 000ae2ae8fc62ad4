"""Variants in turn, several times over; medians, spreads and tables."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

Variant = Callable[[], Awaitable[float]]


@dataclass(slots=True)
class Clock:
    began: float = field(default_factory=time.perf_counter)
    # Once the block has ended.
    seconds: float = 0.0

    @property
    def so_far(self) -> float:
        return time.perf_counter() - self.began


@asynccontextmanager
async def timed() -> AsyncIterator[Clock]:
    clock = Clock()
    yield clock
    clock.seconds = clock.so_far


@dataclass(frozen=True)
class Figures:
    """What the repetitions of one variant gave."""

    values: Sequence[float]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def spread(self) -> float:
        """Half the range, as a share of the median; of five or more, half the middle half's."""
        if not self.median:
            return 0.0
        low, high = min(self.values), max(self.values)
        if len(self.values) >= 5:
            low, _, high = statistics.quantiles(self.values, n=4)
        return (high - low) / 2 / self.median


async def alternate(variants: Mapping[str, Variant], repetitions: int) -> dict[str, Figures]:
    """Each variant once per round, the first one changing, so that noise falls on all alike."""
    names = list(variants)
    values: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(repetitions):
        shift = turn % len(names)
        for name in names[shift:] + names[:shift]:
            values[name].append(await variants[name]())
    return {name: Figures(found) for name, found in values.items()}


def percentile(values: Iterable[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def jain(shares: Sequence[float]) -> float:
    """Jain's fairness index: 1 when all have the same, 1/n when one has everything."""
    return sum(shares) ** 2 / (len(shares) * sum(share * share for share in shares))


@dataclass
class Table:
    """Rows for people, and the same as JSON."""

    title: str
    columns: Sequence[str]
    rows: list[Sequence[Any]] = field(default_factory=list)

    def add(self, *cells: Any) -> None:
        self.rows.append(cells)

    def show(self) -> None:
        texts = [[_text(cell) for cell in row] for row in ([*self.columns], *self.rows)]
        widths = [max(len(row[n]) for row in texts) for n in range(len(self.columns))]
        print(f"\n{self.title}")
        for row in texts:
            print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)))

    def as_json(self) -> dict[str, Any]:
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        return {"title": self.title, "rows": rows}


def show(tables: Sequence[Table]) -> None:
    for table in tables:
        table.show()
    print("\n" + json.dumps([table.as_json() for table in tables]))


def compare(
    table: Table, figures: Mapping[str, Figures], label: Sequence[Any], scale: float
) -> None:
    """One row per variant: its figure in units of ``scale``, relative to the first one."""
    first = next(iter(figures.values())).median
    for name, found in figures.items():
        table.add(*label, name, found.median * scale, found.median / first, found.spread)


def _text(cell: Any) -> str:
    if isinstance(cell, float):
        return f"{cell:,.0f}" if abs(cell) >= 1000 else f"{cell:.3g}"
    return str(cell)
