"""Split lines into records, block by block: the fast reader first, then repair of broken ones."""

from __future__ import annotations

import csv
import io
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TextIO

from penstock.formats.csv.dialect import UNIT, Dialect, cells_up_to
from penstock.formats.csv.lenient import MAX_LINES, SearchBudget, joins_records, repair_record
from penstock.formats.detection.encodings import as_cp1252, is_foreign, read_c1_as_cp1252
from penstock.formats.read_options import Problem
from penstock.model.errors import BadInput

BLOCK_CHARS = 192 * 1024


@dataclass(slots=True)
class Block:
    """Records of a block. If ``starts`` is None each record is one line, from ``line`` on."""

    line: int
    rows: list[list[str]]
    starts: list[int] | None = None
    problems: list[Problem] = field(default_factory=list)
    chars: int = 0

    def line_of(self, index: int) -> int:
        return self.line + index if self.starts is None else self.starts[index]

    def index_of(self, line: int) -> int:
        """The record that contains a line."""
        return line - self.line if self.starts is None else bisect_right(self.starts, line) - 1


def blocks_of(
    file: TextIO, dialect: Dialect, *, width: int | None, most_cell: int, skip_lines: int = 0,
    stop_line: int | None = None,
) -> Iterator[Block]:  # fmt: skip
    """The records after ``skip_lines`` and before ``stop_line``."""
    line = skip_lines + 1
    held: list[str] = []
    waiting: list[Problem] = []
    budget = SearchBudget()
    for _ in range(skip_lines):
        if not _read_line(file, most_cell):
            return
    final = False
    while not final:
        text = _read_block(file, most_cell)
        final = not text
        text, noticed = _cleaned(text, line + len(held))
        lines = held + list(io.StringIO(dialect.prepared(text), newline=""))
        if stop_line is not None and line + len(lines) >= stop_line:
            lines, final = lines[: stop_line - line], True
        with cells_up_to(most_cell):
            block, used = _Parser(lines, dialect, width, line, most_cell, budget).parse(final)
        block.chars = len(text) + sum(map(len, held))
        waiting += noticed
        block.problems += [one for one in waiting if one.line < line + used]
        waiting = [one for one in waiting if one.line >= line + used]
        held = lines[used:]
        line += used
        if block.rows:
            yield block


def _cleaned(text: str, line: int) -> tuple[str, list[Problem]]:
    """The text without NULs and foreign bytes, and the problems of lines that contained them or
    replacement characters."""
    text = _without_page_marks(read_c1_as_cp1252(text))
    foreign = is_foreign(text)
    if "\0" not in text and "\ufffd" not in text and not foreign:
        return text, []
    problems = []
    for number, one in enumerate(io.StringIO(text, newline=""), start=line):
        if "\0" in one or "\ufffd" in one:
            said = f"Line {number:,} holds characters that could not be decoded"
            problems.append(Problem("TEXT_UNREADABLE", number, said))
        if foreign and is_foreign(one):
            said = f"Line {number:,} holds bytes that are no UTF-8; they were read as cp1252"
            problems.append(Problem("ENCODING_MIXED", number, said))
    return as_cp1252(text).replace("\0", "\ufffd"), problems


def _without_page_marks(text: str) -> str:
    """The text without form feeds and byte order marks at the beginning of lines, which files put
    together from several have."""
    for mark in ("\x0c", "\ufeff"):
        if mark in text:
            text = text.removeprefix(mark).replace(f"\n{mark}", "\n")
    return text


def _read_block(file: TextIO, most_cell: int) -> str:
    text = file.read(BLOCK_CHARS)
    if text and not text.endswith("\n"):
        # Also completes a line ending that was split between its two characters.
        text += _read_line(file, most_cell)
    # DOS programs end a file with Ctrl-Z, others fill its last block with NULs.
    return text.rstrip("\x1a\0") if text.endswith(("\x1a", "\0")) else text


def _read_line(file: TextIO, most_cell: int) -> str:
    most = 16 * most_cell + BLOCK_CHARS
    line = file.readline(most)
    if len(line) >= most:
        raise BadInput("CELL_TOO_LARGE", f"A line is longer than {most:,} characters")
    return line


class _Parser:
    """One block of lines."""

    def __init__(
        self, lines: list[str], dialect: Dialect, width: int | None, line: int, most_cell: int,
        budget: SearchBudget,
    ) -> None:  # fmt: skip
        self._lines = lines
        self._dialect = dialect
        self._one_char = replace(dialect, delimiter=dialect.cut)
        self._width = width
        self._first = line
        self._most_cell = most_cell
        self._budget = budget
        self._problems: list[Problem] = []

    def parse(self, final: bool) -> tuple[Block, int]:
        """The records and the number of lines used; an open record at the end is left for later."""
        rows: list[list[str]] = []
        try:
            rows.extend(self._dialect.reader(self._lines, strict=True))
        except csv.Error:
            pass
        else:
            if len(rows) == len(self._lines):
                return self._block(rows, None), len(self._lines)
        return self._record_by_record(final)

    def _block(self, rows: list[list[str]], starts: list[int] | None) -> Block:
        if len(self._dialect.delimiter) > 1:
            for row in rows:
                row[:] = [cell.replace(UNIT, self._dialect.delimiter) for cell in row]
        return Block(self._first, rows, starts, self._problems)

    def _record_by_record(self, final: bool) -> tuple[Block, int]:
        rows: list[list[str]] = []
        starts: list[int] = []
        lines, at, end = self._lines, 0, len(self._lines)
        while at < end:
            at = self._until_broken(at, rows, starts)
            if at >= end:
                break
            if not final and end - at < MAX_LINES and self._is_open(at):
                return self._block(rows, starts), at
            mended = repair_record(lines, at, self._one_char, self._width, self._budget)
            if max(map(len, mended.cells), default=0) > self._most_cell:
                raise cell_too_large(self._first + at, self._most_cell)
            if mended.stray:
                self._report_stray_quote(at)
            rows.append(mended.cells)
            starts.append(self._first + at)
            at += mended.lines
        return self._block(rows, starts), end

    def _until_broken(self, at: int, rows: list[list[str]], starts: list[int]) -> int:
        """Read from a line up to the first broken record; returns its line."""
        lines = self._lines
        reader = self._dialect.reader(self._from(at), strict=True)
        done = 0
        while True:
            try:
                row = next(reader)
            except (StopIteration, csv.Error):
                return at + done
            taken = reader.line_num
            if taken - done > 2 and joins_records(
                lines[at + done : at + taken], self._one_char, self._width
            ):
                return at + done
            rows.append(row)
            starts.append(self._first + at + done)
            done = taken

    def _from(self, at: int) -> Iterable[str]:
        """An iterator, not a copy: with many broken lines, copies would take quadratic time."""
        return map(self._lines.__getitem__, range(at, len(self._lines)))

    def _is_open(self, at: int) -> bool:
        """Whether the record continues beyond the block and is otherwise correct."""
        try:
            next(self._dialect.reader(self._from(at), strict=True))
        except csv.Error as error:
            return "unexpected end" in str(error)
        except StopIteration:
            return False
        return False

    def _report_stray_quote(self, at: int) -> None:
        number = self._first + at
        self._problems.append(
            Problem(
                "UNBALANCED_QUOTE", number,
                f"A quote in line {number:,} is never closed; it was taken as part of its cell",
            )
        )  # fmt: skip


def cell_too_large(line: int, most_bytes: int) -> BadInput:
    return BadInput(
        "CELL_TOO_LARGE",
        f"A cell of the row at line {line:,} is larger than {most_bytes:,} bytes; "
        "is a quote left open there?",
        line=line,
    )
