"""Unique identifiers that sort by creation time."""

from __future__ import annotations

import os
import time
from datetime import datetime
from uuid import UUID

# The bytes of an id that carry its version and its variant, for each random byte.
_VERSION = bytes(one & 0x0F | 0x70 for one in range(256))
_VARIANT = bytes(one & 0x3F | 0x80 for one in range(256))
_TIME_BYTES, _RANDOM_BYTES = 6, 10


def new_id() -> UUID:
    """A version 7 UUID: ids created together are close in an index."""
    milliseconds = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10), "big")
    value = (milliseconds & (1 << 48) - 1) << 80 | random
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return UUID(int=value)


def new_ids(count: int) -> list[UUID]:
    """Many new ids, for a fraction of the time."""
    return [UUID(bytes=one) for one in new_id_bytes(count)]


def new_id_bytes(count: int) -> list[bytes]:
    """The same as bytes: to make the objects takes longer than to choose the ids."""
    milliseconds = time.time_ns() // 1_000_000 & (1 << 48) - 1
    start = milliseconds.to_bytes(_TIME_BYTES, "big")
    random = bytearray(os.urandom(_RANDOM_BYTES * count))
    random[0::_RANDOM_BYTES] = random[0::_RANDOM_BYTES].translate(_VERSION)
    random[2::_RANDOM_BYTES] = random[2::_RANDOM_BYTES].translate(_VARIANT)
    places = range(0, len(random), _RANDOM_BYTES)
    return [start + random[at : at + _RANDOM_BYTES] for at in places]


def first_id_of(moment: datetime) -> UUID:
    """The lowest id of this moment: ids created then or later sort after it."""
    return UUID(int=max(0, int(moment.timestamp() * 1000)) << 80)
