"""Named SQL statements, read once from `sql/*.sql`."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


class Queries:
    """The statements of one file as attributes; an unknown name fails loudly."""

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


@cache
def load(family: str) -> Queries:
    text = resources.files("penstock.store").joinpath(f"sql/{family}.sql").read_text("utf-8")
    parts = _NAME.split(text)
    pairs = zip(parts[1::2], parts[2::2], strict=True)
    return Queries(family, {name: body.strip() for name, body in pairs})
