"""Signed, opaque cursors: where a page ended, valid only for the list that it belongs to."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Sequence
from contextvars import ContextVar
from datetime import datetime
from typing import Any, Protocol, TypeVar
from uuid import UUID

import orjson
from fastapi import Request

from penstock.model.errors import BadInput
from penstock.store import orphans

_LONGEST = 512
_SIGNATURE = 16
MOST_ROWS = 2**31 - 1
# The key of the installation, the same in all its processes; set for each request.
signing_key: ContextVar[bytes] = ContextVar("signing_key")


async def signing(request: Request) -> None:
    """A dependency of every route that may return a page; reads the key once per process."""
    state = request.app.state
    if not hasattr(state, "signing_key"):
        async with state.api.runtime.db.acquire() as conn:
            state.signing_key = await orphans.signing_key(conn)
    signing_key.set(state.signing_key)


def to_cursor(list_of: str, *place: Any) -> str:
    """``list_of`` identifies the list: route, job, filters and order."""
    raw = orjson.dumps(place)
    return base64.urlsafe_b64encode(_signature(list_of, raw) + raw).rstrip(b"=").decode()


class _HasId(Protocol):
    @property
    def id(self) -> UUID: ...


_Entry = TypeVar("_Entry", bound=_HasId)


def cut_page(
    list_of: str, found: Sequence[_Entry], size: int
) -> tuple[Sequence[_Entry], str | None]:
    """The page and the cursor after it; ``found`` has one more than the page if there are more."""
    page = found[:size]
    return page, to_cursor(list_of, str(page[-1].id)) if len(found) > len(page) else None


def from_cursor(text: str, list_of: str, *kinds: type) -> list[Any]:
    """The parts of a cursor, each with its type. A cursor with a wrong signature is not parsed."""
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
            # Without its time zone, a time in a distant year may exceed the range of the database.
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
