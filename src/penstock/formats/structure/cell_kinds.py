"""The apparent kind of a cell: number, date, code and so on. Used to detect dialects and
headers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

EMPTY, NUMBER, DATE, BOOL, LINK, CODE, TEXT = "e", "n", "d", "b", "u", "c", "t"
# Kinds that header cells seldom have.
TYPED = frozenset({NUMBER, DATE, BOOL, LINK})

_MAX_LENGTH = 80
_MONTH = r"(?:jan|feb|m[aä]r|mrz|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[czs])[a-zéûä]*\.?"
_SIGN = r"[-+−(]?\s?"
_MONEY = r"(?:[€$£¥₹₽¢]|(?-i:[A-Z]{3}|[A-Z]{1,2}\$|Fr\.?|Rs\.?|R\$)|zł|Kč|kr\.?)"
_UNIT = rf"(?:{_MONEY}|[a-z]{{1,3}}\.?|руб\.?|%|‰|[”\"'°])"
_DIGITS = (
    r"(?:\d{1,3}(?:[.,'’\s\u00a0\u202f]\d{3})+(?:[.,]\d+)?|\d{1,2}(?:,\d\d)+,\d{3}(?:\.\d+)?"
    r"|\d+(?:[.,]\d*)?|[.,]\d+)"
)
_PATTERN = re.compile(
    rf"""
    (?P<e>[\s\u00a0]*|-+|\.|\*+|n/?a|nan|null|none|nil|\#n/a|\\n|k\.\s?a\.|[?])
    |(?P<b>true|false|yes|no|ja|nein|oui|non|wahr|falsch|vrai|faux|s[ií]|on|off|y|n|t|f|x)
    |(?P<d>
        \d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}(?:[T\s]\s?\d{{1,2}}:\d\d.{{0,24}})?
        |\d{{1,2}}[-/.]\s?\d{{1,2}}[-/.]\s?(?:\d{{4}}|\d\d)(?:,?\s\d{{1,2}}:\d\d.{{0,12}})?
        |\d{{1,2}}:\d\d(?::\d\d(?:[.,]\d+)?)?(?:\s?[ap]\.?m\.?)?
        |(?:\d{{1,2}}(?:st|nd|rd|th)?[-.\s]{{1,2}})?{_MONTH}[-,.\s]{{1,2}}(?:\d{{1,2}},?\s)?\d{{2,4}}
        |\d{{4}}年\d{{1,2}}月\d{{1,2}}日
      )
    |(?P<n>\#(?:div/0!|ref!|name\?|value!|null!|num!|spill!|calc!)
        |{_SIGN}(?:{_MONEY}\s?)?{_SIGN}{_DIGITS}(?:e[-+]?\d+)?
        \s?{_UNIT}?\)?-?)
    |(?P<u>(?:https?|ftps?)://\S+|www\.\S+|//\S+\.\S+|[^@\s]+@[^@\s]+\.[a-z]{{2,}})
    |(?P<c>(?=[^\s]*\d)[\w./#*+-]+)
    """,
    re.IGNORECASE | re.VERBOSE,
)


@lru_cache(maxsize=20_000)
def kind_of(cell: str) -> str:
    """The kind of a cell as one letter; anything else is text."""
    if len(cell) > _MAX_LENGTH:
        return LINK if cell.startswith(("http://", "https://")) else TEXT
    match = _PATTERN.fullmatch(cell.strip())
    return (match.lastgroup if match else None) or TEXT


def is_blank(row: Sequence[str]) -> bool:
    return not any(cell and not cell.isspace() for cell in row)


def filled(row: Sequence[str]) -> int:
    return sum(1 for cell in row if cell and not cell.isspace())


def unique_names(cells: Sequence[str]) -> list[str]:
    """Column names, numbered where they repeat."""
    names: dict[str, None] = {}
    for number, cell in enumerate(cells, start=1):
        wanted = cell.strip() or f"Column {number}"
        name, copy = wanted, 1
        while name in names:
            copy += 1
            name = f"{wanted} ({copy})"
        names[name] = None
    return list(names)
