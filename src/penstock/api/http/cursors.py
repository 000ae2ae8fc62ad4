"""Opaque places in a list: where a page ended, signed, and bound to the list it was a page of."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from contextvars import ContextVar
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from fastapi import Request

from penstock.model.errors import BadInput
from penstock.store import orphans

_LONGEST = 512
_SIGNATURE = 16
MOST_ROWS = 2**31 - 1
# The installation's, the same in all its processes; whoever answers a request has it at hand.
signing_key: ContextVar[bytes] = ContextVar("signing_key")


async def signing(request: Request) -> None:
    """A dependency of every route that may answer a page; asks the database once per process."""
    state = request.app.state
    if not hasattr(state, "signing_key"):
        async with state.api.runtime.db.acquire() as conn:
            state.signing_key = await orphans.signing_key(conn)
    signing_key.set(state.signing_key)


def to_cursor(list_of: str, *place: Any) -> str:
    """``list_of`` says which list it is: the route, the job, the filters, the order."""
    raw = orjson.dumps(place)
    return base64.urlsafe_b64encode(_signature(list_of, raw) + raw).rstrip(b"=").decode()


def from_cursor(text: str, list_of: str, *kinds: type) -> list[Any]:
    """The place, each part of its kind. What we did not sign is not even read."""
    if len(text) > _LONGEST:
        raise _invalid()
    try:
        padded = text.encode("ascii") + b"=" * (-len(text) % 4)
        both = base64.b64decode(padded, altchars=b"-_", validate=True)
    except (ValueError, binascii.Error) as error:
        raise _invalid() from error
    signature, raw = both[:_SIGNATURE], both[_SIGNATURE:]
    if not hmac.compare_digest(signature, _signature(list_of, raw)):
        raise _invalid()
    found = orjson.loads(raw)
    if len(found) != len(kinds):
        raise _invalid()
    return [_read(part, kind) for part, kind in zip(found, kinds, strict=True)]


def _signature(list_of: str, raw: bytes) -> bytes:
    told = list_of.encode() + b"\0" + raw
    return hmac.digest(signing_key.get(), told, hashlib.sha256)[:_SIGNATURE]


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


def _invalid() -> BadInput:
    return BadInput(
        "INVALID_CURSOR", "`after` is not a cursor of this list. Take it from `next`, unchanged."
    )
