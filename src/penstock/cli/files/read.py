"""`penstock read`: a file's table as it was read. Needs no database."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.cli import printing

_NAMED = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "pipe": "|"}


File = Annotated[Path, typer.Argument(help="The file to read.", show_default=False)]
Format = Annotated[
    str | None,
    typer.Option(help="csv, fixed, blocks, xlsx, xls, xml2003, ods, html, json, ndjson or xml."),
]
# Options of text files.
Encoding = Annotated[str | None, typer.Option(help="Encoding of a text file.")]
Delimiter = Annotated[
    str | None,
    typer.Option(help="The character between cells; also tab, space, comma, semicolon, pipe."),
]
Quote = Annotated[str | None, typer.Option(help="Quote around cells; empty for none.")]
Escape = Annotated[str | None, typer.Option(help="Escape before a quote; empty for none.")]
Widths = Annotated[
    str | None,
    typer.Option(metavar="N,N,…", help="Characters of each column, if they have a fixed width."),
]
# Options that say where the table is.
Sheet = Annotated[str | None, typer.Option(help="Sheet of a workbook, by name or number from 1.")]
HeaderRow = Annotated[
    int | None, typer.Option(help="Line or row that names the columns, from 1; 0 if none does.")
]
SkipRows = Annotated[int | None, typer.Option(help="Lines or rows at the top to leave out.")]
Records = Annotated[
    str | None,
    typer.Option(metavar="PATH", help="Where JSON or XML has its records, e.g. data.items."),
]
Member = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="File of a zip with several, by name or number from 1."),
]
Output = Annotated[
    str, typer.Option("-o", "--output", metavar="OUT", help="Where to; - is stdout.")
]
Detected = Annotated[bool, typer.Option("--json", help="Print what was detected, as JSON.")]


def read(
    file: File, sheet: Sheet = None, encoding: Encoding = None, delimiter: Delimiter = None,
    quote: Quote = None, escape: Escape = None, header_row: HeaderRow = None,
    skip_rows: SkipRows = None, records: Records = None, member: Member = None,
    format: Format = None, widths: Widths = None, output: Output = "", json: Detected = False,
) -> None:  # fmt: skip
    """Read a file of any format and write its table as CSV: text in UTF-8, nothing normalised.

    With --json what was detected is printed, and the table is written only with -o.
    Exit code 0: read; 2: the file was refused, or wrong use.
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

    from penstock.cli.errors import explain
    from penstock.cli.files.reading import run_reading
    from penstock.model.errors import PermanentError

    try:
        report = asyncio.run(run_reading(file, options, output))
    except PermanentError as error:
        code, problem = explain(error)
        if json:
            printing.as_json({"error": {"code": error.code, "message": error.message}})
        printing.note(f"penstock: {problem}")
        raise typer.Exit(code) from None
    if json:
        printing.as_json(report)
