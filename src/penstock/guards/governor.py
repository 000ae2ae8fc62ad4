"""Calls to providers, no more at once and no closer together than they bear."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from penstock.model.errors import PenstockError, RateLimited, TransientError, Waiting
from penstock.model.network.governor import CallBounds, CallLimit

# Domains come and go by the thousand; those nobody calls are forgotten, oldest first.
_MAX_KNOWN = 2000
# How often the first in line looks whether its slice was lost meanwhile, and how often the others.
_LOOK_SECONDS = 0.25
_GLANCE_SECONDS = 1.0


def _now_ms() -> float:
    return time.monotonic() * 1000


@dataclass(slots=True)
class Call:
    """Implements `model.ports.Call`. One that says nothing went well."""

    started_ms: float
    # None: nothing can be told from it.
    refused: bool | None = False
    retry_after_ms: float = 0.0

    def throttled(self, retry_after_ms: float | None = None) -> None:
        self.refused = True
        self.retry_after_ms = max(self.retry_after_ms, retry_after_ms or 0.0)

    def failed(self) -> None:
        self.refused = True

    def judge(self, error: BaseException) -> None:
        """What an error that left the call says of the provider."""
        match error:
            case RateLimited():
                self.throttled(error.retry_after_ms)
            case Waiting():
                self.refused = None
            case TransientError() | TimeoutError() | OSError() | asyncio.CancelledError():
                # Cancelled by a time limit around it: there was no answer.
                self.failed()
            case PenstockError():
                # An answer, if not the one hoped for.
                pass
            case _:
                self.refused = None


@dataclass(eq=False, slots=True)
class _Turn:
    """One who waits; ``woken`` while asleep."""

    woken: asyncio.Future[None] | None = None


@dataclass(slots=True)
class _Line:
    """Those who call one provider and domain, and those who wait for it, first come first."""

    limit: CallLimit
    running: int = 0
    waiting: deque[_Turn] = field(default_factory=deque)

    @property
    def idle(self) -> bool:
        return not self.running and not self.waiting

    def wake_first(self) -> None:
        first = self.waiting[0].woken if self.waiting else None
        if first is not None and not first.done():
            first.set_result(None)


class Governor:
    """One per process. Implements `model.ports.Calls`."""

    def __init__(self, bounds: CallBounds | None = None) -> None:
        self._bounds = bounds or CallBounds()
        self._lines: OrderedDict[tuple[str, str], _Line] = OrderedDict()

    @asynccontextmanager
    async def call(
        self, provider: str, domain: str, *, until: float, time_is_up: Callable[[], bool]
    ) -> AsyncIterator[Call]:
        """Wait for a turn, not beyond ``until`` by the monotonic clock; then call inside.

        An error of the provider's that leaves this block, or a timeout, counts as a refusal."""
        line = self._line(provider, domain)
        await _enter(line, f"{provider} {domain}".strip(), until, time_is_up)
        call = Call(_now_ms())
        try:
            yield call
        except BaseException as error:
            if not call.refused:
                call.judge(error)
            raise
        finally:
            line.running -= 1
            if call.refused:
                line.limit.refused(_now_ms(), call.started_ms, call.retry_after_ms)
            elif call.refused is False:
                line.limit.succeeded()
            line.wake_first()

    def limits(self) -> Mapping[tuple[str, str], CallLimit]:
        """What has been learnt, by provider and domain."""
        return {key: line.limit for key, line in list(self._lines.items())}

    def _line(self, provider: str, domain: str) -> _Line:
        key = (provider, domain)
        line = self._lines.get(key)
        if line is None:
            self._forget_idle()
            line = self._lines[key] = _Line(CallLimit(self._bounds))
        self._lines.move_to_end(key)
        return line

    def _forget_idle(self) -> None:
        if len(self._lines) < _MAX_KNOWN:
            return
        idle = [key for key, line in self._lines.items() if line.idle]
        for key in idle[: max(1, len(self._lines) - _MAX_KNOWN + 1)]:
            del self._lines[key]


async def _enter(line: _Line, name: str, until: float, time_is_up: Callable[[], bool]) -> None:
    """Take a place among those who call, in turn."""
    turn = _Turn()
    line.waiting.append(turn)
    try:
        while True:
            if time_is_up():
                raise _later(line, name)
            if line.waiting[0] is turn and line.running < line.limit.most_at_once:
                pause = (line.limit.not_before - _now_ms()) / 1000
                if pause <= 0:
                    line.running += 1
                    line.limit.started(_now_ms())
                    return
                if time.monotonic() + pause > until:
                    # Known now already: nobody is served by waiting for it here.
                    raise _later(line, name)
                await asyncio.sleep(min(pause, _LOOK_SECONDS))
                continue
            turn.woken = asyncio.get_running_loop().create_future()
            patience = _LOOK_SECONDS if line.waiting[0] is turn else _GLANCE_SECONDS
            await asyncio.wait({turn.woken}, timeout=patience)
    finally:
        line.waiting.remove(turn)
        line.wake_first()


def _later(line: _Line, name: str) -> Waiting:
    wait = max(0.0, line.limit.not_before - _now_ms())
    return Waiting(
        "API_RATE_LIMIT",
        f"{name} is called no more often for now",
        retry_after_ms=max(1, round(wait)) if wait else None,
    )
