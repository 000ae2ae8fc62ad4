"""Try a request again at once, before the item is retried.

Shops fail for a moment all the time: a second try a moment later saves the item its wait of five
seconds. Only requests that read are tried again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from penstock.model.errors import RateLimited, Unavailable
from penstock.model.ports import Context

T = TypeVar("T")
_PAUSES_MS = (200, 800)
# The provider had its time; another try would take as long again.
_TIMEOUTS = frozenset(("API_TIMEOUT", "FETCH_TIMEOUT"))


async def soon_again(work: Callable[[], Awaitable[T]], ctx: Context) -> T:
    for pause in _PAUSES_MS:
        try:
            return await work()
        except (RateLimited, Unavailable) as error:
            wait = max(pause, error.retry_after_ms or 0)
            if error.code in _TIMEOUTS or wait > 2 * _PAUSES_MS[-1] or ctx.time_is_up():
                raise
        await asyncio.sleep(wait / 1000)
    return await work()
