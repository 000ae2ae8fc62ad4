"""Supplier files to clean rows: all columns kept, those that name a product's field mapped."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, ClassVar
from uuid import UUID

from pydantic import field_validator

from penstock.formats.reading import check_head
from penstock.model.errors import BadInput, ItemError
from penstock.model.outcomes import Done, Fail, Outcome
from penstock.model.pipeline import Config, Item, Job, Pipeline, RowBatch, Stage, Traits
from penstock.model.ports import Context
from penstock.pipelines.file_rows import ReadingConfig, batches_of_file, what_was_read

# The fields of a normalised product that one cell can fill.
FIELDS = (
    "id", "sourceId", "sku", "gtin", "mpn", "title", "description", "category", "brand",
    "price", "currency", "unit", "availability", "quantity", "leadTimeDays", "minOrder",
    "supplier", "dimensions", "weight", "material", "url", "image", "tags",
)  # fmt: skip


class ExtractionConfig(ReadingConfig):
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
        def check_names(names: Sequence[str]) -> None:
            _check_mapping(job.config.mapping, names)

        batches = batches_of_file(job, ctx, cursor, check_names)
        async with aclosing(batches):
            async for batch in batches:
                yield batch

    async def after_ingest(
        self, job: Job, cursor: Mapping[str, Any], ctx: Context
    ) -> Mapping[str, Any]:
        return what_was_read(cursor)

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
            **job.context,
        }


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
