"""Pages to fields, read in a child process with bounds on memory and time."""

from __future__ import annotations

import asyncio
import csv
import gzip
import json
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from penstock.catalog.pages import extract_page
from penstock.cli import printing
from penstock.cli.errors import FAILURE, NOT_FOUND, ROWS_FAILED, USAGE, CliError
from penstock.cli.files.sources import is_url
from penstock.guards.children import ChildPool
from penstock.guards.fetch import Fetcher
from penstock.model.errors import BadInput, ChildCrashed
from penstock.model.network.fetching import FetchLimits, FetchPurpose, FetchRequest
from penstock.settings import Settings

_CPU_SECONDS = 30
_CORES = os.cpu_count() or 1
_SUFFIXES = ("", ".html", ".htm", ".html.gz", ".htm.gz", ".gz")


@dataclass(frozen=True)
class Pages:
    """Which pages to read: one address, one saved page, or a folder of saved pages."""

    address: str
    html: Path | None
    url: str
    urls: Path | None
    kind: str


async def run_fetch(pages: Pages, output: str, as_json: bool) -> int:
    """Read the pages and print or write their fields. Returns the exit code."""
    if (pages.html is None) == (not pages.address):
        raise CliError(USAGE, "Give either a URL to fetch, or --html with a saved page.")
    settings = Settings()
    children = ChildPool(
        settings.child_memory_bytes, _CPU_SECONDS, calls=_CORES, hidden=(settings.data_dir,)
    )
    try:
        if pages.html is not None and pages.html.is_dir():
            return await _read_folder(children, pages, output)
        if pages.html is not None:
            if not is_url(pages.url):
                raise CliError(USAGE, "Give the address of the page: --url https://…")
            read = await _read_file(children, pages.html, pages.url, pages.kind)
        else:
            read = await _fetch(children, settings, pages.address, pages.kind)
    except ChildCrashed as error:
        raise CliError(FAILURE, f"The page cannot be read: {error}") from error
    finally:
        await children.close()
    if output:
        with _opened(output) as out:
            _write(out, read)
    else:
        _print(read, as_json)
    return 0


async def _fetch(children: ChildPool, settings: Settings, url: str, kind: str) -> dict[str, Any]:
    if not is_url(url):
        raise CliError(USAGE, f"{url} is not an address; it begins with http:// or https://.")
    fetcher = Fetcher(settings.fetch_exempt(FetchPurpose.PAGE))
    limits = FetchLimits(most_bytes=settings.crawl_max_page_bytes)
    headers = {"user-agent": settings.crawl_user_agent, "accept": "text/html,*/*;q=0.5"}
    try:
        answer = await fetcher.fetch(FetchRequest(url, headers=headers, limits=limits))
    finally:
        await fetcher.close()
    if answer.status >= 400:
        code = NOT_FOUND if answer.status in (404, 410) else FAILURE
        raise CliError(code, f"{url} answers with status {answer.status}.")
    kept: dict[str, Any] = await children.call(
        read_html, answer.body, answer.url, answer.header("content-type"), kind
    )
    return kept


async def _read_file(children: ChildPool, path: Path, url: str, kind: str) -> dict[str, Any]:
    kept: dict[str, Any] = await children.call(read_html, _content(path), url, None, kind)
    return kept


def _content(path: Path) -> bytes:
    """The bytes of a saved page, up to the size that the crawler takes."""
    most = Settings().crawl_max_page_bytes
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            content = file.read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise CliError(USAGE, f"Cannot read {path}: {error}.") from error
    if len(content) > most:
        raise CliError(USAGE, f"{path} is larger than {most:,} bytes.")
    return content


def read_html(content: bytes, url: str, content_type: str | None, kind: Any) -> dict[str, Any]:
    """Runs in the child process."""
    page = asdict(extract_page(content, url, content_type=content_type, kind=kind))
    return {name: page[name] for name in ("url", "kind", "language", "fields", "lineage")}


# A folder of saved pages


async def _read_folder(children: ChildPool, pages: Pages, output: str) -> int:
    assert pages.html is not None
    if pages.urls is None:
        raise CliError(USAGE, "Give the addresses of the pages: --urls FILE.csv with file and url.")
    failed = read = 0
    with _opened(output or "-") as out:
        addresses = iter(_addresses(pages.urls))
        while batch := list(islice(addresses, _CORES)):
            answers = [_read_saved(children, pages, *one) for one in batch]
            for one in await asyncio.gather(*answers):
                if "error" in one:
                    failed += 1
                    printing.note(f"{one['file']}: {one['error']}")
                read += 1
                _write(out, one)
    printing.note(f"{read} pages read, {failed} failed.")
    return ROWS_FAILED if failed else 0


async def _read_saved(children: ChildPool, pages: Pages, name: str, url: str) -> dict[str, Any]:
    assert pages.html is not None
    try:
        read = await _read_file(children, _saved(pages.html, name), url, pages.kind)
    except (ChildCrashed, CliError, BadInput) as error:
        read = {"url": url, "kind": None, "fields": {}, "lineage": {}, "error": str(error)}
    return {"file": name} | read


def _addresses(path: Path) -> Iterator[tuple[str, str]]:
    """Names of files with their addresses; a header names the columns, else file comes first."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file) if len(row) >= 2]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CliError(USAGE, f"Cannot read {path}: {error}.") from error
    head = [cell.strip().lower() for cell in rows[0]] if rows else []
    by_name = "url" in head
    url_at = head.index("url") if by_name else 1
    names = [place for place, name in enumerate(head) if name in ("file", "id", "name", "path")]
    file_at = names[0] if by_name and names else int(url_at == 0)
    for number, row in enumerate(rows[by_name:], start=1 + by_name):
        if len(row) <= max(url_at, file_at) or not is_url(row[url_at].strip()):
            raise CliError(USAGE, f"{path}, line {number}: a file and its address are expected.")
        yield row[file_at].strip(), row[url_at].strip()


def _saved(folder: Path, name: str) -> Path:
    """The saved page of that name in the folder, with or without its suffix."""
    if Path(name).name != name:
        raise CliError(USAGE, f"{name} is not the name of a file in {folder}.")
    for suffix in _SUFFIXES:
        path = folder / (name + suffix)
        if path.is_file():
            return path
    raise CliError(USAGE, f"{folder} has no file {name}.")


# Output


@contextmanager
def _opened(output: str) -> Iterator[TextIO]:
    if output == "-":
        yield sys.stdout
        return
    try:
        with Path(output).open("w", encoding="utf-8") as file:
            yield file
    except OSError as error:
        raise CliError(USAGE, f"Cannot write {output}: {error.strerror}.") from error


def _write(out: TextIO, page: dict[str, Any]) -> None:
    out.write(json.dumps(page, ensure_ascii=False) + "\n")


def _print(page: dict[str, Any], as_json: bool) -> None:
    if as_json:
        printing.as_json(page)
        return
    if page["kind"] is None:
        printing.note("The page is neither a product nor a job posting.")
        return
    printing.note(f"{page['kind']}: {page['url']}")
    rows = [
        (name, _short(value), page["lineage"][name]["source"], page["lineage"][name]["confidence"])
        for name, value in page["fields"].items()
    ]
    printing.columns(("FIELD", "VALUE", "SOURCE", "CONFIDENCE"), rows)


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    line = " ".join(text.split())
    return line if len(line) <= 80 else line[:79] + "…"
