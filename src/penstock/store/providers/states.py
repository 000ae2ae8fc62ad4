"""Token buckets and circuits of providers, kept for all workers. Implements `SharedLimits`.

The decisions are those of the state machines in `model/network`; here their state is locked, read
and written. One row per key, locked for the few milliseconds of one decision.
"""

from __future__ import annotations

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
from penstock.store.workers.workers import tell

_sql = load("provider_states")
# Counts of the health page.
HEALTH_WINDOW = timedelta(minutes=15)
_MAX_KEYS = 500


@dataclass(frozen=True, slots=True)
class _State:
    bucket: TokenBucket
    circuit: Circuit


class StoredLimits:
    """Implements `model.ports.SharedLimits`."""

    def __init__(self, db: Database, limits: ProviderLimits) -> None:
        self._db = db
        self._limits = limits

    async def admit(
        self, key: LimitKey, calls: int, points: float, report: CallReport | None = None,
        callers: int = 1,
    ) -> Permit:  # fmt: skip
        """Tokens for at least one call and up to ``calls``, each of ``points`` where the provider
        counts these. A probe gets the tokens of one call."""
        rate = self._limits.rate_of(key)
        async with self._db.transaction() as conn:
            state, now = await self._locked(conn, key, rate)
            if report is not None:
                state = await self._applied(conn, key, rate, state, now, report)
            probe_id = uuid4().hex
            circuit, admission = state.circuit.admit(self._limits.circuit, now, probe_id)
            bucket, permit = state.bucket, Permit(wait_ms=admission.wait_ms, code="CIRCUIT_OPEN")
            if admission.allowed:
                cost = points if points and bucket.reported is not None else 1.0
                cost = min(cost, bucket.rate(rate).capacity)
                wanted = cost if admission.is_probe else cost * calls
                bucket, grant = bucket.take(rate, now, cost, wanted, callers)
                probe = probe_id if admission.is_probe and grant.tokens else None
                permit = Permit(
                    grant.tokens, grant.wait_ms, probe_id=probe, cost=cost,
                    others_wait_ms=grant.waits_ms[1:],
                )  # fmt: skip
                if not grant.tokens:
                    # Without a token there is no probe.
                    circuit = state.circuit
            await _save(conn, key, _State(bucket, circuit))
        return permit

    async def report(self, key: LimitKey, report: CallReport) -> None:
        rate = self._limits.rate_of(key)
        async with self._db.transaction() as conn:
            state, now = await self._locked(conn, key, rate)
            await _save(conn, key, await self._applied(conn, key, rate, state, now, report))

    async def _locked(self, conn: Connection, key: LimitKey, rate: Rate) -> tuple[_State, float]:
        row = await conn.fetchrow(_sql.lock_state, *key.columns)
        if row is None:
            await conn.execute(_sql.add_state, *key.columns, rate.capacity)
            row = await conn.fetchrow(_sql.lock_state, *key.columns)
            assert row is not None
        return _state(row), _ms(row["now"])

    async def _applied(
        self, conn: Connection, key: LimitKey, rate: Rate, state: _State, now: float,
        report: CallReport,
    ) -> _State:  # fmt: skip
        bucket = state.bucket.refilled(rate, now)
        if report.returned:
            bucket = bucket.returned(rate, report.returned)
        if report.status is not None:
            bucket = bucket.corrected(rate, now, report.status, report.refund, report.cost_share)
        if report.throttled and report.retry_after_ms:
            bucket = bucket.throttled(now, report.retry_after_ms)
        circuit = _judged(state.circuit, report, now, self._limits)
        if circuit.state is not state.circuit.state and circuit.state is CircuitState.CLOSED:
            # All callers have waited for the circuit, whatever they were told before.
            bucket = bucket.without_bookings()
        if report.calls:
            await conn.execute(
                _sql.count_calls, *key.columns, report.calls, report.failed, report.throttled,
                report.durations,
            )  # fmt: skip
        await _tell_change(conn, key, state.circuit, circuit)
        return _State(bucket, circuit)


def _judged(circuit: Circuit, report: CallReport, now: float, limits: ProviderLimits) -> Circuit:
    if report.abandoned is not None:
        circuit = circuit.abandoned(now, report.abandoned)
    # A refusal is an answer: the provider is there.
    if report.succeeded or report.throttled:
        circuit = circuit.succeeded(now - report.success_age_ms, report.probe_id)
    for _ in range(report.failed):
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
    await tell(conn, event, None, told)


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
        _ms(row["booked_until"]), row["cost_share"],
    )  # fmt: skip
    opened = row["opened_at"]
    circuit = Circuit(
        CircuitState(row["circuit"]), row["failures"], _ms(row["last_failure_at"]),
        None if opened is None else _ms(opened), _ms(row["next_probe_at"]), row["probe_id"],
        _ms(row["probe_expires_at"]),
    )  # fmt: skip
    return _State(bucket, circuit)


async def _save(conn: Connection, key: LimitKey, state: _State) -> None:
    bucket, circuit = state.bucket, state.circuit
    reported = bucket.reported
    await conn.execute(
        _sql.save_state, *key.columns, bucket.tokens, _at(bucket.at_ms),
        None if reported is None else reported.per_second,
        None if reported is None else reported.burst,
        _at(bucket.paused_until_ms), _at(bucket.booked_until_ms), circuit.state, circuit.failures,
        _at(circuit.last_failure_ms), _at(circuit.opened_at_ms), _at(circuit.next_probe_ms),
        circuit.probe_id, _at(circuit.probe_until_ms), bucket.cost_share,
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
