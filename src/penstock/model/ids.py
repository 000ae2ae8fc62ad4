"""Unique identifiers that sort by creation time."""

from __future__ import annotations

import os
import time
from datetime import datetime
from uuid import UUID

# All bits of an id but its time, its version (4 bits) and its variant (2 bits).
_RANDOM_BITS = ((1 << 80) - 1) & ~(0xF << 76) & ~(0x3 << 62)


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
    milliseconds = (time.time_ns() // 1_000_000 & (1 << 48) - 1) << 80 | 0x7 << 76 | 0x2 << 62
    random = os.urandom(10 * count)
    places = range(0, 10 * count, 10)
    return [
        UUID(int=milliseconds | int.from_bytes(random[at : at + 10], "big") & _RANDOM_BITS)
        for at in places
    ]


def first_id_of(moment: datetime) -> UUID:
    """The lowest id of this moment: ids created then or later sort after it."""
    return UUID(int=max(0, int(moment.timestamp() * 1000)) << 80)
