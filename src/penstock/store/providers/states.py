"""Token buckets and circuits of providers, kept for all workers. Implements `SharedLimits`.

The decisions are those of the state machines in `model/network`; here their state is read and
written. There is one row per key. A process that knows a state decides on it, and writes the next
one if the row has not changed meanwhile: one statement. If it has, the statement answers the new
state for another attempt. After two attempts, and where the circuit changes, whose event is written
in the same transaction, the row is locked, read and written.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from penstock.model.network.circuits import Circuit, CircuitState
from penstock.model.network.provider_limits import (
    CallReport,
    LimitKey,
    Permit,
    ProviderLimits,
    p95_of,
)
from penstock.model.network.token_bucket import Rate, TokenBucket
from penstock.store.database import Connection, Database
from penstock.store.queries import load
from penstock.store.workers.workers import add_system_event

_sql = load("provider_states")
# Counts of the health page.
HEALTH_WINDOW = timedelta(minutes=15)
_MAX_KEYS = 500


# States that a process knows, and for how long it trusts its idea of the database's clock. Clocks
# drift by less than a millisecond in that time.
_MAX_KNOWN = 4000
_CLOCK_TRUSTED_SECONDS = 60.0
# Attempts without a lock: where several processes write at the same moment, each could fail again.
_ATTEMPTS = 2


@dataclass(frozen=True, slots=True)
class _State:
    bucket: TokenBucket
    circuit: Circuit


@dataclass(frozen=True, slots=True)
class _Known:
    """The cached row of a key."""

    state: _State
    version: int
    # The database's clock when it answered, and ours when its answer was here: later, so that the
    # time derived from them is never ahead.
    at_ms: float
    answered: float

    @property
    def now_ms(self) -> float:
        return self.at_ms + (time.monotonic() - self.answered) * 1000

    @property
    def is_usable(self) -> bool:
        return time.monotonic() - self.answered < _CLOCK_TRUSTED_SECONDS


_Decision = Callable[[_State, float], tuple[_State, Permit]]


class StoredLimits:
    """Implements `model.ports.SharedLimits`."""

    def __init__(self, db: Database, limits: ProviderLimits) -> None:
        self._db = db
        self._limits = limits
        self._known: OrderedDict[LimitKey, _Known] = OrderedDict()

    async def admit(
        self, key: LimitKey, calls: int, points: float, report: CallReport | None = None,
        callers: int = 1,
    ) -> Permit:  # fmt: skip
        """Tokens for at least one call and up to ``calls``, each of ``points`` where the provider
        counts these. A probe gets the tokens of one call."""

        def decide(state: _State, now: float) -> tuple[_State, Permit]:
            return self._admitted(state, now, key, calls, points, callers)

        return await self._change(key, report, decide)

    async def report(self, key: LimitKey, report: CallReport) -> None:
        await self._change(key, report, lambda state, _: (state, Permit()))

    def _admitted(
        self, state: _State, now: float, key: LimitKey, calls: int, points: float, callers: int
    ) -> tuple[_State, Permit]:
        rate = self._limits.rate_of(key)
        probe_id = uuid4().hex
        circuit, admission = state.circuit.admit(self._limits.circuit, now, probe_id)
        bucket = state.bucket
        if not admission.allowed:
            return _State(bucket, circuit), Permit(wait_ms=admission.wait_ms, code="CIRCUIT_OPEN")
        cost = points if points and bucket.reported is not None else 1.0
        cost = min(cost, bucket.rate(rate).capacity)
        wanted = cost if admission.is_probe else cost * calls
        bucket, grant = bucket.take(rate, now, cost, wanted, callers)
        probe = probe_id if admission.is_probe and grant.tokens else None
        if not grant.tokens:
            # Without a token there is no probe.
            circuit = state.circuit
        return _State(bucket, circuit), Permit(
            grant.tokens, grant.wait_ms, probe_id=probe, cost=cost,
            others_wait_ms=grant.waits_ms[1:], full_in_ms=bucket.full_in_ms(rate),
        )  # fmt: skip

    async def _change(self, key: LimitKey, report: CallReport | None, decide: _Decision) -> Permit:
        """Apply the report, decide, and write the state."""
        # For one caller at a time: of two that know the same state, one would fail.
        known = self._known.pop(key, None)
        for _ in range(_ATTEMPTS):
            if known is None or not known.is_usable:
                break
            permit, known = await self._change_unlocked(key, known, report, decide)
            if permit is not None:
                return permit
        rate = self._limits.rate_of(key)
        async with self._db.transaction() as conn:
            row = await self._locked(conn, key, rate)
            before, now = _state(row), _ms(row["now"])
            state = before
            if report is not None:
                state = self._reported(key, before, now, report)
                if report.calls:
                    await conn.execute(_sql.count_calls, *key.columns, *_counts(report))
                await _tell_change(conn, key, before.circuit, state.circuit)
            state, permit = decide(state, now)
            saved = await conn.fetchrow(_sql.save_state, *key.columns, *_columns(state))
        self._keep(key, state, saved)
        return permit

    async def _change_unlocked(
        self, key: LimitKey, known: _Known, report: CallReport | None, decide: _Decision
    ) -> tuple[Permit | None, _Known | None]:
        """No permit: the state has changed to the one that is answered, or the change of a circuit
        has to be reported with it."""
        now, state = known.now_ms, known.state
        if report is not None:
            state = self._reported(key, state, now, report)
        if state.circuit.state is not known.state.circuit.state:
            return None, None
        state, permit = decide(state, now)
        counts = _counts(report or CallReport())
        async with self._db.acquire() as conn:
            saved = await conn.fetchrow(
                _sql.save_if_unchanged, *key.columns, *_columns(state), known.version, *counts
            )
        if saved is None:
            return None, None
        if not saved["saved"]:
            return None, _known(_state(saved), saved)
        self._keep(key, state, saved)
        return permit, None

    def _keep(self, key: LimitKey, state: _State, saved: Any) -> None:
        self._known[key] = _known(state, saved)
        self._known.move_to_end(key)
        if len(self._known) > _MAX_KNOWN:
            self._known.popitem(last=False)

    async def _locked(self, conn: Connection, key: LimitKey, rate: Rate) -> Any:
        row = await conn.fetchrow(_sql.lock_state, *key.columns)
        if row is None:
            await conn.execute(_sql.add_state, *key.columns, rate.capacity)
            row = await conn.fetchrow(_sql.lock_state, *key.columns)
            assert row is not None
        return row

    def _reported(self, key: LimitKey, state: _State, now: float, report: CallReport) -> _State:
        rate = self._limits.rate_of(key)
        bucket = state.bucket.refilled(rate, now)
        bucket = bucket.landed(report.landed + report.returned)
        if report.returned:
            bucket = bucket.returned(rate, report.returned)
        if report.throttled and report.retry_after_ms:
            bucket = bucket.throttled(now, report.retry_after_ms)
        if report.status is not None:
            told_at = now - report.status_age_ms if report.status_is_last else None
            bucket = bucket.corrected(
                rate, now, report.status, report.refund, report.cost_share, told_at_ms=told_at
            )
        if report.landed:
            bucket = bucket.landed(0.0, now)
        circuit = _judged(state.circuit, report, now, self._limits)
        if circuit.state is not state.circuit.state and circuit.state is CircuitState.CLOSED:
            # All callers have waited for the circuit, whatever return times they got before.
            bucket = bucket.without_bookings()
        return _State(bucket, circuit)


def _known(state: _State, row: Any) -> _Known:
    return _Known(state, row["version"], _ms(row["now"]), time.monotonic())


def _counts(report: CallReport) -> tuple[int, int, int, list[int]]:
    return report.calls, report.failed, report.throttled, report.durations


def _judged(circuit: Circuit, report: CallReport, now: float, limits: ProviderLimits) -> Circuit:
    if report.abandoned is not None:
        circuit = circuit.abandoned(now, report.abandoned)
    # A refusal is an answer: the provider is there.
    if report.succeeded or report.throttled:
        circuit = circuit.succeeded(now - report.success_age_ms, report.probe_id)
    for _ in range(report.failed - report.failed_before):
        circuit = circuit.failed(limits.circuit, now, report.probe_id)
    return circuit


async def _tell_change(conn: Connection, key: LimitKey, before: Circuit, after: Circuit) -> None:
    if before.state is after.state:
        return
    event = {
        CircuitState.OPEN: "provider.circuit_opened",
        CircuitState.CLOSED: "provider.circuit_closed",
    }.get(after.state)
    if event is None or (before.state is CircuitState.HALF_OPEN and event.endswith("opened")):
        # A probe that fails leaves the circuit as open as it was.
        return
    told = {"orgId": key.org_id, "provider": key.provider, "company": key.company,
            "domain": key.domain, "failures": after.failures or before.failures}  # fmt: skip
    await add_system_event(conn, event, None, told)


def _ms(at: datetime | None) -> float:
    return 0.0 if at is None else at.timestamp() * 1000


def _at(ms: float | None) -> datetime | None:
    return None if not ms else datetime.fromtimestamp(ms / 1000, UTC)


def _state(row: Any) -> _State:
    reported = None
    if row["reported_rate"] is not None:
        reported = Rate(row["reported_rate"], row["reported_burst"])
    bucket = TokenBucket(
        row["tokens"], _ms(row["refilled_at"]), reported, _ms(row["paused_until"]),
        _ms(row["booked_until"]), row["cost_share"], row["in_flight"], _ms(row["in_flight_until"]),
        _ms(row["landed_at"]),
    )  # fmt: skip
    opened = row["opened_at"]
    circuit = Circuit(
        CircuitState(row["circuit"]), row["failures"], _ms(row["last_failure_at"]),
        None if opened is None else _ms(opened), _ms(row["next_probe_at"]), row["probe_id"],
        _ms(row["probe_expires_at"]),
    )  # fmt: skip
    return _State(bucket, circuit)


def _columns(state: _State) -> tuple[Any, ...]:
    bucket, circuit = state.bucket, state.circuit
    reported = bucket.reported
    return (
        bucket.tokens, _at(bucket.at_ms),
        None if reported is None else reported.per_second,
        None if reported is None else reported.burst,
        _at(bucket.paused_until_ms), _at(bucket.booked_until_ms), circuit.state, circuit.failures,
        _at(circuit.last_failure_ms), _at(circuit.opened_at_ms), _at(circuit.next_probe_ms),
        circuit.probe_id, _at(circuit.probe_until_ms), bucket.cost_share,
        bucket.in_flight, _at(bucket.in_flight_until_ms), _at(bucket.landed_at_ms),
    )  # fmt: skip


async def list_states(
    conn: Connection, limits: ProviderLimits, provider: str | None = None, domain: str = ""
) -> list[dict[str, Any]]:
    """Buckets and circuits that the caller may see, open circuits first: all, or those of one
    provider and domain."""
    since = datetime.now(UTC) - HEALTH_WINDOW
    rows = await conn.fetch(_sql.list_states, since, _MAX_KEYS, provider, domain)
    return [_shape(row, limits) for row in rows]


def _shape(row: Any, limits: ProviderLimits) -> dict[str, Any]:
    configured, now = limits.rate(row["provider"]), _ms(row["now"])
    if row["rate"] is not None:
        configured = Rate.parse(row["rate"])
    state = _state(row)
    bucket = state.bucket.refilled(configured, now)
    rate = bucket.rate(configured)
    calls, p95 = row["calls"], p95_of(row["durations"])
    paused = row["paused_until"]
    return {
        "provider": row["provider"],
        "org": row["org"],
        "company": row["company"] or None,
        "domain": row["domain"] or None,
        "circuit": {
            "state": state.circuit.state,
            "failures": state.circuit.failures,
            "openedAt": row["opened_at"],
            "nextProbeAt": row["next_probe_at"] if state.circuit.state == "open" else None,
        },
        "limit": {
            "perSecond": round(rate.per_second, 4),
            "burst": rate.burst,
            "tokens": round(bucket.tokens, 2),
            "reported": bucket.reported is not None,
            "pausedUntil": paused if paused is not None and _ms(paused) > now else None,
        },
        "calls": calls,
        "failed": row["failed"],
        "throttled": row["throttled"],
        "errorRate": round(row["failed"] / calls, 4) if calls else None,
        "p95Ms": None if p95 is None else round(p95),
    }


async def reset(conn: Connection, provider: str) -> int:
    """Close the circuits of a provider that the caller may see; answers of how many keys."""
    return len(await conn.fetch(_sql.reset_states, provider))


async def drop_old_calls(conn: Connection, before: datetime, most: int) -> int:
    done = await conn.execute(_sql.drop_old_calls, before, most)
    return int(done.removeprefix("DELETE "))
