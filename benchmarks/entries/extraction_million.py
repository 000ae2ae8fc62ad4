"""A million rows of a supplier's file, as CSV and as XLSX: time and memory."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from benchmarks.entries.extraction import MAKE, one_job
from benchmarks.entry import Entry, Line, Scale, at_most, reported
from benchmarks.lab import Lab

_PATIENCE_S = 7200.0


async def run(lab: Lab, scale: Scale) -> Sequence[Line]:
    rows = scale.of(1_000_000, 10_000)
    lines = []
    for kind, make in MAKE.items():
        path = await asyncio.to_thread(make, lab.folder / f"million.{kind}", rows)
        # Once: it is long, and memory hardly varies.
        seconds, peak = await one_job(lab, path, "merge", _PATIENCE_S)
        path.unlink()
        name = f"{kind.upper()}, {rows:,} rows, merge"
        lines.append(reported(name, "rows/s", [rows / seconds]))
        lines.append(at_most(f"{name}: memory of the largest process", "MB", [peak.one], 200))
    return lines


ENTRY = Entry(
    "extraction_million", run, "A million rows to products", "The same file as in `extraction`, ten"
    " times as long, with bounds on file and archive raised to let it in. Memory is the most that"
    " any one process holds, children included; PostgreSQL's own are not counted.",
)  # fmt: skip
