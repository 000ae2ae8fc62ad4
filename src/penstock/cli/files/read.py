"""`penstock read`: a file's table as it was read. Needs no database."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.cli import printing

_NAMED = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "pipe": "|"}


def read(
    file: Annotated[Path, typer.Argument(help="The file to read.", show_default=False)],
    sheet: Annotated[
        str | None, typer.Option(help="Sheet of a workbook, by name or by number from 1.")
    ] = None,
    encoding: Annotated[str | None, typer.Option(help="Encoding of a text file.")] = None,
    delimiter: Annotated[
        str | None, typer.Option(help="What parts cells; also tab, space, comma, semicolon, pipe.")
    ] = None,
    quote: Annotated[str | None, typer.Option(help="Quote around cells; empty for none.")] = None,
    escape: Annotated[
        str | None, typer.Option(help="Escape before a quote; empty for none.")
    ] = None,
    header_row: Annotated[
        int | None,
        typer.Option(help="Line or row that names the columns, from 1; 0 if none does."),
    ] = None,
    skip_rows: Annotated[
        int | None, typer.Option(help="Lines or rows at the top to leave out.")
    ] = None,
    records: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Where JSON or XML has its records, e.g. data.items."),
    ] = None,
    member: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="File of a zip with several, by name or number from 1."),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            help="csv, fixed, blocks, xlsx, xls, xml2003, ods, html, json, ndjson or xml."
        ),
    ] = None,
    widths: Annotated[
        str | None,
        typer.Option(metavar="N,N,…", help="Characters of each column, where they are fixed."),
    ] = None,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="OUT", help="Where to; - is stdout.")
    ] = "",
    json: Annotated[bool, typer.Option("--json", help="Print what was detected, as JSON.")] = False,
) -> None:  # fmt: skip
    """Read a file of any format and write its table as CSV: text in UTF-8, nothing normalised.

    With --json what was detected is printed, and the table is written only with -o.
    Exit code 0: read; 1: the file cannot be read; 2: wrong use.
    """
    options = {
        "sheet": sheet, "encoding": encoding, "delimiter": _NAMED.get(delimiter or "", delimiter),
        "quote": quote, "escape": escape, "header_row": header_row, "skip_rows": skip_rows,
        "records_path": records, "member": member, "format": format,
        "widths": widths,
    }  # fmt: skip
    _run(file, options, output or ("" if json else "-"), json)


def _run(file: Path, options: dict[str, Any], output: str, json: bool) -> None:
    import asyncio

    from penstock.cli.errors import FAILURE
    from penstock.cli.files.reading import refused_as, run_reading
    from penstock.model.errors import PermanentError

    try:
        report = asyncio.run(run_reading(file, options, output))
    except PermanentError as error:
        code, problem = refused_as(error)
        if json and code == FAILURE:
            printing.as_json({"error": {"code": error.code, "message": error.message}})
        printing.note(problem)
        raise typer.Exit(code) from None
    if json:
        printing.as_json(report)
