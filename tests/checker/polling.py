"""Wait until a condition is true, within a time limit."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


async def until(
    condition: Callable[[], Awaitable[T]],
    what: str,
    *,
    timeout: float = 60,
    pause: float = 0.02,
) -> T:
    """The first true answer of the condition; fails with ``what`` after the timeout."""
    deadline = time.monotonic() + timeout
    while not (answer := await condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout:g} s: {what}")
        await asyncio.sleep(pause)
    return answer
