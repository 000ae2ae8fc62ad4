"""JSON out, strict JSON in."""

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
# A NUL written as an escape, and not as the text of one: PostgreSQL's jsonb cannot hold it.
_ESCAPED_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")

# A profile of 2,000 columns with all that can be said of each has 14,000.
MOST_VALUES = 20_000


def answer(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    body = orjson.dumps(value, option=orjson.OPT_UTC_Z)
    return Response(body, status, headers, media_type="application/json")


async def shaped(rows: Sequence[Row], shape: Callable[[Row], Any], at_once: int = 100) -> list[Any]:
    """Rows of a long list as they are shown; other requests go on in between."""
    shown: list[Any] = []
    for first in range(0, len(rows), at_once):
        if first:
            await asyncio.sleep(0)
        shown += map(shape, rows[first : first + at_once])
    return shown


def stored(text: str | None) -> orjson.Fragment | None:
    """JSON from the database, passed on without being read."""
    return None if text is None else orjson.Fragment(text)


def strict_json(raw: bytes, what: str) -> Any:
    """JSON that means one thing only: no NaN, infinity, NUL, lone surrogate or doubled key, no
    number that would be rounded on its way, and no nesting that only serves to harm."""
    try:
        # Written again, with room around it: the writer's bound on nesting is the lower one.
        found = orjson.loads(raw)
        _check_size(found, what)
        orjson.dumps([[found]])
        if _ESCAPED_NUL.search(raw):
            raise ValueError("a text holds the character NUL")
        return json.loads(raw, object_pairs_hook=_each_key_once, parse_int=_whole_number)
    except (ValueError, TypeError) as error:
        raise BadInput("INVALID_JSON", f"{what} is not valid JSON: {error}.") from error


def _check_size(value: Any, what: str) -> None:
    """Bounds what the steps after this one cost, whatever a body is made of."""
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
