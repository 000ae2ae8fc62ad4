"""Limits concurrency and rate of calls to providers, by how they answer."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from penstock.guards.shared_limits import CIRCUIT_OPEN, Pass, SharedGate
from penstock.model.errors import PenstockError, RateLimited, TransientError, Waiting
from penstock.model.network.call_limits import CallBounds, CallLimit
from penstock.model.network.provider_limits import CallReport, LimitKey
from penstock.model.network.token_bucket import ThrottleStatus

# Idle domains above this number are forgotten, the oldest first.
_MAX_KNOWN = 2000
# How often the first waiting call, and the others, check whether their slice was lost.
_LOOK_SECONDS = 0.25
_GLANCE_SECONDS = 1.0


# Calls with shared limits do not wait longer than this with a slot, unless they say otherwise:
# their items are put back.
_PATIENCE_SECONDS = 1.0
_TIMEOUTS = frozenset(("API_TIMEOUT", "FETCH_TIMEOUT"))
# The return time after waiting for calls that did not end.
_COME_BACK_MS = 500.0


def _now_ms() -> float:
    return time.monotonic() * 1000


class Call:
    """Implements `model.ports.Call`. Without a report, the call counts as a success. Defaults
    belong to the class, since most calls change none of them."""

    # None: the result says nothing about the provider.
    refused: bool | None = False
    retry_after_ms: float = 0.0
    is_throttled: bool = False
    is_cancelled: bool = False
    # False: given up, so the request may still arrive.
    is_answered: bool = True
    cost: float | None = None
    bucket: ThrottleStatus | None = None
    started_ms: float = 0.0

    def throttled(self, retry_after_ms: float | None = None) -> None:
        self.refused = self.is_throttled = True
        self.retry_after_ms = max(self.retry_after_ms, retry_after_ms or 0.0)

    def costs(self, cost: float | None, bucket: ThrottleStatus | None = None) -> None:
        self.cost, self.bucket = cost, bucket

    def failed(self) -> None:
        self.refused = True

    def judge(self, error: BaseException) -> None:
        """Whether an error raised inside the call counts against the provider."""
        self.is_answered = not _gave_up(error)
        match error:
            case RateLimited():
                self.throttled(error.retry_after_ms)
            case Waiting():
                self.refused = None
            case asyncio.CancelledError():
                # By a timeout around the call, or because the worker stops.
                self.failed()
                self.is_cancelled = True
            case TransientError() | TimeoutError() | OSError():
                self.failed()
            case PenstockError():
                # The provider answered.
                pass
            case _:
                self.refused = None


def _gave_up(error: BaseException) -> bool:
    if isinstance(error, PenstockError):
        return error.code in _TIMEOUTS
    return isinstance(error, asyncio.CancelledError | TimeoutError)


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


class CallRecorder(Protocol):
    """Counts calls for operators."""

    def called(self, provider: str, seconds: float, *, throttled: bool) -> None: ...


class _RunningCall(Call):
    """The block of one call, and the call itself. Written out, since every item of a pipeline may
    enter one."""

    _passed: Pass | None = None
    # How long a call with shared limits waits with a slot; then its item is put back.
    patience_ms: float | None = None

    def __init__(
        self, line: _CallQueue, name: tuple[str, str], until: float, time_is_up: Callable[[], bool],
        gate: SharedGate | None, key: LimitKey | None, points: float, record: CallRecorder | None,
    ) -> None:  # fmt: skip
        self._line = line
        self._record = record
        self._name = name
        self._until = until
        self._time_is_up = time_is_up
        self._gate = gate if key is not None else None
        self._key = key
        self._points = points

    async def __aenter__(self) -> Call:
        line, gate = self._line, self._gate
        now = _now_ms()
        limit = line.limit
        free = not line.waiting and line.running + 1 <= limit.limit
        if free and limit.not_before <= now and not self._time_is_up():
            line.running += 1
            if limit.delay_ms:
                limit.started(now)
        else:
            await self._wait_in_line()
            now = _now_ms()
        if gate is not None:
            assert self._key is not None
            passed = gate.try_enter(self._key, self._points, now)
            if passed is None:
                passed = await self._pass(gate, self._key)
                now = _now_ms()
            self._passed = passed
        self.started_ms = now
        return self

    async def _pass(self, gate: SharedGate, key: LimitKey) -> Pass:
        """Wait for a token, which others or the provider must give."""
        line = self._line
        try:
            return await gate.enter(key, self._points, self._until, self._time_is_up)
        except BaseException as error:
            line.running -= 1
            if isinstance(error, Waiting) and error.code == CIRCUIT_OPEN:
                line.limit.circuit_opened()
            line.wake_first()
            raise

    async def _wait_in_line(self) -> None:
        until = self._until
        if self._gate is not None:
            assert self._key is not None
            self._gate.refuse_if_known(self._key)
            given = self.patience_ms
            patience = _PATIENCE_SECONDS if given is None else given / 1000
            until = min(until, time.monotonic() + patience)
        leave_at = None if self.patience_ms is None else until
        await _enter(self._line, " ".join(self._name).strip(), until, self._time_is_up, leave_at)

    async def __aexit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        line = self._line
        if error is not None and not self.refused:
            self.judge(error)
        line.running -= 1
        now = _now_ms()
        ms, refused = now - self.started_ms, self.refused
        if refused and self._is_probe and not self.is_throttled:
            # The circuit counts the failure of its probe, and decides when the next call starts.
            line.limit.circuit_opened()
        elif refused:
            line.limit.refused(now, self.started_ms, self.retry_after_ms)
        elif refused is False:
            line.limit.succeeded()
        if line.waiting:
            line.wake_first()
        if self._record is not None and refused is not None:
            self._record.called(self._name[0], ms / 1000, throttled=self.is_throttled)
        gate, passed = self._gate, self._passed
        if gate is None or passed is None:
            return
        if refused is False and self.bucket is None and passed.probe_id is None:
            assert self._key is not None
            gate.succeeded(self._key, passed, ms, now)
        else:
            await self._report(gate, passed, ms)

    @property
    def _is_probe(self) -> bool:
        return self._passed is not None and self._passed.probe_id is not None

    async def _report(self, gate: SharedGate, passed: Pass, ms: float) -> None:
        key = self._key
        assert key is not None
        if self.refused is None or self.is_cancelled:
            gate.unreported(key, passed, answered=self.is_answered)
            return
        refund = 0.0 if self.cost is None else passed.cost - self.cost
        report = CallReport(
            succeeded=not self.refused, failed=bool(self.refused and not self.is_throttled),
            throttled=self.is_throttled, retry_after_ms=self.retry_after_ms, refund=refund,
            cost_share=self.cost / self._points if self.cost and self._points else None,
            status=self.bucket,
        )  # fmt: skip
        report.add_duration(ms)
        await gate.ended(key, passed, report, self.started_ms, answered=self.is_answered)


class CallLimiter:
    """One per process. Implements `model.ports.Calls`. With a ``gate``, calls that name a key also
    keep to the limits and circuits that all workers share."""

    def __init__(
        self, bounds: CallBounds | None = None, gate: SharedGate | None = None,
        record: CallRecorder | None = None,
    ) -> None:  # fmt: skip
        self._bounds = bounds or CallBounds()
        self._record = record
        self._gate = gate
        self._lines: OrderedDict[tuple[str, str], _CallQueue] = OrderedDict()

    def call(
        self, provider: str, domain: str, *, until: float, time_is_up: Callable[[], bool],
        key: LimitKey | None = None, points: float = 0.0, patience_ms: float | None = None,
    ) -> _RunningCall:  # fmt: skip
        """Wait for a turn, not beyond ``until`` by the monotonic clock; then call inside.

        An error of the provider's that leaves this block, or a timeout, counts as a refusal."""
        line = self._line(provider, domain)
        call = _RunningCall(
            line, (provider, domain), until, time_is_up, self._gate, key, points, self._record
        )
        if patience_ms is not None:
            call.patience_ms = patience_ms
        return call

    async def close(self) -> None:
        if self._gate is not None:
            await self._gate.close()

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


async def _enter(
    line: _CallQueue, name: str, until: float, time_is_up: Callable[[], bool],
    leave_at: float | None = None,
) -> None:  # fmt: skip
    """Wait in order of arrival until the call may start. With ``leave_at`` a call gives up then,
    also if it waits for others to end."""
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
            left = None if leave_at is None else leave_at - time.monotonic()
            if left is not None and left <= 0:
                raise _later(line, name, _COME_BACK_MS)
            turn.woken = asyncio.get_running_loop().create_future()
            patience = _LOOK_SECONDS if line.waiting[0] is turn else _GLANCE_SECONDS
            patience = patience if left is None else min(patience, left)
            await asyncio.wait({turn.woken}, timeout=patience)
    finally:
        line.waiting.remove(turn)
        line.wake_first()


def _later(line: _CallQueue, name: str, least_ms: float = 0.0) -> Waiting:
    now = _now_ms()
    wait = max(least_ms, line.limit.return_at(now) - now)
    return Waiting(
        "API_RATE_LIMIT",
        f"{name} may not be called more often for now",
        retry_after_ms=max(1, round(wait)) if wait else None,
    )
