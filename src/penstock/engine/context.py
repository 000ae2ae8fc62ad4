"""What stages may use: implements the `Context` port."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

from penstock.engine.runtime import Runtime
from penstock.model.network.provider_limits import LimitKey
from penstock.model.network.token_bucket import Rate
from penstock.model.ports import Blobs, Call, Calls, Children, Fetchers, Log, P


@dataclass(slots=True)
class StopSign:
    """Tells a slice to stop: its lease was lost, the worker shuts down, or its time is over."""

    reason: str | None = None
    # Results can no longer be written.
    lost: bool = False
    raised_at: float = 0.0

    def set(self, reason: str, *, lost: bool = False) -> None:
        if self.reason is None:
            self.reason = reason
        if lost and not self.lost:
            self.raised_at = time.monotonic()
            self.lost = True


@dataclass(slots=True)
class StageContext:
    """Implements `model.ports.Context`."""

    log: Log
    blobs: Blobs
    children: Children
    ports: Mapping[type, Any]
    fetchers: Fetchers
    item_timeout_ms: int
    limits: Mapping[str, int]
    stop: StopSign
    deadline: float
    call_limits: Calls
    org_id: int = 0
    batch_rows: int = 64
    # Most calls of a slice have the key of the call before.
    last_key: LimitKey | None = None

    def port(self, kind: type[P]) -> P:
        try:
            found: P = self.ports[kind]
        except KeyError:
            raise LookupError(f"This installation has no {kind.__name__}") from None
        return found

    def time_is_up(self) -> bool:
        return self.stop.reason is not None or time.monotonic() >= self.deadline

    def _key(self, provider: str, company: str, domain: str, rate: Rate | None) -> LimitKey:
        last = self.last_key
        if last is None or last[1:] != (provider, company, domain, rate):
            last = self.last_key = LimitKey(self.org_id, provider, company, domain, rate)
        return last

    def calls(
        self,
        provider: str,
        domain: str = "",
        *,
        company: str | None = None,
        cost: float = 0.0,
        rate: Rate | None = None,
        patience_ms: float | None = None,
    ) -> AbstractAsyncContextManager[Call]:
        key = None if company is None else self._key(provider, company, domain, rate)
        return self.call_limits.call(
            provider, domain, until=self.deadline, time_is_up=self.time_is_up, key=key,
            points=cost, patience_ms=patience_ms,
        )  # fmt: skip


@dataclass(slots=True)
class Timer:
    started: float = field(default_factory=time.monotonic)
    _cpu: float = field(default_factory=time.process_time)

    @property
    def ms(self) -> float:
        return (time.monotonic() - self.started) * 1000

    @property
    def waited_ms(self) -> float:
        """The part of the time that this process did not spend computing."""
        return max(0.0, self.ms - (time.process_time() - self._cpu) * 1000)


def stage_context(
    runtime: Runtime, stop: StopSign, seconds: float, log: Log, org_id: int = 0
) -> StageContext:
    settings = runtime.settings
    return StageContext(
        log=log,
        blobs=runtime.blobs,
        children=runtime.children,
        ports=runtime.ports,
        fetchers=runtime.fetchers,
        item_timeout_ms=settings.item_timeout_ms,
        limits={
            "batch_bytes": settings.ingest_max_batch_bytes,
            "webhook_ms": settings.webhook_timeout_ms,
            **settings.reading_limits,
        },
        stop=stop,
        deadline=time.monotonic() + seconds,
        call_limits=runtime.calls,
        org_id=org_id,
        batch_rows=settings.ingest_min_rows,
    )
