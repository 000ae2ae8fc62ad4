"""Detect that the current task was cancelled."""

from __future__ import annotations

import asyncio


def is_cancelled() -> bool:
    """True for a cancelled task, even if an error during cleanup replaced the CancelledError. Loops
    that retry after errors must check this, or they never end."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
