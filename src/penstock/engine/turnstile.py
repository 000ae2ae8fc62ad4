"""So many at once, so many more in line, and none for longer than a while."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from penstock.model.errors import Unavailable

_RETRY_MS = 2000


class Turnstile:
    """Work inside of requests. Who would have to wait too long is sent away at once."""

    def __init__(self, at_once: int = 2, seconds: float = 20.0) -> None:
        self._at_once = at_once
        self._seconds = seconds
        self._places = asyncio.Semaphore(at_once)
        self._inside = 0

    @asynccontextmanager
    async def turn(self, code: str, what: str) -> AsyncIterator[None]:
        """``{code}_BUSY`` where too many are in line, ``{code}_TIMEOUT`` where it takes too long,
        the wait in line included."""
        if self._inside >= 4 * self._at_once:
            raise Unavailable(
                f"{code}_BUSY", f"{what}s are asked for faster than they can be made. Try again.",
                retry_after_ms=_RETRY_MS,
            )  # fmt: skip
        self._inside += 1
        try:
            async with asyncio.timeout(self._seconds), self._places:
                yield
        except TimeoutError:
            raise Unavailable(
                f"{code}_TIMEOUT", f"{what} took longer than {self._seconds:g} s. Submit the job "
                "itself: with the intent `check` it writes nothing either.",
            ) from None  # fmt: skip
        finally:
            self._inside -= 1
