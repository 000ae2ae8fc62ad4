"""Limits concurrency and rate of calls to providers, by how they answer."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from penstock.model.errors import PenstockError, RateLimited, TransientError, Waiting
from penstock.model.network.call_limits import CallBounds, CallLimit

# Idle domains above this number are forgotten, the oldest first.
_MAX_KNOWN = 2000
# How often the first waiting call, and the others, check whether their slice was lost.
_LOOK_SECONDS = 0.25
_GLANCE_SECONDS = 1.0


def _now_ms() -> float:
    return time.monotonic() * 1000


@dataclass(slots=True)
class Call:
    """Implements `model.ports.Call`. Without a report, the call counts as a success."""

    started_ms: float
    # None: the result says nothing about the provider.
    refused: bool | None = False
    retry_after_ms: float = 0.0

    def throttled(self, retry_after_ms: float | None = None) -> None:
        self.refused = True
        self.retry_after_ms = max(self.retry_after_ms, retry_after_ms or 0.0)

    def failed(self) -> None:
        self.refused = True

    def judge(self, error: BaseException) -> None:
        """Whether an error raised inside the call counts against the provider."""
        match error:
            case RateLimited():
                self.throttled(error.retry_after_ms)
            case Waiting():
                self.refused = None
            case TransientError() | TimeoutError() | OSError() | asyncio.CancelledError():
                # Cancelled by a timeout around the call: there was no answer.
                self.failed()
            case PenstockError():
                # The provider answered.
                pass
            case _:
                self.refused = None


@dataclass(eq=False, slots=True)
class _Waiter:
    """One waiting call."""

    woken: asyncio.Future[None] | None = None


@dataclass(slots=True)
class _CallQueue:
    """Running and waiting calls of one provider and domain, in order of arrival."""

    limit: CallLimit
    running: int = 0
    waiting: deque[_Waiter] = field(default_factory=deque)

    @property
    def idle(self) -> bool:
        return not self.running and not self.waiting

    def wake_first(self) -> None:
        first = self.waiting[0].woken if self.waiting else None
        if first is not None and not first.done():
            first.set_result(None)


class CallLimiter:
    """One per process. Implements `model.ports.Calls`."""

    def __init__(self, bounds: CallBounds | None = None) -> None:
        self._bounds = bounds or CallBounds()
        self._lines: OrderedDict[tuple[str, str], _CallQueue] = OrderedDict()

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
        """The current limits by provider and domain."""
        return {key: line.limit for key, line in list(self._lines.items())}

    def _line(self, provider: str, domain: str) -> _CallQueue:
        key = (provider, domain)
        line = self._lines.get(key)
        if line is None:
            self._drop_idle()
            line = self._lines[key] = _CallQueue(CallLimit(self._bounds))
        self._lines.move_to_end(key)
        return line

    def _drop_idle(self) -> None:
        if len(self._lines) < _MAX_KNOWN:
            return
        idle = [key for key, line in self._lines.items() if line.idle]
        for key in idle[: max(1, len(self._lines) - _MAX_KNOWN + 1)]:
            del self._lines[key]


async def _enter(line: _CallQueue, name: str, until: float, time_is_up: Callable[[], bool]) -> None:
    """Wait in order of arrival until the call may start."""
    turn = _Waiter()
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
                    # The wait would outlast the slice, so it is not started.
                    raise _later(line, name)
                await asyncio.sleep(min(pause, _LOOK_SECONDS))
                continue
            turn.woken = asyncio.get_running_loop().create_future()
            patience = _LOOK_SECONDS if line.waiting[0] is turn else _GLANCE_SECONDS
            await asyncio.wait({turn.woken}, timeout=patience)
    finally:
        line.waiting.remove(turn)
        line.wake_first()


def _later(line: _CallQueue, name: str) -> Waiting:
    wait = max(0.0, line.limit.not_before - _now_ms())
    return Waiting(
        "API_RATE_LIMIT",
        f"{name} may not be called more often for now",
        retry_after_ms=max(1, round(wait)) if wait else None,
    )
