"""How many columns are mapped to the field that a person reads in their names.

    python benchmarks/gold_headers.py [--misses]

Precision is the share of mapped columns that have the right field, recall the share of columns with
a field that got it. The names are of exports and price lists of many systems and countries.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "src")]

from penstock.catalog.mapping.proposal import propose  # noqa: E402

NO_FIELD = "-"


class NamedColumn(NamedTuple):
    header: str
    target: str
    cells: tuple[str, ...]


class MappingScore(NamedTuple):
    columns: int
    precision: float
    recall: float
    misses: tuple[str, ...]


def files() -> Iterator[tuple[str, list[NamedColumn]]]:
    """The name and the columns of each file."""
    text = (HERE / "gold" / "headers.txt").read_text("utf-8")
    for block in text.split("\n[")[1:]:
        name, *lines = block.strip().splitlines()
        yield name.rstrip("]"), [_column(line) for line in lines]


def _column(line: str) -> NamedColumn:
    named, _, cells = line.partition(" :: ")
    header, _, target = named.rpartition(" = ")
    # Content is judged from three cells on.
    return NamedColumn(header, target.strip(), tuple(cells.split("|")) * 2)


def score() -> MappingScore:
    right = wrong = missed = columns = 0
    misses = []
    for name, named in files():
        found = propose([one.header for one in named], [one.cells for one in named]).columns
        columns += len(named)
        for one, proposed in zip(named, found, strict=True):
            target = proposed.target or NO_FIELD
            right += target == one.target != NO_FIELD
            if target != one.target:
                wrong += target != NO_FIELD
                missed += one.target != NO_FIELD
                misses.append(f"{name}: {one.header} is {one.target}, not {target}")
    return MappingScore(columns, right / (right + wrong), right / (right + missed), tuple(misses))


def main(arguments: Sequence[str]) -> None:
    found = score()
    if "--misses" in arguments:
        print(*found.misses, sep="\n")
    print(f"{found.columns} columns: precision {found.precision:.1%}, recall {found.recall:.1%}")


if __name__ == "__main__":
    main(sys.argv[1:])
