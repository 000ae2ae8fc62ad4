"""Waiting for something to become true, never longer than told."""

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
    """What the condition answers as soon as that is true; fails with ``what`` when time is over."""
    deadline = time.monotonic() + timeout
    while not (answer := await condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout:g} s: {what}")
        await asyncio.sleep(pause)
    return answer
