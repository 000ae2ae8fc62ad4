"""CSV and TSV, streamed: the first line that is not empty is the header, all others are rows."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from penstock.formats.detect import (
    DIALECT_SAMPLE_CHARS,
    Dialect,
    find_dialect,
    find_encoding,
    refuse_binary,
    unicode_encoding,
)
from penstock.model.errors import BadInput

HEAD_BYTES = 64 * 1024
CHUNK_ROWS = 1000
CHUNK_BYTES = 1024 * 1024


class CsvHead(NamedTuple):
    """What is known before the first row; ``dialect`` and ``header`` go into the cursor."""

    dialect: dict[str, Any]
    header: list[str]
    bytes_total: int


class CsvChunk(NamedTuple):
    """Rows with the size of each in bytes, and how far the file has been read."""

    rows: list[list[str]]
    sizes: list[int]
    bytes_read: int


def check_head(head: bytes, size: int, name: str) -> None:
    """Refuse at once what can be seen from the first bytes: empty, binary, or without rows."""
    refuse_binary(head, name)
    if len(head) < size:
        return
    text = head.decode(unicode_encoding(head) or "utf-8", "replace")
    filled = (row for row in csv.reader(io.StringIO(text, newline="")) if _has_content(row))
    lines = len(list(islice(filled, 2)))
    if lines == 0:
        raise BadInput("EMPTY_FILE", f"{name} is empty: send a header and at least one row.")
    if lines == 1:
        raise BadInput("NO_ROWS", "The file has a header but no rows: nothing to do.")


def read_csv(
    path: str, cursor: Mapping[str, Any] | None, limits: Mapping[str, int]
) -> Iterator[CsvHead | CsvChunk]:
    """A head, then the rows after ``cursor`` in chunks. Runs in a child process.

    The cursor is ``{"rows": n, "dialect": …, "header": […]}``: the dialect found first is kept, so
    that a resumed reading sees the very same rows.
    """
    place = Path(path)
    size = place.stat().st_size
    if size > limits["file_bytes"]:
        raise BadInput("FILE_TOO_LARGE", f"The file is larger than {limits['file_bytes']:,} bytes")
    dialect = Dialect.of(cursor["dialect"]) if cursor else _find_dialect(place)
    with place.open(encoding=dialect.encoding, newline="") as file:
        table = _Table(file, dialect, limits)
        header = table.header()
        yield CsvHead(dialect.as_json(), header, size)
        table.skip(cursor["rows"] if cursor else 0)
        yield from table.chunks()
    if table.spans_lines and _ends_in_quotes(place, dialect, table.row_line):
        raise BadInput(
            "UNCLOSED_QUOTE",
            f"A quote opened in the row at line {table.row_line:,} is never closed, "
            "so that the rest of the file became one cell",
            line=table.row_line,
        )


def unique_names(cells: Sequence[str]) -> list[str]:
    """Column names as people see them, each one only once."""
    names: dict[str, None] = {}
    for number, cell in enumerate(cells, start=1):
        wanted = cell.strip() or f"Column {number}"
        name, copy = wanted, 1
        while name in names:
            copy += 1
            name = f"{wanted} ({copy})"
        names[name] = None
    return list(names)


class _Table:
    """The rows of an open file, within bounds, with the line each one began at."""

    def __init__(self, file: TextIO, dialect: Dialect, limits: Mapping[str, int]) -> None:
        self._bytes_read = file.buffer.tell
        self._limits = limits
        self._bytes = 0
        self._width = 0
        self._rows_read = 0
        self.row_line = 1
        csv.field_size_limit(limits["cell_bytes"])
        self._reader = csv.reader(
            self._lines(file),
            delimiter=dialect.delimiter,
            quotechar=dialect.quotechar,
            escapechar=dialect.escapechar,
        )

    @property
    def spans_lines(self) -> bool:
        """Whether the row read last goes over several lines."""
        return self._reader.line_num > self.row_line

    def header(self) -> list[str]:
        for cells, _ in self._filled():
            header = unique_names(cells)
            self._width = len(header)
            return header
        raise BadInput("EMPTY_FILE", "The file is empty")

    def skip(self, rows: int) -> None:
        for _ in islice(self._filled(), rows):
            self._rows_read += 1

    def chunks(self) -> Iterator[CsvChunk]:
        rows: list[list[str]] = []
        sizes: list[int] = []
        held = 0
        for cells, size in self._filled():
            self._rows_read += 1
            if len(cells) != self._width:
                _fit(cells, self._width)
            rows.append(cells)
            sizes.append(size)
            held += size
            if len(rows) >= CHUNK_ROWS or held >= CHUNK_BYTES:
                self._check_rows()
                yield CsvChunk(rows, sizes, self._bytes_read())
                rows, sizes, held = [], [], 0
        self._check_rows()
        if rows:
            yield CsvChunk(rows, sizes, self._bytes_read())

    def _check_rows(self) -> None:
        most = self._limits["rows"]
        if self._rows_read > most:
            raise BadInput("TOO_MANY_ROWS", f"The file has more than {most:,} rows", limit=most)

    def _lines(self, file: TextIO) -> Iterator[str]:
        for line in file:
            # ASCII text knows that it is ASCII, so that most lines need not be encoded.
            self._bytes += len(line) if line.isascii() else len(line.encode())
            yield line.replace("\0", "\ufffd")

    def _filled(self) -> Iterator[tuple[list[str], int]]:
        """Rows that hold anything at all, each with its size in bytes."""
        most_columns, most_bytes = self._limits["columns"], self._limits["cell_bytes"]
        reader = self._reader
        while True:
            line, before = reader.line_num + 1, self._bytes
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise self._too_large(line, most_bytes) from error
            self.row_line = line
            size = self._bytes - before
            if len(cells) > most_columns:
                raise BadInput(
                    "TOO_MANY_COLUMNS",
                    f"Line {line:,} has {len(cells):,} cells; at most {most_columns:,} are allowed",
                    line=line,
                )
            if size > most_bytes and any(len(cell.encode()) > most_bytes for cell in cells):
                raise self._too_large(line, most_bytes)
            if cells and (cells[0].strip() or _has_content(cells)):
                yield cells, size

    def _too_large(self, line: int, most_bytes: int) -> BadInput:
        return BadInput(
            "CELL_TOO_LARGE",
            f"A cell of the row at line {line:,} is larger than {most_bytes:,} bytes; "
            "is a quote left open there?",
            line=line,
        )


def _has_content(cells: Sequence[str]) -> bool:
    return any(cell and not cell.isspace() for cell in cells)


def _fit(cells: list[str], width: int) -> None:
    """Fill a short row up; of a long one drop only empty cells at its end."""
    cells.extend([""] * (width - len(cells)))
    while len(cells) > width and not cells[-1].strip():
        cells.pop()


def _find_dialect(path: Path) -> Dialect:
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    refuse_binary(head, "The file")
    encoding = find_encoding(path)
    with path.open(encoding=encoding, newline="") as text:
        return find_dialect(text.read(DIALECT_SAMPLE_CHARS + 1), encoding)


def _ends_in_quotes(path: Path, dialect: Dialect, line: int) -> bool:
    with path.open(encoding=dialect.encoding, newline="") as file:
        strict = csv.reader(
            islice(file, line - 1, None),
            delimiter=dialect.delimiter,
            quotechar=dialect.quotechar,
            escapechar=dialect.escapechar,
            strict=True,
        )
        try:
            for _ in strict:
                pass
        except csv.Error as error:
            return "unexpected end of data" in str(error)
    return False
