"""Unique identifiers that sort by creation time."""

from __future__ import annotations

import os
import time
from datetime import datetime
from uuid import UUID

# The byte of an id that carries its variant, for each random byte.
_VARIANT = bytes(one & 0x3F | 0x80 for one in range(256))
_RANDOM_BYTES = 8
_VERSION = 0x7 << 12


def _time_part() -> int:
    """The upper half of a version 7 UUID: milliseconds, then the fraction of the millisecond.

    With random bits in place of the fraction, ids of the same millisecond would sort at random,
    and with them lists that show what was created first.
    """
    milliseconds, rest = divmod(time.time_ns(), 1_000_000)
    return (milliseconds & (1 << 48) - 1) << 16 | _VERSION | (rest << 12) // 1_000_000


def new_id() -> UUID:
    """A version 7 UUID: ids created together are close in an index."""
    random = int.from_bytes(os.urandom(_RANDOM_BYTES), "big")
    return UUID(int=_time_part() << 64 | 0x2 << 62 | random >> 2)


def new_ids(count: int) -> list[UUID]:
    """Many new ids, for a fraction of the time."""
    return [UUID(bytes=one) for one in new_id_bytes(count)]


def new_id_bytes(count: int) -> list[bytes]:
    """The same as bytes: to make the objects takes longer than to choose the ids."""
    start = _time_part().to_bytes(16 - _RANDOM_BYTES, "big")
    random = bytearray(os.urandom(_RANDOM_BYTES * count))
    random[0::_RANDOM_BYTES] = random[0::_RANDOM_BYTES].translate(_VARIANT)
    places = range(0, len(random), _RANDOM_BYTES)
    return [start + random[at : at + _RANDOM_BYTES] for at in places]


def first_id_of(moment: datetime) -> UUID:
    """The lowest id of this moment: ids created then or later sort after it."""
    return UUID(int=max(0, int(moment.timestamp() * 1000)) << 80)
