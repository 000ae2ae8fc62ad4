"""Read a text of `Name: value` lines as a table with one row per block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from penstock.formats.detection.encodings import MIXED, Encoding, as_cp1252, find_encoding
from penstock.formats.read_options import ReadOptions, ReadReport
from penstock.formats.records.blocks import Blocks, find_blocks, records_in
from penstock.formats.records.rows import Columns, rows_of_records
from penstock.formats.source import Source
from penstock.formats.structure.cell_kinds import unique_names
from penstock.formats.tables import Chunks, Cursor, Piece, Problems, TableEnd, TableHead
from penstock.model.errors import BadInput

_HEAD_CHARS = 64 * 1024


def read_blocks(
    source: Source, options: ReadOptions, limits: Mapping[str, int], cursor: Cursor
) -> Iterator[Piece]:
    told: dict[str, Any] = {}
    if cursor is None:
        plan, report = _plan(source, options, limits)
        told = report.as_json()
    else:
        plan = dict(cursor["plan"])
    yield TableHead(plan, unique_names(plan["header"]), told, source.size)
    chunks = Chunks(limits, cursor["rows"] if cursor else 0)
    problems = Problems()
    for rows in rows_of_records(_records(source, plan, limits), plan, limits, problems):
        yield from chunks.add(rows, source.size)
    yield from chunks.rest(source.size)
    yield TableEnd(chunks.seen, [], problems.shown(), problems.total)


def _plan(
    source: Source, options: ReadOptions, limits: Mapping[str, int]
) -> tuple[dict[str, Any], ReadReport]:
    encoding = Encoding(options.encoding, "replace") if options.encoding else find_encoding(source)
    plan: dict[str, Any] = {
        "format": "blocks", "encoding": encoding.name, "errors": encoding.errors, "arrays": False,
    }  # fmt: skip
    with source.text(encoding.name, encoding.errors) as file:
        how = find_blocks(file.read(_HEAD_CHARS).removeprefix("\ufeff"))
    if how is None:
        raise BadInput(
            "INVALID_PARAMETERS", "format 'blocks': there are no blocks of lines `Name: value`",
            option="format",
        )  # fmt: skip
    plan |= {"mark": how.mark, "start": how.start}
    columns = Columns(limits)
    for record in _records(source, plan, limits):
        columns.see(record)
    plan |= {"columns": columns.names, "header": columns.names}
    report = ReadReport("blocks", encoding=encoding.name, delimiter=how.mark, header=columns.names)
    if encoding.note:
        report.doubt(encoding.note, 0.7)
    if encoding.others:
        report.doubt(f"the encoding could also be {' or '.join(encoding.others)}", 0.7)
    return plan, report


def _records(
    source: Source, plan: Mapping[str, Any], limits: Mapping[str, int]
) -> Iterator[dict[str, str]]:
    for record in records_in(_lines(source, plan, limits), Blocks(plan["mark"], plan["start"])):
        yield {name.replace(".", " "): value for name, value in record.items()}


def _lines(source: Source, plan: Mapping[str, Any], limits: Mapping[str, int]) -> Iterator[str]:
    most = limits["cell_bytes"]
    with source.text(plan["encoding"], plan["errors"]) as file:
        number = 0
        while line := file.readline(most):
            number += 1
            if len(line) >= most:
                raise BadInput("CELL_TOO_LARGE", f"Line {number:,} is longer than {most:,} bytes")
            text = as_cp1252(line) if plan["errors"] == MIXED else line
            yield text.removeprefix("\ufeff").rstrip("\r\n").replace("\0", "\ufffd")
