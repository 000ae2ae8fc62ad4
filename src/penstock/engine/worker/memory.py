"""Memory that the process no longer uses."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache


@cache
def _trim() -> Callable[[int], int] | None:
    """The C library's own function; only glibc has it."""
    try:
        found: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):
        return None
    return found


def give_memory_back() -> None:
    """Return freed memory to the system. Buffers of broken connections and large batches leave
    holes that the C library would otherwise keep for as long as the process lives."""
    trim = _trim()
    if trim is not None:
        trim(0)
