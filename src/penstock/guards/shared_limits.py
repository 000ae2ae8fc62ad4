"""Tokens and circuits that all workers share, as one process uses them.

Tokens are taken in batches: one query serves all calls that wait at that moment, and those that are
expected within `HOLD_MS`. Tokens that stay unused for that long are put back. Results are reported
in batches too, except refusals, and failures that may be those of a server that is down.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from penstock.model.errors import Waiting
from penstock.model.network.provider_limits import CallReport, LimitKey, Permit
from penstock.model.network.token_bucket import HOLD_MS
from penstock.model.ports import Log, SharedLimits

# A shorter wait is not worth putting the item back.
_SHORT_WAIT_MS = 100.0
# How long results of calls may wait for their report. A bucket that is nearly full is not filled
# until they are reported; one that is far from full loses nothing.
_REPORT_MS = 100.0
_LATE_REPORT_MS = 3000.0
# How long tokens that were taken in advance may stay here.
_HELD_MS = 500.0
# A request without an answer may still arrive at a busy provider, until so long after it was given
# up: its token counts as under way until then.
_LATE_SECONDS = 10.0
# A failure so soon after a success of this process does not look like a server that is down.
_ALIVE_MS = 1000.0
# How long an open circuit is cached, since it may be reset meanwhile.
_REMEMBER_MS = 1000.0
# Idle keys above this number are forgotten, the oldest first.
_MAX_KNOWN = 2000
CIRCUIT_OPEN = "CIRCUIT_OPEN"
_MESSAGES = {
    CIRCUIT_OPEN: "{} has failed several times in a row and is not called until it is probed",
    "API_RATE_LIMIT": "{} may not be called more often for now",
}


def _now_ms() -> float:
    return time.monotonic() * 1000


@dataclass(slots=True)
class _Local:
    """What this process holds of one key."""

    tokens: float = 0.0
    cost: float = 1.0
    expires_ms: float = 0.0
    # Calls in the current and in the previous window of `HOLD_MS`, to expect the next ones.
    window_ms: float = 0.0
    used: int = 0
    used_before: int = 0
    waiting: int = 0
    # Until then the shared state needs not be asked: it has refused.
    refused_until_ms: float = 0.0
    refusal: Permit = field(default_factory=Permit)
    probe_ms: float = 0.0
    # Return times of callers that waited while one was refused, and how long they are valid.
    returns_ms: deque[float] = field(default_factory=deque)
    returns_until_ms: float = 0.0
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)
    report: CallReport = field(default_factory=CallReport)
    last_success_ms: float = 0.0
    # When a call ended last, and when the last call began whose answer reported the bucket.
    landed_ms: float = 0.0
    told_ms: float = 0.0
    # Failures since then.
    failures: int = 0
    knows_bucket: bool = False
    timer: asyncio.TimerHandle | None = None
    report_ms: float = _REPORT_MS
    # Passes without a probe are alike.
    plain: Pass | None = None

    @property
    def is_idle(self) -> bool:
        return not self.waiting and self.report.is_empty and self.timer is None

    def count_use(self, now: float) -> None:
        if now - self.window_ms > HOLD_MS:
            recent = now - self.window_ms <= 2 * HOLD_MS
            self.used_before, self.used, self.window_ms = self.used if recent else 0, 0, now
        self.used += 1


@dataclass(slots=True, eq=False)
class Pass:
    """The right to make one call now."""

    cost: float
    probe_id: str | None = None
    # What the process holds of the key, for calls that succeed.
    local: _Local | None = None


class SharedGate:
    """One per process. Gives calls their tokens, or `Waiting`."""

    def __init__(self, limits: SharedLimits, log: Log) -> None:
        self._limits = limits
        self._log = log
        self._keys: OrderedDict[LimitKey, _Local] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()

    def try_enter(self, key: LimitKey, points: float, now: float) -> Pass | None:
        """A pass from tokens that are here already; None: `enter` has to ask."""
        local = self._keys.get(key)
        if local is None or local.tokens < local.cost or now > local.expires_ms:
            return None
        if points and _cost_differs(local, points):
            return None
        local.tokens -= local.cost
        local.count_use(now)
        plain = local.plain
        if plain is None or plain.cost != local.cost:
            plain = local.plain = Pass(local.cost, None, local)
        return plain

    async def enter(
        self, key: LimitKey, points: float, until: float, time_is_up: Callable[[], bool]
    ) -> Pass:
        """Wait for a token for a short moment; a longer wait raises `Waiting`."""
        local = self._local(key)
        local.waiting += 1
        try:
            if local.waiting == 1:
                # Calls that start together are granted together.
                await asyncio.sleep(0)
            while True:
                self.refuse_if_known(key)
                async with local.asking:
                    # The one before may have brought tokens for all.
                    found = self.try_enter(key, points, _now_ms())
                    if found is not None:
                        return found
                    self.refuse_if_known(key)
                    permit = _permit_of_refusal(local) or await self._ask(key, local, points)
                if permit.tokens:
                    local.count_use(_now_ms())
                    return Pass(permit.cost, permit.probe_id, local)
                patient = time.monotonic() + permit.wait_ms / 1000 < until and not time_is_up()
                if permit.wait_ms > _SHORT_WAIT_MS or not patient:
                    raise waiting(key, permit)
                await asyncio.sleep(permit.wait_ms / 1000)
        finally:
            local.waiting -= 1

    async def _ask(self, key: LimitKey, local: _Local, points: float) -> Permit:
        now = _now_ms()
        local.report.returned += local.tokens
        local.tokens = 0.0
        expected = max(local.used, local.used_before) if now - local.window_ms < 2 * HOLD_MS else 0
        report = self._take_report(local)
        # Points are few: those that another worker's call waits for are not taken in advance.
        calls = max(1, local.waiting, 0 if points else expected)
        asked = asyncio.create_task(self._limits.admit(key, calls, points, report, local.waiting))
        try:
            permit = await asyncio.shield(asked)
        except asyncio.CancelledError:
            # What this asked for may be granted all the same.
            asked.add_done_callback(partial(self._after_cancel, key, local, report))
            raise
        except Exception:
            _put_back(local, report)
            raise
        now = _now_ms()
        local.report_ms = min(_LATE_REPORT_MS, max(_REPORT_MS, permit.full_in_ms))
        if permit.tokens:
            local.cost = permit.cost
            local.tokens = permit.tokens - permit.cost
            local.expires_ms = now + HOLD_MS
            if local.tokens:
                self._schedule(key, local)
        elif permit.code == "API_RATE_LIMIT":
            local.returns_ms = deque(now + one for one in permit.others_wait_ms)
            local.returns_until_ms = now + HOLD_MS
        elif permit.code == CIRCUIT_OPEN:
            local.refusal = permit
            local.refused_until_ms = now + min(permit.wait_ms, _REMEMBER_MS)
            local.probe_ms = now + permit.wait_ms
        return permit

    def _after_cancel(
        self, key: LimitKey, local: _Local, report: CallReport | None, asked: asyncio.Task[Permit]
    ) -> None:
        """The caller was cancelled while the shared state was asked."""
        if asked.cancelled() or asked.exception() is not None:
            _put_back(local, report)
            return
        permit = asked.result()
        if permit.tokens:
            local.report.returned += permit.tokens
            local.report.abandoned = permit.probe_id or local.report.abandoned
            self._schedule(key, local)

    def refuse_if_known(self, key: LimitKey) -> None:
        """Raise `Waiting` if the circuit is known to be open."""
        local = self._keys.get(key)
        if local is None:
            return
        now = _now_ms()
        if now < local.refused_until_ms:
            left = max(1.0, local.probe_ms - now)
            raise waiting(key, Permit(wait_ms=left, code=local.refusal.code))

    def unreported(self, key: LimitKey, passed: Pass, *, answered: bool) -> None:
        """The call has ended, and its end says nothing about the provider."""
        local = self._local(key)
        local.report.abandoned = passed.probe_id or local.report.abandoned
        self._record_end_of(key, local, passed.cost, answered=answered)
        self._schedule(key, local)

    def _record_end_of(
        self, key: LimitKey, local: _Local, tokens: float, *, answered: bool
    ) -> None:
        if answered:
            self._record_end(local, tokens)
        else:
            loop = asyncio.get_running_loop()
            loop.call_later(_LATE_SECONDS, self._record_late_end, key, tokens)

    def _record_late_end(self, key: LimitKey, tokens: float) -> None:
        local = self._local(key)
        self._record_end(local, tokens)
        self._schedule(key, local)

    @staticmethod
    def _record_end(local: _Local, tokens: float) -> None:
        local.landed_ms = _now_ms()
        local.report.add(CallReport(landed=tokens))

    def succeeded(self, key: LimitKey, passed: Pass, ms: float, now: float) -> None:
        local = passed.local or self._local(key)
        report, local.failures = local.report, 0
        report.succeeded += 1
        report.failed_before = report.failed
        report.landed += passed.cost
        report.status_is_last = False
        report.add_duration(ms)
        local.last_success_ms = local.landed_ms = now
        if local.timer is None:
            self._schedule(key, local)

    async def ended(
        self, key: LimitKey, passed: Pass, report: CallReport, started_ms: float, *, answered: bool
    ) -> None:
        """Report a call that failed, was refused, was a probe, or reported the bucket: at once
        if other processes need it."""
        local, now = self._local(key), _now_ms()
        report.landed = passed.cost if answered else 0.0
        if report.status is not None:
            report.status_is_last = local.landed_ms < started_ms
            local.told_ms = started_ms
        if answered:
            local.landed_ms = now
        else:
            self._record_end_of(key, local, passed.cost, answered=False)
        if report.succeeded:
            local.last_success_ms, local.failures = now, 0
        local.failures += report.failed
        is_alive = local.failures < 2 and now - local.last_success_ms < _ALIVE_MS
        # Other processes learn the unit of the bucket from the first answer.
        is_news = report.status is not None and not local.knows_bucket
        local.knows_bucket = local.knows_bucket or is_news
        if passed.probe_id is not None:
            report.probe_id, report.status_age_ms = passed.probe_id, now - started_ms
            await asyncio.shield(self._report(key, report))
            if not report.failed:
                local.refused_until_ms = 0.0
            return
        local.report.add(report)
        if is_alive and not (is_news or report.throttled):
            self._schedule(key, local)
        else:
            await asyncio.shield(self._flush(key, local))

    def _schedule(self, key: LimitKey, local: _Local) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time() + min(local.report_ms, _HELD_MS if local.tokens else math.inf) / 1000
        if local.timer is not None:
            if local.timer.when() <= due:
                return
            local.timer.cancel()
        local.timer = loop.call_at(due, self._flush_later, key, local)

    def _flush_later(self, key: LimitKey, local: _Local) -> None:
        local.timer = None
        task = asyncio.get_running_loop().create_task(self._flush(key, local))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _flush(self, key: LimitKey, local: _Local) -> None:
        # One at a time: of two that know the same state, one would find it changed.
        async with local.asking:
            if _now_ms() > local.expires_ms:
                local.report.returned += local.tokens
                local.tokens = 0.0
            report = self._take_report(local)
            if report is not None:
                await self._report(key, report)

    async def _report(self, key: LimitKey, report: CallReport) -> None:
        try:
            await self._limits.report(key, report)
        except Exception as error:
            # Limits are shared again as soon as the database answers.
            self._log.warning("calls could not be reported", error=repr(error))

    def _take_report(self, local: _Local) -> CallReport | None:
        if local.report.is_empty:
            return None
        report, local.report = local.report, CallReport()
        report.success_age_ms = max(0.0, _now_ms() - local.last_success_ms)
        report.status_age_ms = _now_ms() - local.told_ms
        return report

    def _local(self, key: LimitKey) -> _Local:
        local = self._keys.get(key)
        if local is None:
            if len(self._keys) >= _MAX_KNOWN:
                idle = [one for one, known in self._keys.items() if known.is_idle]
                for one in idle[: len(self._keys) - _MAX_KNOWN + 1]:
                    del self._keys[one]
            local = self._keys[key] = _Local()
        self._keys.move_to_end(key)
        return local

    async def close(self) -> None:
        """Put back what is held and report what is not reported yet."""
        for key, local in list(self._keys.items()):
            if local.timer is not None:
                local.timer.cancel()
                local.timer = None
            local.expires_ms = 0.0
            await self._flush(key, local)
        if self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)


def _permit_of_refusal(local: _Local) -> Permit | None:
    """The time that the shared state gave to this caller when it refused the one before."""
    now = _now_ms()
    if not local.returns_ms or now > local.returns_until_ms:
        return None
    return Permit(wait_ms=max(1.0, local.returns_ms.popleft() - now))


def _cost_differs(local: _Local, points: float) -> bool:
    """Whether the held tokens are of calls that cost something else."""
    return local.cost != 1.0 and local.cost != points


def _put_back(local: _Local, report: CallReport | None) -> None:
    """Keep a report for the next question. Whether it was written before the connection broke is
    not known: tokens must not be put back twice, so those are given up."""
    if report is None:
        return
    report.returned = report.landed = report.refund = 0.0
    report.add(local.report)
    local.report = report


def waiting(key: LimitKey, permit: Permit) -> Waiting:
    name = " ".join(part for part in (key.provider, key.domain) if part)
    return Waiting(
        permit.code,
        _MESSAGES[permit.code].format(name),
        retry_after_ms=max(1, round(permit.wait_ms)),
        provider=key.provider,
    )
