"""Supplier files to clean rows: all columns kept, those that name a product's field mapped."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, ClassVar
from uuid import UUID

from pydantic import field_validator

from penstock.formats.csv import CsvChunk, CsvHead, check_head, read_csv
from penstock.model.errors import BadInput, ItemError
from penstock.model.outcomes import Done, Fail, Outcome
from penstock.model.pipeline import Config, Item, Job, Pipeline, Row, RowBatch, Stage, Traits
from penstock.model.ports import Context

# The fields of a normalised product that one cell can fill.
FIELDS = (
    "id", "sourceId", "sku", "gtin", "mpn", "title", "description", "category", "brand",
    "price", "currency", "unit", "availability", "quantity", "leadTimeDays", "minOrder",
    "supplier", "dimensions", "weight", "material", "url", "image", "tags",
)  # fmt: skip


class ExtractionConfig(Config):
    """``mapping`` says which column fills which field, before equal names are looked for."""

    mapping: dict[str, str] | None = None

    @field_validator("mapping")
    @classmethod
    def _fields_exist_once(cls, mapping: dict[str, str] | None) -> dict[str, str] | None:
        fields = list((mapping or {}).values())
        for field in fields:
            if field not in FIELDS:
                raise ValueError(f"there is no field {field!r}; fields are {', '.join(FIELDS)}")
            if fields.count(field) > 1:
                raise ValueError(f"field {field!r} is filled by two columns")
        return mapping


class Extraction(Pipeline):
    name: ClassVar[str] = "extraction"
    Config: ClassVar[type[Config]] = ExtractionConfig
    needs_file: ClassVar[bool] = True

    def traits(self, config: Any) -> Traits:
        return Traits(summarizes=True)

    def stages(self, config: Any) -> tuple[Stage, ...]:
        return (Stage("extract", cpu=extract),)

    def check(self, head: bytes, size: int, name: str) -> None:
        check_head(head, size, name)

    async def rows(
        self, job: Job, ctx: Context, cursor: Mapping[str, Any] | None
    ) -> AsyncGenerator[RowBatch, None]:
        """A file with a header alone gives one empty batch, so that the header is known."""
        if job.file is None:
            raise BadInput("INVALID_PARAMETERS", "An extraction needs a file")
        path = str(ctx.blobs.path(job.file.blob_key))
        kept = dict(cursor) if cursor else None
        async with aclosing(ctx.children.stream(read_csv, path, kept, dict(ctx.limits))) as stream:
            head: CsvHead = await anext(stream)
            _check_mapping(job.config.mapping, head.header)
            slicer = _Slicer(head, kept["rows"] if kept else 0)
            chunk: CsvChunk
            async for chunk in stream:
                slicer.add(chunk)
                while slicer.is_full(ctx):
                    yield slicer.batch(ctx)
            if not slicer.done and not slicer.rows:
                yield slicer.batch(ctx)
            while slicer.rows:
                yield slicer.batch(ctx)

    async def summarize(self, job: Job, ctx: Context) -> Mapping[str, Any]:
        counters = job.counters
        return {
            "total": counters.get("total", 0),
            "valid": counters.get("done", 0),
            "invalid": counters.get("error", 0),
            "duplicates": None,
            "new": None,
            "existing": None,
            "mapping": column_fields(job.header or (), job.config.mapping),
        }


class _Slicer:
    """Chunks in, batches out, each as large as asked for at that moment, with its own cursor."""

    def __init__(self, head: CsvHead, done: int) -> None:
        self._head = head
        self._bytes_read = 0
        self._sizes: list[int] = []
        self._held = 0
        self.rows: list[list[str]] = []
        self.done = done

    def add(self, chunk: CsvChunk) -> None:
        self.rows += chunk.rows
        self._sizes += chunk.sizes
        self._held += sum(chunk.sizes)
        self._bytes_read = chunk.bytes_read

    def is_full(self, ctx: Context) -> bool:
        return len(self.rows) >= ctx.batch_rows or self._held >= ctx.limits["batch_bytes"]

    def batch(self, ctx: Context) -> RowBatch:
        count = self._fitting(ctx.batch_rows, ctx.limits["batch_bytes"])
        rows = [Row(cells) for cells in self.rows[:count]]
        self._held -= sum(self._sizes[:count])
        del self.rows[:count], self._sizes[:count]
        self.done += count
        return RowBatch(
            rows,
            {"rows": self.done, "dialect": self._head.dialect, "header": self._head.header},
            # What is read but still held back is not in the items yet.
            max(0, self._bytes_read - self._held),
            self._head.bytes_total,
            self._head.header,
        )

    def _fitting(self, most_rows: int, most_bytes: int) -> int:
        """How many rows fit; one always does, however large it is."""
        total = 0
        for count, size in enumerate(self._sizes[:most_rows]):
            total += size
            if count and total > most_bytes:
                return count
        return min(most_rows, len(self._sizes))


def column_fields(header: Sequence[str], mapping: Mapping[str, str] | None) -> dict[str, str]:
    """Which column fills which field: as the mapping says, else where the names are equal but for
    case, spaces, underscores and hyphens. Of two columns for one field the first one fills it."""
    chosen = dict(mapping or {})
    taken = set(chosen.values())
    for column in header:
        field = _FIELD_BY_NAME.get(_plain(column))
        if field is not None and field not in taken and column not in chosen:
            chosen[column] = field
            taken.add(field)
    return {column: chosen[column] for column in header if column in chosen}


def extract(batch: Sequence[Item]) -> Sequence[Outcome]:
    """Clean every cell and pick out the product's fields. Runs in a child process."""
    fields_of_job: dict[UUID, dict[str, str]] = {}
    outcomes: list[Outcome] = []
    for item in batch:
        job = item.job
        fields = fields_of_job.get(job.id)
        if fields is None:
            fields = column_fields(job.header or (), job.config.mapping)
            fields_of_job[job.id] = fields
        outcomes.append(_extract_row(item.input, job.header or (), fields))
    return outcomes


def _extract_row(cells: Sequence[str], header: Sequence[str], fields: Mapping[str, str]) -> Outcome:
    result = dict(zip(header, map(_clean, cells), strict=False))
    if len(cells) > len(header):
        counts = {"cells": len(cells), "columns": len(header)}
        message = f"Row has {len(cells)} cells, the header has {len(header)}"
        return Fail(ItemError("VALIDATION_ERROR", message, details=counts), result)
    normalized = {field: text for column, field in fields.items() if (text := result.get(column))}
    return Done(result, normalized)


def _clean(cell: str) -> str:
    text = cell.strip()
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name).casefold()


_FIELD_BY_NAME = {_plain(field): field for field in FIELDS}


def _check_mapping(mapping: Mapping[str, str] | None, header: Sequence[str]) -> None:
    unknown = [column for column in mapping or () if column not in header]
    if unknown:
        raise BadInput(
            "INVALID_CONFIG",
            f"The mapping names columns the file does not have: {', '.join(unknown)}",
            unknown=unknown,
            columns=list(header[:100]),
        )
