"""A job's file as batches of rows: read in a child process, from where the cursor says."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from pydantic import Field

from penstock.formats.reading import read_json_rows
from penstock.formats.tables import JsonChunk, TableEnd, TableHead
from penstock.model.errors import BadInput
from penstock.model.pipeline import Config, Job, JsonText, Row, RowBatch
from penstock.model.ports import Context

# Of what was wrong with the file, the job keeps the first few and the number of all.
_MOST_PROBLEMS = 20


class ReadingConfig(Config):
    """What the sender knows better than the reader can find out; see docs/formats.md."""

    format: str | None = None
    encoding: str | None = None
    delimiter: str | None = Field(None, max_length=8)
    quote: str | None = Field(None, max_length=1)
    escape: str | None = Field(None, max_length=1)
    sheet: str | int | None = None
    header_row: int | None = Field(None, ge=0)
    skip_rows: int | None = Field(None, ge=0)
    records_path: str | None = None
    member: str | int | None = None

    def reading(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ReadingConfig.model_fields}


async def batches_of_file(
    job: Job,
    ctx: Context,
    cursor: Mapping[str, Any] | None,
    check_names: Callable[[Sequence[str]], None],
) -> AsyncGenerator[RowBatch, None]:
    """A file with a header alone gives one empty batch, so that the header is known."""
    if job.file is None:
        raise BadInput("INVALID_PARAMETERS", f"A job of {job.pipeline} needs a file")
    path = str(ctx.blobs.path(job.file.blob_key))
    kept = dict(cursor) if cursor else None
    reading = ctx.children.stream(
        read_json_rows, path, job.config.reading(), dict(ctx.limits), kept and _place(kept)
    )
    async with aclosing(reading) as stream:
        head: TableHead = await anext(stream)
        check_names(head.names)
        slicer = _Slicer(head, kept)
        piece: JsonChunk | TableEnd
        async for piece in stream:
            slicer.add(piece)
            while slicer.is_full(ctx):
                yield slicer.batch(ctx)
        while slicer.rows or not slicer.told_end:
            yield slicer.batch(ctx)


def what_was_read(cursor: Mapping[str, Any]) -> dict[str, Any]:
    """What the reading found out, for the job's context."""
    return {"reading": cursor["reading"]} if "reading" in cursor else {}


def _place(cursor: Mapping[str, Any]) -> dict[str, Any]:
    return {"rows": cursor["rows"], "plan": cursor["plan"]}


class _Slicer:
    """Chunks in, batches out, each as large as asked for at that moment, with its own cursor."""

    def __init__(self, head: TableHead, kept: Mapping[str, Any] | None) -> None:
        self._head = head
        self._found = kept["reading"] if kept else head.detected
        self._bytes_read = 0
        self._sizes: list[int] = []
        self._held = 0
        self._end: TableEnd | None = None
        self.rows: list[str] = []
        self.done: int = kept["rows"] if kept else 0
        self.told_end = False

    def add(self, piece: JsonChunk | TableEnd) -> None:
        if isinstance(piece, TableEnd):
            self._end = piece
            return
        self.rows += piece.rows
        self._sizes += piece.sizes
        self._held += sum(piece.sizes)
        self._bytes_read = piece.bytes_read

    def is_full(self, ctx: Context) -> bool:
        return len(self.rows) > ctx.batch_rows or self._held > ctx.limits["batch_bytes"]

    def batch(self, ctx: Context) -> RowBatch:
        count = self._fitting(ctx.batch_rows, ctx.limits["batch_bytes"])
        rows = [Row(JsonText(text)) for text in self.rows[:count]]
        self._held -= sum(self._sizes[:count])
        del self.rows[:count], self._sizes[:count]
        self.done += count
        return RowBatch(
            rows,
            {"rows": self.done, "plan": self._head.plan, "reading": self._reading()},
            # What is read but still held back is not in the items yet.
            max(0, self._bytes_read - self._held),
            self._head.bytes_total,
            self._head.names,
        )

    def _reading(self) -> dict[str, Any]:
        if self._end is None or self.rows:
            return dict(self._found)
        self.told_end = True
        return {
            **self._found,
            "footer": self._found.get("footer") or self._end.footer,
            "problems": self._end.problems[:_MOST_PROBLEMS],
            "problems_total": self._end.problems_total,
        }

    def _fitting(self, most_rows: int, most_bytes: int) -> int:
        """How many rows fit; one always does, however large it is."""
        total = 0
        for count, size in enumerate(self._sizes[:most_rows]):
            total += size
            if count and total > most_bytes:
                return count
        return min(most_rows, len(self._sizes))
