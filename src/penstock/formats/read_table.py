"""Read any file: detect its type by content, then stream its table.

read_table   a head, the rows after the cursor in chunks, an end. Runs in a child process.
check_head   refuse a file by its first bytes, before a job is created
"""

from __future__ import annotations

import gzip
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from penstock.formats.csv.dialect import csv_rows
from penstock.formats.csv.read import read_csv
from penstock.formats.detection.content_type import (
    BLOCKS,
    GZIP,
    HEAD_BYTES,
    HTML,
    OLE,
    TEXT,
    ZIP,
    kind_of_bytes,
    kind_of_zip,
    refused,
)  # fmt: skip
from penstock.formats.detection.encodings import marked_encoding
from penstock.formats.read_options import ReadOptions, check_options
from penstock.formats.source import Source, corrupt, in_gzip, in_zip, open_zip, plain_source
from penstock.formats.structure.cell_kinds import is_blank
from penstock.formats.tables import Cursor, Piece, TableHead
from penstock.model.errors import BadInput

# Exceptions for damaged archives.
DAMAGED_ARCHIVE = (
    zipfile.BadZipFile, zlib.error, gzip.BadGzipFile, EOFError, NotImplementedError,
)  # fmt: skip


def read_table(
    path: str,
    options: Mapping[str, Any],
    limits: Mapping[str, int],
    cursor: Mapping[str, Any] | None = None,
) -> Iterator[Piece]:
    """The cursor is ``{"rows": n, "plan": …}``: the plan is kept, so that a resumed reading gives
    the same rows."""
    wanted = ReadOptions.of(options)
    check_options(wanted)
    try:
        yield from _read(plain_source(Path(path), limits), wanted, limits, cursor)
    except DAMAGED_ARCHIVE as error:
        raise corrupt("archive", error) from error


def _read(
    given: Source, wanted: ReadOptions, limits: Mapping[str, int], cursor: Cursor
) -> Iterator[Piece]:
    source, kind = _open_table(given, wanted.member, limits)
    if wanted.format is not None:
        kind = _check_given_format(kind, wanted.format)
    elif kind == BLOCKS and wanted.cuts_lines:
        kind = "csv"
    if cursor is not None:
        kind = cursor["plan"]["format"]
    for piece in _reader(kind)(source, wanted, limits, cursor):
        if isinstance(piece, TableHead) and source.container is not None and piece.detected:
            piece.detected["container"] = source.shown()
        yield piece


def check_head(head: bytes, size: int, name: str) -> None:
    """Refuse files that are empty, binary or without rows by their first bytes."""
    kind = kind_of_bytes(head, name)
    if kind == HTML and len(head) >= size and b"<table" not in head.lower():
        raise refused("an HTML page without a table", name)
    if kind != TEXT or len(head) < size:
        return
    text = head.decode(marked_encoding(head) or "utf-8", "replace").removeprefix("\ufeff")
    filled = (row for row in csv_rows(text) if not is_blank(row))
    lines = len(list(islice(filled, 2)))
    if lines == 0:
        raise BadInput("EMPTY_FILE", f"{name} is empty: send a header and at least one row.")
    if lines == 1:
        raise BadInput("NO_ROWS", "The file has a header but no rows: nothing to do.")


def _open_table(
    source: Source, member: str | int | None, limits: Mapping[str, int]
) -> tuple[Source, str]:
    """The source of the table and its kind; an archive in an archive is refused."""
    for packed in (False, True):
        kind = kind_of_bytes(source.head(HEAD_BYTES))
        if kind == ZIP:
            with source.seekable(limits) as file, open_zip(file) as archive:
                kind = kind_of_zip(archive)
                if kind != ZIP:
                    return source, kind
                if not packed:
                    source = in_zip(source, archive, member, limits)
                    continue
        elif kind == GZIP and not packed:
            source = in_gzip(source, limits)
            continue
        if kind in (ZIP, GZIP):
            raise refused("an archive in an archive")
        return source, {OLE: "xls", TEXT: "csv"}.get(kind, kind)
    raise refused("an archive in an archive")


def _check_given_format(kind: str, wanted: str) -> str:
    """The format to use: text can be read as several formats, a workbook only as its own."""
    if {kind, wanted} & {"xlsx", "xlsb", "xls", "ods"} and kind != wanted:
        raise BadInput(
            "INVALID_PARAMETERS", f"format {wanted!r}: the file is {kind}", option="format"
        )
    return wanted


def _reader(kind: str) -> Any:
    """Imports on demand: a child that reads CSV does not need the other readers."""
    match kind:
        case "csv" | "fixed":
            return read_csv
        case "blocks":
            from penstock.formats.records.blocks_read import read_blocks

            return read_blocks
        case "json" | "ndjson":
            from penstock.formats.records.json_read import read_json, read_ndjson

            return read_json if kind == "json" else read_ndjson
        case "xml":
            from penstock.formats.records.xml_read import read_xml

            return read_xml
        case "xlsx":
            from penstock.formats.sheets.xlsx_read import read_xlsx

            return read_xlsx
        case "xlsb":
            from penstock.formats.sheets.xlsb_read import read_xlsb

            return read_xlsb
        case "html":
            from penstock.formats.sheets.html_read import read_html

            return read_html
        case "xml2003":
            from penstock.formats.sheets.xml2003_read import read_xml2003

            return read_xml2003
        case "ods":
            from penstock.formats.sheets.ods_read import read_ods

            return read_ods
    from penstock.formats.sheets.xls_read import read_xls

    return read_xls
