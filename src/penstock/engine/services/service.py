"""Background services, run by the leader once for the whole installation.

A service is a frozen Config, a name, an interval and `run_once`, which must be safe to run twice:
for a moment after a takeover two processes may both lead.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from penstock.engine.runtime import Runtime
from penstock.engine.settle import TRANSIENT_DB_ERRORS
from penstock.model.cancellation import is_cancelled
from penstock.model.ports import Service


async def run_service(
    runtime: Runtime, service: Service, *, may_run: Callable[[], bool] = lambda: True
) -> None:
    """Run the service again and again until cancelled. An error never ends it."""
    misses = 0
    while not is_cancelled():
        if may_run():
            try:
                await service.run_once()
                misses = 0
            except TRANSIENT_DB_ERRORS as error:
                misses += 1
                if misses == 1:
                    runtime.log.warning(
                        "service will be retried", service=service.name, error=repr(error)
                    )
            except Exception as error:
                runtime.log.error(
                    "service failed", service=service.name, error=repr(error), exc_info=True
                )
        spread = 0.5 + runtime.chance.random()
        await asyncio.sleep(service.every_ms / 1000 * spread)
