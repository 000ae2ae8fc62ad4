"""Opaque places in a list: where a page ended, bound to the list it was a page of."""

from __future__ import annotations

import base64
import binascii
import hashlib
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from penstock.model.errors import BadInput

_LONGEST = 512
MOST_ROWS = 2**31 - 1


def to_cursor(list_of: str, *place: Any) -> str:
    """``list_of`` says which list it is: the route, the job, the filters, the order."""
    raw = orjson.dumps([_mark(list_of), *place])
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def from_cursor(text: str, list_of: str, *kinds: type) -> list[Any]:
    """The place, each part of its kind; anything else is refused, whoever made it."""
    if len(text) > _LONGEST:
        raise _invalid()
    try:
        padded = text.encode("ascii") + b"=" * (-len(text) % 4)
        found = orjson.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (ValueError, binascii.Error) as error:
        raise _invalid() from error
    if not isinstance(found, list) or len(found) != len(kinds) + 1 or found[0] != _mark(list_of):
        raise _invalid()
    return [_read(part, kind) for part, kind in zip(found[1:], kinds, strict=True)]


def _read(part: Any, kind: type) -> Any:
    try:
        if kind is int and type(part) is int and 0 <= part <= MOST_ROWS:
            return part
        if kind is datetime and isinstance(part, str):
            moment = datetime.fromisoformat(part)
            # Far years pass the bounds of the database once the zone is taken off.
            if moment.tzinfo is not None and 1970 <= moment.year < 9999:
                return moment
        if kind is str and isinstance(part, str) and "\0" not in part:
            return part
        if kind is UUID and isinstance(part, str):
            return UUID(part)
    except ValueError as error:
        raise _invalid() from error
    raise _invalid()


def _mark(list_of: str) -> str:
    return hashlib.sha256(list_of.encode()).hexdigest()[:12]


def _invalid() -> BadInput:
    return BadInput(
        "INVALID_CURSOR", "`after` is not a cursor of this list. Take it from `next`, unchanged."
    )
