"""`python -m benchmarks [--quick] [--only NAME]`: every entry, a table, and a file of results."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.entries import ENTRIES
from benchmarks.entry import Entry, Line, Scale
from benchmarks.lab import open_lab
from benchmarks.machine import facts
from benchmarks.measure import Table

RESULTS = Path(__file__).parent / "results"
_MET = {True: "yes", False: "no", None: "–"}


async def measure(entries: Sequence[Entry], scale: Scale) -> tuple[list[Line], dict[str, Any]]:
    lines: list[Line] = []
    async with open_lab() as lab:
        machine = await facts(lab.dsn)
        for entry in entries:
            began = time.monotonic()
            lines += await entry.run(lab, scale)
            print(f"{entry.name}: {time.monotonic() - began:.0f} s", flush=True)
    machine["load_after"] = os.getloadavg()[0]
    return lines, machine


def table_of(lines: Sequence[Line]) -> Table:
    columns = ("entry", "ours", "baseline", "unit", "ratio", "spread", "goal", "met")
    table = Table("Medians; spread of ours; the ratio is of the same repetition", columns)
    for line in lines:
        table.add(
            line.name, line.ours.median, "–" if line.baseline is None else line.baseline.median,
            line.unit, "–" if line.ratio is None else line.ratio, f"± {line.ours.spread:.0%}",
            line.goal, _MET[line.met],
        )  # fmt: skip
    return table


def keep(lines: Sequence[Line], machine: dict[str, Any], scale: Scale) -> Path:
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}.json"
    found = {"quick": scale.quick, "machine": machine, "lines": [one.as_json() for one in lines]}
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return path


def main() -> None:
    names = [entry.name for entry in ENTRIES]
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--only", choices=names, action="append", help="may be given again")
    asked = parser.parse_args()
    chosen = [entry for entry in ENTRIES if asked.only is None or entry.name in asked.only]
    scale = Scale(asked.quick)
    lines, machine = asyncio.run(measure(chosen, scale))
    table_of(lines).show()
    print(f"\nKept in {keep(lines, machine, scale)}")


if __name__ == "__main__":
    main()
