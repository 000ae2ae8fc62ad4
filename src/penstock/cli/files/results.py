"""A job's clean rows as a file, page by page. The file is complete or not written at all."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

from penstock.app.exports import (
    ExportFilter,
    amounts_of,
    columns_of,
    export_pieces,
    export_rows,
    result_pages,
)
from penstock.app.job_control import get_job
from penstock.cli.errors import USAGE, CliError
from penstock.engine.runtime import Runtime
from penstock.formats.writing.registry import FORMATS
from penstock.formats.writing.text_formats import CsvWriter
from penstock.model.export import RowWriter
from penstock.model.states import ItemStatus
from penstock.store.database import from_json
from penstock.store.jobs.export import ExportedRow

_MOST_PROBLEMS_SHOWN = 5


@dataclass
class Written:
    """Where the rows went, and the first of those that were left out."""

    place: str
    problems: list[str] = field(default_factory=list)
    _left_out: int = 0

    def leave_out(self, row: ExportedRow) -> None:
        self._left_out += 1
        if self._left_out > _MOST_PROBLEMS_SHOWN:
            self.problems[_MOST_PROBLEMS_SHOWN:] = [
                f"… and {self._left_out - _MOST_PROBLEMS_SHOWN:,} more"
            ]
            return
        error = from_json(row.error) or {"code": row.status, "message": "left out"}
        self.problems.append(f"Row {row.row_no:,}: {error['message']} [{error['code']}]")


async def write_results(runtime: Runtime, job_id: UUID, output: Path | None) -> Written:
    """Write the clean rows, in the format of the file name; count and show the others. Stdout and
    pipes get CSV."""
    written = Written("-" if output is None else str(output))
    named = output is not None and (not output.exists() or output.is_file())
    kind = pages_for(output) if output is not None and named else CsvWriter
    with output_file(output) as write:
        await _write(runtime, job_id, written, write, kind)
    return written


@contextmanager
def output_file(output: Path | None) -> Iterator[Callable[[bytes], object]]:
    """The file that a command writes: complete, or not written at all."""
    if output is None:
        yield sys.stdout.buffer.write
        sys.stdout.buffer.flush()
        return
    # A pipe or /dev/null cannot be replaced by a file.
    whole = not output.exists() or output.is_file()
    draft = output.with_name(f".{output.name}.{os.getpid()}.tmp") if whole else output
    try:
        with draft.open("wb") as file:
            yield file.write
        if whole:
            draft.replace(output)
    except BaseException:
        if whole:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
        raise


async def _write(
    runtime: Runtime,
    job_id: UUID,
    written: Written,
    write: Callable[[bytes], object],
    kind: type[RowWriter],
) -> None:
    async with runtime.db.acquire() as conn:
        job = await get_job(conn, job_id)
    writer: RowWriter | None = None
    columns: Sequence[str] = ()
    async for page in result_pages(runtime.db.acquire, job_id, job.total):
        if writer is None:
            columns = columns_of(runtime, job, page)
            writer = kind(columns, amounts_of(runtime, job))
            write(writer.head())
        done = []
        for row in page:
            if row.status == ItemStatus.DONE:
                done.append(row)
            else:
                written.leave_out(row)
        write(writer.page(export_rows(ExportFilter(), columns, done)))
    if writer is not None:
        write(writer.end())


async def write_problems(runtime: Runtime, job_id: UUID, output: Path) -> None:
    """Write one line per problem, in the format of the file name."""
    async with runtime.db.acquire() as conn:
        job = await get_job(conn, job_id)
    with output_file(output) as write:
        pieces = export_pieces(
            runtime, runtime.db.acquire, job, ExportFilter("errors"), pages_for(output)
        )
        async for piece in pieces:
            write(piece)


def pages_for(output: Path, kind: str | None = None) -> type[RowWriter]:
    """The requested format, else that of the file name; CSV on stdout."""
    ending = "csv" if str(output) == "-" else output.suffix.removeprefix(".").casefold()
    found = FORMATS.get(kind or ending)
    if found is None:
        raise CliError(USAGE, f"{output}: the name must end in .{', .'.join(FORMATS)}.")
    return found


def output_place(output: Path, json: bool) -> Path | None:
    """None is stdout. Problems are reported before any work is done."""
    if str(output) == "-":
        if json:
            raise CliError(USAGE, "With --json the rows need a file: -o FILE.")
        return None
    if output.is_dir():
        raise CliError(USAGE, f"{output} is a folder; name a file with -o.")
    if not output.parent.is_dir():
        raise CliError(USAGE, f"There is no folder {output.parent} for the output.")
    return output
