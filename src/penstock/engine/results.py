"""A job's results in row order, page by page: what every export reads."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any
from uuid import UUID

from penstock.engine.parts import Parts
from penstock.store import items
from penstock.store.database import Connection, from_json

PAGE_ROWS = 2000
OpenConnection = Callable[[], AbstractAsyncContextManager[Connection]]


async def result_pages(opened: OpenConnection, job_id: UUID) -> AsyncGenerator[list[Any], None]:
    """Short transactions: one that stays open for a whole export slows every claim down."""
    after_row = 0
    while True:
        async with opened() as conn:
            page = await items.results(conn, job_id, after_row, PAGE_ROWS)
        yield page
        if len(page) < PAGE_ROWS:
            return
        after_row = page[-1]["row_no"]


def columns_of(parts: Parts, job: Any, first_page: list[Any]) -> list[str]:
    """As the pipeline shows them, else as the file has them, else as the results turn out."""
    pipeline = parts.pipelines.get(job["pipeline"])
    if pipeline is not None and pipeline.columns is not None:
        return list(pipeline.columns)
    if job["header"] is not None:
        return list(from_json(job["header"]))
    results = [from_json(row["result"]) or {} for row in first_page]
    return list(dict.fromkeys(name for result in results for name in result))
