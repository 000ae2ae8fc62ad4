"""Hand-made pages with the right answer in a comment before the page."""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent / "pages"


class MadePage(NamedTuple):
    name: str
    url: str
    kind: str | None
    fields: dict[str, Any]
    html: bytes


def made_pages(kind: str) -> list[MadePage]:
    """Pages of the folder ``products`` or ``jobs``, in the order of their names."""
    return [_read(path) for path in sorted((FOLDER / kind).glob("*.html"))]


def _read(path: Path) -> MadePage:
    written = path.read_text("utf-8")
    end = written.index(" -->")
    truth = json.loads(written[len("<!-- ") : end])
    html = written[end + len(" -->") :].lstrip().encode()
    return MadePage(path.stem, truth["url"], truth["kind"], truth["fields"], html)


def same(field: str, got: Any, wanted: Any) -> bool:
    """Amounts are compared as numbers, texts without regard to letter case."""
    if field in ("price", "listPrice"):
        try:
            return Decimal(str(got)) == Decimal(str(wanted))
        except InvalidOperation:
            return False
    if isinstance(got, str) and isinstance(wanted, str):
        return got.casefold() == wanted.casefold()
    return bool(got == wanted)
