"""`python -m benchmarks [--quick] [--only NAME] [--record]`: tables, and a file of results."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import time
import traceback
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.entries import ENTRIES, peers
from benchmarks.entry import Entry, Line, Scale, not_measured
from benchmarks.lab import Lab, open_lab
from benchmarks.machine import facts
from benchmarks.measure import Table
from benchmarks.page import RECORDED, matrix, record
from penstock.logs import configure_logging

RESULTS = Path(__file__).parent / "results"
_MET = {True: "yes", False: "no", None: "–"}


async def measure(entries: Sequence[Entry], scale: Scale) -> dict[str, Any]:
    """Lines of each entry, with what was true of the machine then."""
    found: dict[str, Any] = {}
    async with open_lab() as lab:
        for entry in entries:
            machine, began = await facts(lab.dsn), time.monotonic()
            lines = await attempt(entry, lab, scale)
            seconds = round(time.monotonic() - began)
            machine["load_after"] = os.getloadavg()[0]
            show(entry, lines)
            print(f"({entry.name}: {seconds} s)", flush=True)
            found[entry.name] = {
                "machine": machine, "seconds": seconds, "quick": scale.quick,
                "lines": [line.as_json() for line in lines],
            }  # fmt: skip
    return found


async def attempt(entry: Entry, lab: Lab, scale: Scale) -> Sequence[Line]:
    """One that fails says why, and leaves the others their turn."""
    try:
        return await entry.run(lab, scale)
    except Exception as error:
        traceback.print_exc()
        return [not_measured(entry.name, f"{type(error).__name__}: {error}")]


def show(entry: Entry, lines: Sequence[Line]) -> None:
    if entry is peers.ENTRY:
        print(f"\n{entry.title}\n" + "\n".join(matrix(lines)))
    else:
        table_of(entry.title, lines).show()


def table_of(title: str, lines: Sequence[Line]) -> Table:
    table = Table(title, ("what", "ours", "baseline", "unit", "ratio", "spread", "goal", "met"))
    for line in lines:
        if line.ours is None:
            table.add(line.name, "not measured", line.note, "", "", "", "", "")
            continue
        base = "–" if line.baseline is None else _figure(line.baseline.median)
        table.add(
            line.name, line.ours.median, f"{base} {line.against}".strip(), line.unit,
            "–" if line.ratio is None else line.ratio, f"± {line.ours.spread:.0%}",
            line.goal, _MET[line.met],
        )  # fmt: skip
    return table


def _figure(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def keep(found: dict[str, Any]) -> Path:
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}.json"
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return path


def parsed(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Options of the command line; ``--only`` may be repeated, and every name counts."""
    names = [entry.name for entry in ENTRIES]
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it works")
    parser.add_argument("--only", choices=names, action="append", help="may be repeated")
    parser.add_argument("--record", action="store_true", help="… and write docs/benchmarks.md")
    return parser.parse_args(arguments)


def chosen(only: Sequence[str] | None) -> list[Entry]:
    return [entry for entry in ENTRIES if only is None or entry.name in only]


def main() -> None:
    asked = parsed()
    configure_logging("error")
    found = asyncio.run(measure(chosen(asked.only), Scale(asked.quick)))
    print(f"\nKept in {keep(found)}")
    if asked.record:
        record(found)
        print(f"Recorded in {RECORDED}")


if __name__ == "__main__":
    main()
