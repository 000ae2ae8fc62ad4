"""Turn records into rows, within limits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from penstock.formats.read_options import Problem
from penstock.formats.records.flatten import flattened, text_of
from penstock.formats.structure.cell_kinds import is_blank
from penstock.formats.tables import Problems
from penstock.model.errors import BadInput

_ROWS_AT_ONCE = 500


class Columns:
    """The names of all records, in order of first occurrence."""

    def __init__(self, limits: Mapping[str, int]) -> None:
        self._most = limits["columns"]
        self._names: dict[str, None] = {}
        self._filled: set[str] = set()
        self.cells = 0

    @property
    def names(self) -> list[str]:
        """Without names that are an object in other records."""
        inner = {name.rpartition(".")[0] for name in self._names}
        return [name for name in self._names if name in self._filled or name not in inner]

    def see(self, cells: Mapping[str, str]) -> None:
        self.cells += len(cells)
        for name, text in cells.items():
            if text:
                self._filled.add(name)
            if name not in self._names:
                self._names[name] = None
                if len(self._names) > self._most:
                    raise BadInput(
                        "TOO_MANY_COLUMNS", f"The records have more than {self._most:,} fields"
                    )


def rows_of_records(
    records: Iterable[Any], plan: Mapping[str, Any], limits: Mapping[str, int], problems: Problems
) -> Iterator[list[list[str]]]:
    """Problems refer to rows by their position in the next batch."""
    names, most = plan["columns"], limits["cell_bytes"]
    rows: list[list[str]] = []
    for number, record in enumerate(records, start=1):
        if plan["arrays"]:
            cells = [text_of(cell) for cell in record]
            row = cells + [""] * (len(names) - len(cells))
            if len(cells) > len(names):
                said = f"Record {number:,} has {len(cells)} cells, the header has {len(names)}"
                problems.add(Problem("RAGGED_ROW", number, said, row=len(rows) + 1))
        else:
            found = flattened(record)
            row = [found.get(name, "") for name in names]
        if any(4 * len(cell) > most and len(cell.encode()) > most for cell in row):
            raise BadInput(
                "CELL_TOO_LARGE",
                f"A cell of record {number:,} is larger than {most:,} bytes",
                line=number,
            )
        if not is_blank(row):
            rows.append(row)
        if len(rows) >= _ROWS_AT_ONCE:
            yield rows
            rows = []
    if rows:
        yield rows
