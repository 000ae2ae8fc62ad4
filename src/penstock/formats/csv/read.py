"""Stream the rows of a text file by its plan."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from penstock.formats.csv.decimal_commas import join_split_amounts
from penstock.formats.csv.dialect import Dialect
from penstock.formats.csv.foreign_rows import split_again
from penstock.formats.csv.plan import CsvPlan, check_columns, is_comment, plan_csv
from penstock.formats.csv.records import Block, blocks_of, cell_too_large
from penstock.formats.read_options import Problem, ReadOptions, shown_line
from penstock.formats.source import Source
from penstock.formats.structure.cell_kinds import is_blank, unique_names
from penstock.formats.structure.help_rows import is_page_line
from penstock.formats.structure.layout import cut_footer
from penstock.formats.tables import Chunks, Cursor, Piece, Problems, TableEnd, TableHead, fit

# Rows at the end of a file that are checked for notes.
TAIL_ROWS = 200
# A file in which so many rows cannot be split otherwise is ragged; its other rows are not tried.
MAX_FAILED_SPLITS = 1_000


def read_csv(
    source: Source, options: ReadOptions, limits: Mapping[str, int], cursor: Cursor
) -> Iterator[Piece]:
    if cursor is None:
        plan, detected = plan_csv(source, options, limits)
        told = detected.as_json()
    else:
        plan, told = CsvPlan.of(cursor["plan"]), {}
    size = source.size
    yield TableHead(plan.as_json(), unique_names(plan.header), told, size)
    bytes_ = source.open()
    with io.TextIOWrapper(bytes_, plan.encoding, plan.errors, newline="") as file:
        table = _Table(plan, limits)
        chunks = Chunks(limits, cursor["rows"] if cursor else 0)
        blocks = blocks_of(
            file, Dialect.of(plan.dialect),
            width=plan.width + len(plan.split_amounts) if plan.width > 1 else None,
            most_cell=limits["cell_bytes"], skip_lines=plan.skip_lines, stop_line=plan.stop_line,
        )  # fmt: skip
        for block, rows in table.rows_of(blocks):
            chunks.lines.add_each(table.lines_of(block))
            yield from chunks.add(rows, bytes_.tell(), block.chars, table.placed(block))
        yield from chunks.rest(size)
    problems = table.problems
    yield TableEnd(
        chunks.seen, table.footer, problems.shown(), problems.total, chunks.lines.runs
    )  # fmt: skip


class _Table:
    """Turns blocks of records into rows of the table: no blank ones, all as wide as the header."""

    def __init__(self, plan: CsvPlan, limits: Mapping[str, int]) -> None:
        self._plan = plan
        self._limits = limits
        self.problems = Problems(by_row=True)
        self._kept: Sequence[int] = ()  # positions in the block of the rows returned last
        self.footer: list[dict[str, Any]] = []
        self._dialect = Dialect.of(plan.dialect)
        self._splits_left = 0 if plan.split_amounts else MAX_FAILED_SPLITS

    def placed(self, block: Block) -> list[Problem]:
        """Problems of the rows returned last, by their position."""
        found = self.problems.taken()
        if not found:
            return []
        places = {index: place for place, index in enumerate(self._kept, start=1)}
        here = [(places.get(block.index_of(one.line)), one) for one in found]
        return sorted(
            (replace(one, row=place) for place, one in here if place is not None),
            key=lambda one: one.line,
        )

    def lines_of(self, block: Block) -> Sequence[int]:
        """Lines of the rows returned last."""
        kept = self._kept
        if block.starts is not None:
            return [block.starts[index] for index in kept]
        if isinstance(kept, range):
            return range(block.line, block.line + len(kept))
        return [block.line + index for index in kept]

    def rows_of(self, blocks: Iterator[Block]) -> Iterator[tuple[Block, list[list[str]]]]:
        """The last rows are held back until notes among them are known."""
        if self._plan.stop_line is not None:
            for block in blocks:
                yield block, self._rows(block)
            return
        held: Block | None = None
        for block in blocks:
            if held is None:
                held = block
            elif len(block.rows) < TAIL_ROWS:
                held = _joined(held, block)
            else:
                yield held, self._rows(held)
                held = block
        if held is not None:
            self._cut_notes(held)
            yield held, self._rows(held)

    def _cut_notes(self, block: Block) -> None:
        first = max(0, len(block.rows) - TAIL_ROWS)
        stop, footer = cut_footer(block.rows, first, len(block.rows))
        for index in footer:
            text = self._plan.dialect["delimiter"].join(block.rows[index])
            self.footer.append(shown_line(block.line_of(index), text))
        if footer:
            del block.rows[stop:]

    def _rows(self, block: Block) -> list[list[str]]:
        self.problems.add(*block.problems)
        rows, width = block.rows, self._plan.width
        most = self._limits["cell_bytes"]
        if self._plan.repeats or self._plan.page_lines:
            self._blank_printed_lines(rows)
        for row in rows if self._plan.split_amounts else ():
            join_split_amounts(row, self._plan.split_amounts, width)
        if self._plan.comment is None and set(map(len, rows)) == {width}:
            # All rows have the right width; only their content is left to check.
            self._kept = range(len(rows))
            if not all(map(any, rows)) or any(row[0].isspace() for row in rows):
                self._kept = [index for index, row in enumerate(rows) if not is_blank(row)]
                rows = [rows[index] for index in self._kept]
            return self._checked(block, rows, most)
        check_columns(block, self._limits["columns"])
        return self._checked(block, self._fitted(block), most)

    def _blank_printed_lines(self, rows: list[list[str]]) -> None:
        """Blank rows that repeat the header, and lines like `Page 2`."""
        names, has_pages = self._plan.header, self._plan.page_lines
        for row in rows:
            if row[: len(names)] == names or (has_pages and is_page_line(row)):
                row[:] = [""] * len(row)

    def _fitted(self, block: Block) -> list[list[str]]:
        width, comment = self._plan.width, self._plan.comment
        kept: list[list[str]] = []
        self._kept = places = []
        for index, row in enumerate(block.rows):
            if is_blank(row) or (comment is not None and is_comment(row, comment, width)):
                continue
            if len(row) != width:
                found = len(row)
                fit(row, width)
                if found < width or len(row) > width:
                    self._split_or_tell(block.line_of(index), row, found)
            kept.append(row)
            places.append(index)
        return kept

    def _split_or_tell(self, line: int, row: list[str], cells: int) -> None:
        """Split a row that has another delimiter or quote than the others; report other rows with
        too few or too many cells."""
        width = self._plan.width
        split = split_again(row[:cells], width, self._dialect) if self._splits_left > 0 else None
        if split is None:
            self._splits_left -= 1
        else:
            row[:], mark = split
            self.problems.add(
                Problem(
                    "RAGGED_ROW", line,
                    f"Line {line:,} is written with {mark!r}, unlike the others; it was split so",
                )
            )  # fmt: skip
            return
        self.problems.add(
            Problem(
                "RAGGED_ROW", line,
                f"Line {line:,} has {cells} cells, the header has {width}",
            )
        )  # fmt: skip

    def _checked(self, block: Block, rows: list[list[str]], most: int) -> list[list[str]]:
        """Check the limit in bytes; the reader's limit counts characters."""
        longest = (
            max(map(len, chain.from_iterable(rows)), default=0) if most < 4 * block.chars else 0
        )
        if 4 * longest > most:
            for index, row in zip(self._kept, rows, strict=True):
                if any(len(cell.encode("utf-8", "replace")) > most for cell in row):
                    raise cell_too_large(block.line_of(index), most)
        return rows


def _joined(first: Block, second: Block) -> Block:
    starts = [first.line_of(n) for n in range(len(first.rows))]
    starts += [second.line_of(n) for n in range(len(second.rows))]
    joined = Block(first.line, first.rows + second.rows, starts, first.problems + second.problems)
    joined.chars = first.chars + second.chars
    return joined
