"""Named SQL statements, read once from `sql/*/*.sql`."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
_names: dict[str, str] = {}


class Queries:
    """The statements of one file as attributes; an unknown name raises."""

    def __init__(self, family: str, statements: dict[str, str]) -> None:
        self._family = family
        self._statements = statements

    def __getattr__(self, name: str) -> str:
        try:
            return self._statements[name]
        except KeyError:
            raise AttributeError(f"no statement {name!r} in sql/{self._family}.sql") from None

    def names(self) -> list[str]:
        return sorted(self._statements)


def name_of(statement: str) -> str:
    """The name of a statement; those of the driver and of transactions have none."""
    return _names.get(statement, "unnamed")


@cache
def _files() -> dict[str, Traversable]:
    rooms = resources.files("penstock.store").joinpath("sql").iterdir()
    return {file.name: file for room in rooms if room.is_dir() for file in room.iterdir()}


@cache
def load(family: str) -> Queries:
    text = _files()[f"{family}.sql"].read_text("utf-8")
    parts = _NAME.split(text)
    pairs = zip(parts[1::2], parts[2::2], strict=True)
    statements = {name: body.strip() for name, body in pairs}
    _names.update({body: f"{family}.{name}" for name, body in statements.items()})
    return Queries(family, statements)
