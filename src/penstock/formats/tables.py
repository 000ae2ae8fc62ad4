"""The output of all readers: a head, chunks of rows, an end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from orjson import JSONEncodeError, dumps

from penstock.formats.read_options import Problem
from penstock.model.errors import BadInput
from penstock.model.transfer import transferable

# Where a reading resumes: ``{"rows": n, "plan": …}``.
Cursor = Mapping[str, Any] | None

# A chunk is about as large as a batch of the ingest, so that the next one is read meanwhile.
CHUNK_ROWS = 5000
CHUNK_BYTES = 2 * 1024 * 1024


@transferable
class TableHead(NamedTuple):
    """Information before the first row. ``plan`` goes into the cursor, so that a resumed reading
    gives the same rows. ``names`` are the unique column names."""

    plan: dict[str, Any]
    names: list[str]
    detected: dict[str, Any]
    bytes_total: int


@transferable
class TableChunk(NamedTuple):
    """Rows with their problems, and the number of bytes read so far."""

    rows: list[list[str]]
    bytes_read: int
    problems: Sequence[Problem] = ()
    # See `LineRuns`: of all rows up to this chunk, and perhaps of some after it.
    lines: Sequence[Sequence[int]] = ()


@transferable
class JsonChunk(NamedTuple):
    """Rows as JSON texts to be stored, with their sizes."""

    rows: list[str]
    sizes: list[int]
    bytes_read: int
    problems: Sequence[Problem] = ()


@transferable
class TableEnd(NamedTuple):
    """Findings about the whole file: the notes below the table, the problems, and which line of the
    file each row is (see `LineRuns`; empty if the format has no lines)."""

    rows: int
    footer: list[dict[str, Any]]
    problems: list[dict[str, Any]]
    problems_total: int
    lines: Sequence[Sequence[int]] = ()


Piece = TableHead | TableChunk | TableEnd


def as_json_rows(piece: Piece) -> TableHead | JsonChunk | TableEnd:
    """The piece with rows as JSON."""
    if not isinstance(piece, TableChunk):
        return piece
    try:
        rows = [dumps(row).decode() for row in piece.rows]
    except JSONEncodeError:
        # A lone surrogate, which the database cannot store.
        rows = [dumps([_whole(cell) for cell in row]).decode() for row in piece.rows]
    return JsonChunk(rows, list(map(len, rows)), piece.bytes_read, piece.problems)


def _whole(cell: str) -> str:
    return cell.encode("utf-8", "replace").decode()


class Problems:
    """Keeps the first problems and counts all. ``by_row``: also keeps those since the last `taken`,
    to be reported with their rows."""

    MAX_SHOWN = 100

    def __init__(self, *, by_row: bool = False) -> None:
        self.first: list[Problem] = []
        self.total = 0
        self._by_row = by_row
        self._fresh: list[Problem] = []

    def add(self, *found: Problem) -> None:
        self.total += len(found)
        self.first += found[: self.MAX_SHOWN - len(self.first)]
        self.note(*found)

    def note(self, *found: Problem) -> None:
        """Report a problem with its row only, not with the file."""
        if self._by_row:
            self._fresh += found

    def taken(self) -> list[Problem]:
        fresh, self._fresh = self._fresh, []
        return fresh

    def shown(self) -> list[dict[str, Any]]:
        return [{"code": one.code, "line": one.line, "message": one.message} for one in self.first]


class LineRuns:
    """Which line of the file, or row of the sheet, each row of the table is.

    A run ``(row, line)`` says that from this row on the line grows with the row. A blank line, a
    cell of several lines or a repeated header begins another run. After `MOST` runs the line of
    further rows is unknown, which a run with line 0 says.
    """

    MOST = 1000

    def __init__(self) -> None:
        self.runs: list[tuple[int, int]] = []
        self._rows = 0
        self._next_line = 0

    def add(self, line: int, rows: int = 1) -> None:
        """So many rows, one a line from ``line`` on."""
        if rows and line != self._next_line and not self.is_full:
            is_last = len(self.runs) == self.MOST
            self.runs.append((self._rows + 1, 0 if is_last else line))
        self._rows += rows
        self._next_line = line + rows

    def add_each(self, lines: Sequence[int]) -> None:
        """A row for each line, in ascending order."""
        if not lines:
            return
        if self.is_full or lines[-1] - lines[0] == len(lines) - 1:
            self.add(lines[0], len(lines))
            return
        for line in lines:
            self.add(line)

    @property
    def is_full(self) -> bool:
        return len(self.runs) > self.MOST


def fit(row: list[str], width: int) -> None:
    """Pad a short row; drop empty cells at the end of a long one."""
    row.extend([""] * (width - len(row)))
    while len(row) > width and not row[-1].strip():
        row.pop()


def size_of(row: Sequence[str]) -> int:
    """The approximate size of a row in bytes, with one byte per letter."""
    return sum(map(len, row)) + 3 * len(row)


class Chunks:
    """Collects rows into chunks and checks the limit on rows."""

    def __init__(self, limits: Any, skip: int) -> None:
        self._most_rows = limits["rows"]
        self._skip = skip
        self._rows: list[list[str]] = []
        self._held = 0
        self._given = skip
        self._problems: list[Problem] = []
        self.seen = 0
        self.lines = LineRuns()

    def add(
        self, rows: list[list[str]], bytes_read: int, chars: int | None = None,
        problems: Sequence[Problem] = (),
    ) -> Iterator[TableChunk]:  # fmt: skip
        """``chars`` is an upper bound for the size of all rows, if it is known. Problems refer to
        rows by their position among these rows, from 1."""
        for problem in problems:
            if problem.row is not None and problem.row + self.seen > self._given:
                self._problems.append(replace(problem, row=problem.row + self.seen))
        self.seen += len(rows)
        if self.seen > self._most_rows:
            raise BadInput(
                "TOO_MANY_ROWS", f"The file has more than {self._most_rows:,} rows",
                limit=self._most_rows,
            )  # fmt: skip
        if self._skip:
            passed = min(self._skip, len(rows))
            self._skip -= passed
            rows = rows[passed:]
        if chars is None or chars > CHUNK_BYTES:
            for row in rows:
                yield from self._hold([row], size_of(row), bytes_read)
            return
        for at in range(0, len(rows), CHUNK_ROWS):
            yield from self._hold(rows[at : at + CHUNK_ROWS], chars, bytes_read)

    def _hold(self, rows: list[list[str]], size: int, bytes_read: int) -> Iterator[TableChunk]:
        too_many = len(self._rows) + len(rows) > CHUNK_ROWS
        if self._rows and (too_many or self._held + size > CHUNK_BYTES):
            yield self._take(bytes_read)
        self._rows += rows
        self._held += size

    def rest(self, bytes_read: int) -> Iterator[TableChunk]:
        if self._rows:
            yield self._take(bytes_read)

    def _take(self, bytes_read: int) -> TableChunk:
        self._given += len(self._rows)
        here = [one for one in self._problems if one.row is not None and one.row <= self._given]
        del self._problems[: len(here)]
        chunk = TableChunk(self._rows, bytes_read, here, self.lines.runs)
        self._rows, self._held = [], 0
        return chunk
