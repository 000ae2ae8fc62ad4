"""Read a job's file in batches of rows, in a child process, starting at the cursor."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import Annotated, Any, NamedTuple

from pydantic import Field, field_validator

from penstock.catalog.fields import full_target
from penstock.catalog.mapping.column_stats import ColumnStats, add_rows, new_stats
from penstock.catalog.mapping.proposal import propose
from penstock.formats.read_options import Problem
from penstock.formats.tables import JsonChunk, TableChunk, TableEnd, TableHead, as_json_rows
from penstock.model.errors import BadInput
from penstock.model.pipeline import Config, Job, Row, RowBatch
from penstock.model.ports import Context, InputFile
from penstock.model.text.encodings import MAX_NAME_LENGTH, is_text_encoding
from penstock.model.text.json_text import JsonText
from penstock.model.transfer import transferable
from penstock.pipelines.extraction.shared_skus import SharedSkus
from penstock.pipelines.extraction.table_shape import read_shaped
from penstock.pipelines.extraction.unique_rows import KeyCells

SKU = "identifiers.sku"
# The job keeps the first problems of the file, and their number.
_MAX_PROBLEMS = 20
# Problems kept per row.
_MAX_ROW_PROBLEMS = 20
_LAST_ROW = 2**31 - 1
SheetOrMember = Annotated[str, Field(max_length=255)] | Annotated[int, Field(ge=0, le=_LAST_ROW)]


class ReadingConfig(Config):
    """Reading options that override detection; see docs/formats.md."""

    format: str | None = Field(None, max_length=20)
    encoding: str | None = Field(None, max_length=MAX_NAME_LENGTH)
    delimiter: str | None = Field(None, max_length=8)
    quote: str | None = Field(None, max_length=1)
    escape: str | None = Field(None, max_length=1)
    sheet: SheetOrMember | None = None
    header_row: int | None = Field(None, ge=0, le=_LAST_ROW)
    skip_rows: int | None = Field(None, ge=0, le=_LAST_ROW)
    records_path: str | None = Field(None, max_length=1000)
    member: SheetOrMember | None = None
    widths: str | None = Field(None, max_length=2000)

    @field_validator("encoding")
    @classmethod
    def _is_text(cls, name: str | None) -> str | None:
        if name is not None and not is_text_encoding(name):
            raise ValueError(f"there is no text encoding {name!r}")
        return name

    def reading(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ReadingConfig.model_fields}


@transferable
class FileEnd(NamedTuple):
    """Findings about the whole file and its columns, sent after the last row."""

    table: TableEnd
    columns: list[dict[str, Any]]
    # What `KeyCells` found, for the column that is likely to contain the key.
    keys: dict[str, Any] | None


def read_rows_and_stats(
    path: str,
    options: Mapping[str, Any],
    limits: Mapping[str, int],
    place: Mapping[str, Any] | None,
    key_name: str | None = None,
) -> Iterator[TableHead | JsonChunk | FileEnd]:
    """Rows as they will be stored, then the statistics of each column. A resumed reading skips the
    rows that are stored already but includes them in the statistics. ``key_name`` is the column of
    keys, if the job names it. Runs in a child process."""
    stats: list[ColumnStats] = []
    names: Sequence[str] = ()
    keys: KeyCells | None = None
    skus: SharedSkus | None = None
    start = None if place is None else {"rows": 0, "plan": place["plan"]}
    stored: int = 0 if place is None else place["rows"]
    passed = 0
    for piece in read_shaped(path, options, limits, start):
        if isinstance(piece, TableHead):
            names = piece.names
            yield piece
        elif isinstance(piece, TableEnd):
            found = None if keys is None else keys.as_json()
            yield FileEnd(piece, [one.as_json() for one in stats], found)
        else:
            is_first = not stats
            stats = stats or new_stats(max(map(len, piece.rows)))
            add_rows(stats, piece.rows)
            if is_first:
                keys = _likely_keys(names, stats, key_name)
                skus = SharedSkus.of(names, stats)
            if keys is not None:
                keys.add(piece.rows)
            noticed = [*piece.problems, *(skus.find(piece.rows, passed) if skus else ())]
            known = min(len(piece.rows), max(0, stored - passed))
            passed += len(piece.rows)
            fresh = [one for one in noticed if (one.row or 0) > stored]
            if known < len(piece.rows):
                yield _json_rows(TableChunk(piece.rows[known:], piece.bytes_read, fresh))


def _likely_keys(
    names: Sequence[str], stats: Sequence[ColumnStats], key_name: str | None
) -> KeyCells | None:
    """The column that the first rows show to contain SKUs. If it is another one in the end, all
    rows wait for each other."""
    if key_name in names:
        return KeyCells(names.index(key_name))
    proposed = propose(names, [one.samples for one in stats]).columns
    places = [n for n, one in enumerate(proposed) if one.target == SKU]
    return KeyCells(places[0]) if places else None


def _json_rows(chunk: TableChunk) -> JsonChunk:
    made = as_json_rows(chunk)
    assert isinstance(made, JsonChunk)
    return made


async def batches_of_file(
    job: Job,
    ctx: Context,
    cursor: Mapping[str, Any] | None,
    check_names: Callable[[Sequence[str]], None],
) -> AsyncGenerator[RowBatch, None]:
    """A file with only a header yields one empty batch, so that the header is stored."""
    if job.file is None:
        raise BadInput("INVALID_PARAMETERS", f"A job of {job.pipeline} needs a file")
    if cursor and "columns" in cursor:
        return  # all of it is stored, and looked at
    kept = dict(cursor) if cursor else None
    async with ctx.blobs.local(job.file.blob_key) as path:
        reading = ctx.children.stream(
            read_rows_and_stats, InputFile(path), job.config.reading(), dict(ctx.limits),
            kept and _place(kept), _key_name(job.config),
        )  # fmt: skip
        async with aclosing(_batches(reading, ctx, kept, check_names)) as batches:
            async for batch in batches:
                yield batch


def _key_name(config: Any) -> str | None:
    """The column that the config maps to the SKU."""
    mapping: Mapping[str, str | None] = config.mapping or {}
    return next((name for name, to in mapping.items() if to and full_target(to) == SKU), None)


async def _batches(
    reading: AsyncGenerator[Any, None],
    ctx: Context,
    kept: Mapping[str, Any] | None,
    check_names: Callable[[Sequence[str]], None],
) -> AsyncGenerator[RowBatch, None]:
    async with aclosing(reading) as stream:
        head: TableHead = await anext(stream)
        check_names(head.names)
        slicer = _Slicer(head, kept)
        piece: JsonChunk | FileEnd
        async for piece in stream:
            slicer.add(piece)
            while slicer.is_full(ctx):
                yield slicer.batch(ctx)
        while slicer.rows or not slicer.told_end:
            yield slicer.batch(ctx)


def reading_context(cursor: Mapping[str, Any]) -> dict[str, Any]:
    """The report of the reading, for the job's context."""
    return {"reading": cursor["reading"]} if "reading" in cursor else {}


def _place(cursor: Mapping[str, Any]) -> dict[str, Any]:
    return {"rows": cursor["rows"], "plan": cursor["plan"]}


class _Slicer:
    """Cuts chunks into batches of the size that the context asks for, each with its cursor."""

    def __init__(self, head: TableHead, kept: Mapping[str, Any] | None) -> None:
        self._head = head
        self._found = kept["reading"] if kept else head.detected
        self._bytes_read = 0
        self._sizes: list[int] = []
        self._held = 0
        self._end: FileEnd | None = None
        self._noticed: dict[int, list[dict[str, Any]]] = {}
        self.rows: list[str] = []
        self.done: int = kept["rows"] if kept else 0
        self.told_end = False

    def add(self, piece: JsonChunk | FileEnd) -> None:
        if isinstance(piece, FileEnd):
            self._end = piece
            return
        self.rows += piece.rows
        self._sizes += piece.sizes
        self._held += sum(piece.sizes)
        self._bytes_read = piece.bytes_read
        for one in piece.problems:
            if one.row is not None:
                found = self._noticed.setdefault(one.row, [])
                if len(found) < _MAX_ROW_PROBLEMS:
                    found.append(self._shown(one))

    def _shown(self, found: Problem) -> dict[str, Any]:
        """In the form of other item problems; always a warning, since the row could be read."""
        shown: dict[str, Any] = {
            "code": found.code, "message": found.message, "severity": "warning",
        }  # fmt: skip
        if found.line:
            shown["line"] = found.line
        if found.column is not None and found.column <= len(self._head.names):
            shown["column"] = self._head.names[found.column - 1]
        return shown

    def is_full(self, ctx: Context) -> bool:
        return len(self.rows) > ctx.batch_rows or self._held > ctx.limits["batch_bytes"]

    def batch(self, ctx: Context) -> RowBatch:
        count = self._fitting(ctx.batch_rows, ctx.limits["batch_bytes"])
        rows = [Row(JsonText(text)) for text in self.rows[:count]]
        for number in [one for one in self._noticed if one <= self.done + count]:
            at = number - self.done - 1
            rows[at] = Row(rows[at].input, noticed=self._noticed.pop(number))
        self._held -= sum(self._sizes[:count])
        del self.rows[:count], self._sizes[:count]
        self.done += count
        return RowBatch(
            rows,
            {"rows": self.done, "plan": self._head.plan, **self._report()},
            # Rows that were read but not yet yielded do not count.
            max(0, self._bytes_read - self._held),
            self._head.bytes_total,
            self._head.names,
        )

    def _report(self) -> dict[str, Any]:
        if self._end is None or self.rows:
            return {"reading": dict(self._found)}
        self.told_end = True
        table = self._end.table
        reading = {
            **self._found,
            "footer": self._found.get("footer") or table.footer,
            "problems": table.problems[:_MAX_PROBLEMS],
            "problems_total": table.problems_total,
            "lines": table.lines,
        }
        return {"reading": reading, "columns": self._end.columns, "keys": self._end.keys}

    def _fitting(self, most_rows: int, most_bytes: int) -> int:
        """The number of rows that fit, at least one."""
        total = 0
        for count, size in enumerate(self._sizes[:most_rows]):
            total += size
            if count and total > most_bytes:
                return count
        return min(most_rows, len(self._sizes))
