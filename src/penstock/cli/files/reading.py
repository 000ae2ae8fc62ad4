"""One file to its table, read in a child process with bounds on memory and time."""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import aclosing, contextmanager, suppress
from pathlib import Path
from typing import Any

from penstock.cli.errors import USAGE, CliError
from penstock.formats.read_table import read_table
from penstock.formats.tables import TableChunk, TableEnd, TableHead
from penstock.guards.children import ChildPool
from penstock.model.errors import ChildCrashed, PermanentError
from penstock.model.ports import InputFile
from penstock.settings import Settings

_CPU_SECONDS = 60
Write = Callable[[bytes], Any]


async def run_reading(file: Path, options: dict[str, Any], output: str) -> dict[str, Any]:
    """Return the report; the table goes to ``output``: a path, - for stdout, or empty for none."""
    _check(file, output)
    settings = Settings()
    children = ChildPool(settings.child_memory_bytes, _CPU_SECONDS, hidden=(settings.data_dir,))
    try:
        with _opened(output) as write:
            return await _read(children, file, options, settings.reading_limits, write)
    except ChildCrashed as error:
        raise PermanentError("FILE_CORRUPT", f"The file cannot be read: {error}") from error
    finally:
        await children.close()


async def _read(
    children: ChildPool,
    file: Path,
    options: dict[str, Any],
    limits: dict[str, int],
    write: Write | None,
) -> dict[str, Any]:
    report: dict[str, Any] = {}
    async with aclosing(children.stream(read_table, InputFile(file), options, limits)) as pieces:
        async for piece in pieces:
            match piece:
                case TableHead():
                    report = dict(piece.detected)
                    if write is not None and piece.plan["header"]:
                        write(_as_csv([_header(piece)]))
                case TableChunk() if write is not None:
                    write(_as_csv(piece.rows))
                case TableEnd():
                    report["rows"] = piece.rows
                    report["columns"] = len(report["header"])
                    report["footer"] = report["footer"] or piece.footer
                    report["problems"] = piece.problems
                    report["problems_total"] = piece.problems_total
    return report


def _header(head: TableHead) -> list[str]:
    """The names as the file has them; columns without names are numbered."""
    names: list[str] = head.plan["header"]
    return names if any(name.strip() for name in names) else head.names


def _as_csv(rows: list[list[str]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\r\n").writerows(rows)
    return text.getvalue().encode("utf-8", "replace")


def _check(file: Path, output: str) -> None:
    try:
        with file.open("rb"):
            pass
    except IsADirectoryError as error:
        raise CliError(USAGE, f"{file} is a folder, not a file.") from error
    except OSError as error:
        raise CliError(USAGE, f"Cannot read {file}: {error.strerror}.") from error
    chosen = Path(output)
    if output in ("", "-"):
        return
    if chosen.is_dir() or not chosen.parent.is_dir():
        raise CliError(USAGE, f"Cannot write to {chosen}: name a file in a folder that exists.")
    if chosen.exists() and chosen.samefile(file):
        raise CliError(USAGE, f"{chosen} is the input; choose another place with -o.")


@contextmanager
def _opened(output: str) -> Iterator[Write | None]:
    """Leaves no file if the table could not be read to its end."""
    if output == "":
        yield None
        return
    if output == "-":
        yield sys.stdout.buffer.write
        sys.stdout.buffer.flush()
        return
    place = Path(output)
    whole = not place.exists() or place.is_file()
    draft = place.with_name(f".{place.name}.{os.getpid()}.tmp") if whole else place
    try:
        with draft.open("wb") as file:
            yield file.write
        if whole:
            draft.replace(place)
    except BaseException:
        if whole:
            with suppress(OSError):
                draft.unlink()
        raise
