"""Write JSON, and read strict JSON."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import orjson
from fastapi import Response

from penstock.model.errors import BadInput

Row = TypeVar("Row")
# An escaped NUL character (not an escaped backslash before `u0000`): jsonb cannot store it.
_ESCAPED_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")

# A profile of 2,000 columns with all possible options has 14,000 values.
MOST_VALUES = 20_000


def answer(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    body = orjson.dumps(value, option=orjson.OPT_UTC_Z)
    return Response(body, status, headers, media_type="application/json")


async def shaped(rows: Sequence[Row], shape: Callable[[Row], Any], at_once: int = 100) -> list[Any]:
    """Rows of a long list as they are shown. Other requests run in between."""
    shown: list[Any] = []
    for first in range(0, len(rows), at_once):
        if first:
            await asyncio.sleep(0)
        shown += map(shape, rows[first : first + at_once])
    return shown


def stored(text: str | None) -> orjson.Fragment | None:
    """JSON from the database, passed on without parsing."""
    return None if text is None else orjson.Fragment(text)


def strict_json(raw: bytes, what: str) -> Any:
    """Parse JSON without ambiguity: no NaN, infinity, NUL, lone surrogate or duplicate key, no
    number that would be rounded, and no excessive nesting."""
    try:
        # Serialised again: the limit of the serialiser on nesting is the lower one.
        found = orjson.loads(raw)
        _check_size(found, what)
        orjson.dumps([[found]])
        if _ESCAPED_NUL.search(raw):
            raise ValueError("a text holds the character NUL")
        return json.loads(raw, object_pairs_hook=_each_key_once, parse_int=_whole_number)
    except (ValueError, TypeError) as error:
        raise BadInput("INVALID_JSON", f"{what} is not valid JSON: {error}.") from error


def _check_size(value: Any, what: str) -> None:
    """Limits the cost of the following steps, whatever the body contains."""
    count, open_values = 1, [value]
    while open_values:
        one = open_values.pop()
        parts = one.values() if isinstance(one, dict) else one
        count += len(one) if isinstance(one, dict | list) else 0
        if count > MOST_VALUES:
            raise BadInput("INVALID_JSON", f"{what} holds more than {MOST_VALUES:,} values.")
        if isinstance(one, dict | list):
            open_values += [part for part in parts if isinstance(part, dict | list)]


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made:
            raise ValueError(f"the key {key[:100]!r} is there twice")
        made[key] = value
    return made


def _whole_number(digits: str) -> int:
    number = int(digits)
    if not -(2**63) <= number < 2**64:
        raise ValueError("a number is larger than 64 bits")
    return number
