"""Whether one has been told to end."""

from __future__ import annotations

import asyncio


def is_cancelled() -> bool:
    """True for a task that was cancelled, also where the error of a cleanup took the place of the
    cancellation: whoever tries again after errors must ask, or never ends."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
