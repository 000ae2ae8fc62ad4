"""A job's clean rows as a CSV file: page by page, whole or not at all."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from penstock.engine.parts import Parts
from penstock.formats.export import CsvPages
from penstock.model.states import ItemStatus
from penstock.store import items, jobs
from penstock.store.database import from_json

_PAGE_ROWS = 2000
_MOST_PROBLEMS_SHOWN = 5


@dataclass
class Written:
    """Where the rows went, and the first of those that were left out."""

    place: str
    problems: list[str] = field(default_factory=list)
    _left_out: int = 0

    def leave_out(self, row: Any) -> None:
        self._left_out += 1
        if self._left_out > _MOST_PROBLEMS_SHOWN:
            self.problems[_MOST_PROBLEMS_SHOWN:] = [
                f"… and {self._left_out - _MOST_PROBLEMS_SHOWN:,} more"
            ]
            return
        error = from_json(row["error"]) or {"code": row["status"], "message": "left out"}
        self.problems.append(f"Row {row['row_no']:,}: {error['message']} [{error['code']}]")


async def write_results(parts: Parts, job_id: UUID, output: Path | None) -> Written:
    if output is None:
        written = Written("-")
        await _write(parts, job_id, written, sys.stdout.buffer.write)
        sys.stdout.buffer.flush()
        return written
    written = Written(str(output))
    # Whatever is no plain file, a pipe or /dev/null, cannot be replaced by one.
    whole = not output.exists() or output.is_file()
    draft = output.with_name(f".{output.name}.{os.getpid()}.tmp") if whole else output
    try:
        with draft.open("wb") as file:
            await _write(parts, job_id, written, file.write)
        if whole:
            draft.replace(output)
    except BaseException:
        if whole:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
        raise
    return written


async def _write(
    parts: Parts, job_id: UUID, written: Written, write: Callable[[bytes], object]
) -> None:
    pages: CsvPages | None = None
    async for page in _pages(parts, job_id):
        results = []
        for row in page:
            if row["status"] == ItemStatus.DONE:
                results.append(from_json(row["result"]))
            else:
                written.leave_out(row)
        if pages is None:
            pages = CsvPages(await _columns(parts, job_id, results))
            write(pages.head())
        write(pages.page(results))
    if pages is None:
        write(CsvPages(await _columns(parts, job_id, [])).head())


async def _pages(parts: Parts, job_id: UUID) -> AsyncIterator[list[Any]]:
    after = 0
    while True:
        async with parts.db.acquire() as conn:
            page = await items.results(conn, job_id, after, _PAGE_ROWS)
        if page:
            yield page
        if len(page) < _PAGE_ROWS:
            return
        after = page[-1]["row_no"]


async def _columns(parts: Parts, job_id: UUID, results: Sequence[dict[str, Any]]) -> list[str]:
    """As the pipeline says, else those of the file, else those of the first row."""
    async with parts.db.acquire() as conn:
        row = await jobs.get_job(conn, job_id)
    declared = parts.pipeline(row["pipeline"]).columns
    if declared is not None:
        return list(declared)
    return from_json(row["header"]) or list(results[0] if results else ())
