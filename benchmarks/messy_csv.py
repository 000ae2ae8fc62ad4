"""How well messy text files are read: by us, and by what people would otherwise use.

    python benchmarks/messy_csv.py [--json]

Peers are measured where they are installed: `pip install -r benchmarks/peers-files.txt`. A file is
read exactly if its header and every row are right. The F1 of cells compares each cell's text with
the truth at its place; it is the mean over files, so that long files count no more than short ones.
"""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "src")]

from benchmarks.messy.cases import CASES  # noqa: E402
from benchmarks.messy.hard_cases import HARD  # noqa: E402
from benchmarks.messy.survey import SURVEY  # noqa: E402
from penstock.formats.read_table import read_table  # noqa: E402
from penstock.formats.tables import TableChunk, TableHead  # noqa: E402
from penstock.model.errors import BadInput  # noqa: E402

DATA = HERE.parent.parent / "shared" / "data"
Table = list[list[str]]
LIMITS = {
    "rows": 1_000_000, "columns": 2000, "cells": 50_000_000, "cell_bytes": 1024 * 1024,
    "file_bytes": 100 * 1024 * 1024, "inflated_bytes": 1024 * 1024 * 1024, "nesting": 64,
}  # fmt: skip


class Sample(NamedTuple):
    """``table`` is None where refusing the file is right."""

    name: str
    path: Path
    table: Table | None


def samples(folder: Path) -> list[Sample]:
    found = []
    for number, case in enumerate([*CASES, *HARD, *SURVEY]):
        path = folder / f"{number}.csv"
        path.write_bytes(case.content)
        found.append(Sample(case.name, path, case.table))
    if DATA.exists():
        found += spectrum() + collection()
    return found


def spectrum() -> list[Sample]:
    found = []
    for path in sorted((DATA / "csv-spectrum/csvs").glob("*.csv")):
        truth = json.loads((path.parents[1] / "json" / f"{path.stem}.json").read_bytes())
        if path.stem == "location_coordinates":
            # A single object, and with another phone number than the file has.
            truth = [{**truth, "Contact Phone Number": "2095257564"}]
        rows = [list(record.values()) for record in truth]
        if path.stem == "newlines_crlf":
            # The stored copy of the file has lost its carriage returns.
            rows = [[cell.replace("\r\n", "\n") for cell in row] for row in rows]
        found.append(Sample(f"csv-spectrum/{path.name}", path, [list(truth[0]), *rows]))
    return found


def collection() -> list[Sample]:
    truths = json.loads((HERE / "messy" / "truth.json").read_text("utf-8"))
    return [
        Sample(name, DATA / "csv-messy" / name, truth_of(DATA / "csv-messy" / name, said))
        for name, said in truths.items()
    ]


def truth_of(path: Path, said: dict[str, Any]) -> Table | None:
    if "error" in said:
        return None
    if "table" in said:
        return list(said["table"])
    recipe = said["recipe"]
    text = path.read_bytes().decode(recipe.get("encoding", "utf-8"))
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=recipe["delimiter"])
    records = [row for row in lines if any(cell.strip() for cell in row)]
    header = recipe.get("header", 0)
    first = 0 if header is None else header + 1
    rows = records[first : first + recipe.get("rows", len(records))]
    names = [""] * len(rows[0]) if header is None else records[header]
    width = recipe.get("columns", len(names))
    return [row[:width] for row in (names, *rows)]


def penstock(path: Path) -> Table:
    table: Table = []
    for piece in read_table(str(path), {}, LIMITS):
        if isinstance(piece, TableHead):
            table.append(piece.plan["header"])
        elif isinstance(piece, TableChunk):
            table += piece.rows
    return table


def decoded(path: Path) -> str:
    """What a careful script does: marks, then UTF-8, then the usual old encoding."""
    data = path.read_bytes()
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def filled(rows: Table) -> Table:
    """Rows without content are rows for nobody."""
    return [row for row in rows if any(cell.strip() for cell in row)]


def sniffer(path: Path) -> Table:
    text = decoded(path)
    dialect = csv.Sniffer().sniff(text[:4096])
    return filled(list(csv.reader(io.StringIO(text, newline=""), dialect)))


def pandas(path: Path) -> Table:
    import pandas as pd

    frame = pd.read_csv(
        io.StringIO(decoded(path)), sep=None, engine="python", dtype=str, keep_default_na=False,
        header=None, on_bad_lines="skip",
    )  # fmt: skip
    return filled([["" if cell is None else str(cell) for cell in row] for row in frame.values])


def polars(path: Path) -> Table:
    import polars as pl

    frame = pl.read_csv(
        decoded(path).encode(), has_header=False, infer_schema=False, truncate_ragged_lines=True
    )
    return filled([["" if cell is None else cell for cell in row] for row in frame.iter_rows()])


def clevercsv(path: Path) -> Table:
    import clevercsv as clever

    text = decoded(path)
    dialect: Any = clever.Sniffer().sniff(text[:32768])
    return filled(list(clever.reader(io.StringIO(text, newline=""), dialect)))


READERS: dict[str, Callable[[Path], Table]] = {
    "penstock": penstock, "csv.Sniffer": sniffer, "pandas": pandas, "polars": polars,
    "clevercsv": clevercsv,
}  # fmt: skip


def cells_of(table: Table) -> set[tuple[int, int, str]]:
    return {
        (line, column, cell)
        for line, row in enumerate(table)
        for column, cell in enumerate(row)
        if cell.strip()
    }


class Score(NamedTuple):
    exact: bool
    f1: float
    right: int
    cells: int
    seconds: float


def score(reader: Callable[[Path], Table], sample: Sample) -> Score:
    start = time.perf_counter()
    try:
        table = reader(sample.path)
    except BadInput:
        table = None
    except Exception:  # whatever a peer raises, it did not read the file
        table = [] if sample.table is not None else None
    seconds = time.perf_counter() - start
    if sample.table is None or table is None:
        same = (table or None) is sample.table
        return Score(same, float(same), 0, len(cells_of(sample.table or [])), seconds)
    truth, found = cells_of(sample.table), cells_of(table)
    if sample.table and not any(cell for cell in sample.table[0]) and table != sample.table:
        # Who was not told that there is no header may do without one.
        found = max(found, cells_of([[], *table]), key=lambda cells: len(cells & truth))
    right = len(truth & found)
    f1 = 2 * right / (len(truth) + len(found)) if truth or found else 1.0
    return Score(table == sample.table or f1 == 1.0, f1, right, len(truth), seconds)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        files = samples(Path(folder))
        results = {
            name: [score(reader, sample) for sample in files]
            for name, reader in READERS.items()
            if name not in ("pandas", "polars", "clevercsv") or importlib.util.find_spec(name)
        }
        missed = [
            sample.name
            for sample, result in zip(files, results["penstock"], strict=True)
            if not result.exact
        ]
    summary = {
        name: {
            "files": len(scores),
            "exact": sum(one.exact for one in scores) / len(scores),
            "f1": sum(one.f1 for one in scores) / len(scores),
            "cells_right": sum(one.right for one in scores) / sum(one.cells for one in scores),
            "seconds": sum(one.seconds for one in scores),
        }
        for name, scores in results.items()
    }
    if "--json" in sys.argv:
        print(json.dumps({"readers": summary, "missed": missed}, indent=2, ensure_ascii=False))
        return
    print(f"{len(files)} messy files{'' if DATA.exists() else ' (shared samples not found)'}\n")
    print(f"{'reader':<12} {'read exactly':>13} {'F1 of cells':>12} {'cells right':>12} {'s':>7}")
    for name, one in summary.items():
        print(
            f"{name:<12} {one['exact']:>13.1%} {one['f1']:>12.3f} {one['cells_right']:>12.1%} "
            f"{one['seconds']:>7.2f}"
        )
    print(f"\nnot read exactly by penstock: {', '.join(missed) or 'none'}")


if __name__ == "__main__":
    main()
