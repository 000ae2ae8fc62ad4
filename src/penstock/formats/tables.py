"""What every reader gives: a head, then chunks of rows, then an end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from penstock.formats.detected import Problem
from penstock.model.errors import BadInput

# Where a reading goes on: ``{"rows": n, "plan": …}``.
Cursor = Mapping[str, Any] | None

CHUNK_ROWS = 1000
CHUNK_BYTES = 1024 * 1024


class TableHead(NamedTuple):
    """What is known before the first row. ``plan`` goes into the cursor: with it a reading that is
    taken up again sees the very same rows. ``names`` are the header's, each only once."""

    plan: dict[str, Any]
    names: list[str]
    detected: dict[str, Any]
    bytes_total: int


class TableChunk(NamedTuple):
    """Rows with the size of each in bytes, and how far the file has been read."""

    rows: list[list[str]]
    sizes: list[int]
    bytes_read: int


class TableEnd(NamedTuple):
    """What only the whole file could tell: the notes below the table and what was wrong where."""

    rows: int
    footer: list[dict[str, Any]]
    problems: list[dict[str, Any]]
    problems_total: int


Piece = TableHead | TableChunk | TableEnd


class Problems:
    """The first few in full, all of them counted."""

    MOST = 100

    def __init__(self) -> None:
        self.first: list[Problem] = []
        self.total = 0

    def add(self, *found: Problem) -> None:
        self.total += len(found)
        self.first += found[: self.MOST - len(self.first)]

    def shown(self) -> list[dict[str, Any]]:
        return [{"code": one.code, "line": one.line, "message": one.message} for one in self.first]


def fit(row: list[str], width: int) -> None:
    """Fill a short row up; of a long one drop only empty cells at its end."""
    row.extend([""] * (width - len(row)))
    while len(row) > width and not row[-1].strip():
        row.pop()


def size_of(row: Sequence[str]) -> int:
    """About as many bytes as the row takes in the database."""
    text = "".join(row)
    return (len(text) if text.isascii() else len(text.encode("utf-8", "replace"))) + 3 * len(row)


class Chunks:
    """Rows in, chunks out, with the bounds on rows kept."""

    def __init__(self, limits: Any, skip: int) -> None:
        self._most_rows = limits["rows"]
        self._skip = skip
        self._rows: list[list[str]] = []
        self._sizes: list[int] = []
        self._held = 0
        self.seen = 0

    def add(self, rows: list[list[str]], bytes_read: int) -> Iterator[TableChunk]:
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
        for at in range(0, len(rows), CHUNK_ROWS):
            piece = rows[at : at + CHUNK_ROWS]
            sizes = [size_of(row) for row in piece]
            total = sum(sizes)
            if self._rows and (
                len(self._rows) + len(piece) > CHUNK_ROWS or self._held + total > CHUNK_BYTES
            ):
                yield self._take(bytes_read)
            if total > CHUNK_BYTES:
                yield from self._cut(piece, sizes, bytes_read)
                continue
            self._rows += piece
            self._sizes += sizes
            self._held += total

    def _cut(
        self, rows: list[list[str]], sizes: list[int], bytes_read: int
    ) -> Iterator[TableChunk]:
        for row, size in zip(rows, sizes, strict=True):
            if self._rows and self._held + size > CHUNK_BYTES:
                yield self._take(bytes_read)
            self._rows.append(row)
            self._sizes.append(size)
            self._held += size

    def rest(self, bytes_read: int) -> Iterator[TableChunk]:
        if self._rows:
            yield self._take(bytes_read)

    def _take(self, bytes_read: int) -> TableChunk:
        chunk = TableChunk(self._rows, self._sizes, bytes_read)
        self._rows, self._sizes, self._held = [], [], 0
        return chunk
