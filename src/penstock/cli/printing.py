"""What commands print: data on stdout, notes on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any
from zoneinfo import ZoneInfo

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def as_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=2, default=_plain))


def as_json_line(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False, default=_plain), flush=True)


def note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def columns(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print aligned columns that are never cut off, so that ids can be copied and lines piped."""
    table = [[str(cell) for cell in row] for row in (head, *rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())
    if not rows:
        note("None.")


def fields(pairs: Sequence[tuple[str, Any]]) -> None:
    """Print one field per line; unknown ones are left out."""
    known = [(name, value) for name, value in pairs if value not in (None, "", {}, [])]
    width = max((len(name) for name, _ in known), default=0)
    for name, value in known:
        print(f"{name.ljust(width)}  {_cell(value)}")


def _cell(value: Any) -> str:
    """As a person writes it: yes and no, names with commas, JSON for what has parts."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, default=_plain)
    return str(value)


def count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def share(part: float) -> str:
    """A percentage; 100 % only if it is complete."""
    return f"{min(part, 1.0):.0%}" if part >= 1 or part < 0.995 else "99%"


def moment(at: datetime | str | None) -> str:
    """A time, or the text of one from the API."""
    if isinstance(at, str):
        at = datetime.fromisoformat(at)
    return "" if at is None else f"{at:%Y-%m-%d %H:%M:%S}"


def local_moment(at: str, zone: str) -> str:
    """A time of the API in a time zone, with its difference to UTC."""
    return datetime.fromisoformat(at).astimezone(ZoneInfo(zone)).isoformat(" ", "seconds")


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else str(value)
