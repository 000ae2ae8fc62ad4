"""Work beside the way, done once for the whole installation by whoever leads.

A service is a frozen Config, a name, a pause and `run_once`. Everything it does must be safe when
done twice: for a moment after a takeover two processes may believe that they lead.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from penstock.engine.backpressure import QueueWatch
from penstock.engine.bulk_service import BulkService
from penstock.engine.clock import ClockWatch
from penstock.engine.outbox import Outbox
from penstock.engine.parts import Parts
from penstock.engine.recall import CacheRetention
from penstock.engine.reconcile import Reconciler
from penstock.engine.retention import AuditRetention, LetterRetention
from penstock.engine.settle import TRY_AGAIN
from penstock.engine.sweep import Sweeper
from penstock.engine.tidy import Tidier
from penstock.engine.webhook_keeper import WebhookKeeper
from penstock.model.cancelling import is_cancelled


class Service(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def every_ms(self) -> int: ...

    async def run_once(self) -> object: ...


def background_services(parts: Parts) -> Sequence[Service]:
    """Everything the leader runs."""
    return [
        ClockWatch(parts),
        Sweeper(parts),
        Reconciler(parts),
        Tidier(parts),
        QueueWatch(parts),
        LetterRetention(parts),
        AuditRetention(parts),
        BulkService(parts),
        CacheRetention(parts),
        Outbox(parts),
        WebhookKeeper(parts),
    ]


async def run_service(
    parts: Parts, service: Service, *, may_run: Callable[[], bool] = lambda: True
) -> None:
    """Until cancelled: a bug met once must not leave the installation without the service."""
    misses = 0
    while not is_cancelled():
        if may_run():
            try:
                await service.run_once()
                misses = 0
            except TRY_AGAIN as error:
                misses += 1
                if misses == 1:
                    parts.log.warning(
                        "service will be tried again", service=service.name, error=repr(error)
                    )
            except Exception as error:
                parts.log.error(
                    "service failed", service=service.name, error=repr(error), exc_info=True
                )
        spread = 0.5 + parts.chance.random()
        await asyncio.sleep(service.every_ms / 1000 * spread)
