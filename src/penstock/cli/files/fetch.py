"""`penstock fetch`: the product or job posting of a web page. Needs no server and no database."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from penstock.cli import printing


class Kind(StrEnum):
    AUTO = "auto"
    PRODUCT = "product"
    JOB = "job"


def fetch(
    address: Annotated[
        str, typer.Argument(metavar="[URL]", help="The page to fetch.", show_default=False)
    ] = "",
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE|DIR", help="A saved page instead, or a folder of them with --urls."
        ),
    ] = None,
    url: Annotated[
        str, typer.Option(help="The address of the saved page.", show_default=False)
    ] = "",
    urls: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            help="Addresses of the pages of a folder: columns file and url, with a header.",
        ),
    ] = None,
    kind: Annotated[
        Kind, typer.Option(help="What the pages are, if it is known.")
    ] = Kind.AUTO,
    output: Annotated[
        str,
        typer.Option("-o", "--output", metavar="OUT", help="Where NDJSON goes; - is stdout."),
    ] = "",
    json: printing.Json = False,
) -> None:  # fmt: skip
    """Read the product or the job posting of a page, with the source and confidence of each field.

    Pages are fetched from public addresses only (PENSTOCK_CRAWL_ALLOW names others). Saved pages
    may be compressed (.gz).

    Exit code 0: read, also where a page is neither a product nor a job posting (kind is null);
    3: some pages of a folder cannot be read; 4: there is no such page; 1: it cannot be fetched or
    read; 2: wrong use.
    """
    import asyncio

    from penstock.cli.files.fetching import Pages, run_fetch

    pages = Pages(address, html, url, urls, kind.value)
    code = asyncio.run(run_fetch(pages, output, json))
    if code:
        raise typer.Exit(code)
