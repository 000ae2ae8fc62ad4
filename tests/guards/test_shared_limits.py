"""Limits and circuits that many workers share, over the real database."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import pytest
from tests.checker.polling import until
from tests.fixtures import MakePrincipal

from penstock.guards import shared_limits
from penstock.guards.call_limits import CallLimiter
from penstock.guards.shared_limits import SharedGate
from penstock.logs import get_logger
from penstock.model.errors import RateLimited, Unavailable, Waiting
from penstock.model.network.call_limits import CallBounds
from penstock.model.network.circuits import CircuitRules
from penstock.model.network.provider_limits import CallReport, LimitKey, Permit, ProviderLimits
from penstock.model.network.token_bucket import HOLD_MS, Rate, ThrottleStatus
from penstock.settings import Settings
from penstock.store.database import Database
from penstock.store.providers.states import StoredLimits, list_states

pytestmark = pytest.mark.slow


def never() -> bool:
    return False


@dataclass
class Provider:
    """A provider with the same bucket, which counts what it should not have got."""

    rate: Rate
    level: float = 0.0
    at: float = 0.0
    calls: list[float] = field(default_factory=list)
    violations: int = 0

    def __post_init__(self) -> None:
        self.level = self.rate.burst

    def called(self) -> None:
        now = time.monotonic()
        self.calls.append(now)
        self.level = min(self.rate.burst, self.level + (now - self.at) * self.rate.per_second)
        self.at = now
        self.level -= 1
        self.violations += self.level < 0


@dataclass
class WorkerPool:
    """Workers with a pool and a gate each."""

    limiters: list[CallLimiter]
    key: LimitKey

    async def call(self, worker: int, work: Callable[[], None], points: float = 0) -> None:
        limiter = self.limiters[worker]
        until = time.monotonic() + 30
        async with limiter.call(
            "shop", "", until=until, time_is_up=never, key=self.key, points=points
        ):
            work()


@asynccontextmanager
async def worker_pool(
    count: int, limits: ProviderLimits, settings: Settings, dsn: str, org_id: int
) -> AsyncIterator[WorkerPool]:
    async with AsyncExitStack() as stack:
        limiters = []
        for _ in range(count):
            db = await Database(dsn, settings.database_schema, size=2).open()
            stack.push_async_callback(db.close)
            gate = SharedGate(StoredLimits(db, limits), get_logger())
            limiter = CallLimiter(CallBounds(start=8), gate)
            stack.push_async_callback(limiter.close)
            limiters.append(limiter)
        yield WorkerPool(limiters, LimitKey(org_id, "shop", "", "eu.example"))


async def _insist(workers: WorkerPool, number: int, provider: Provider, until: float) -> None:
    """Call as often as allowed, and come back as told."""
    while (now := time.monotonic()) < until:
        try:
            await workers.call(number, provider.called)
        except Waiting as told:
            wait = min((told.retry_after_ms or 0) / 1000, max(0.0, until - now))
            await asyncio.sleep(wait)


@pytest.mark.parametrize(
    ("rate", "seconds"),
    [
        (Rate(20, 20), 6),
        pytest.param(Rate.parse("100/min burst 20"), 60, marks=pytest.mark.long),
        pytest.param(Rate.parse("2/s burst 40"), 60, marks=pytest.mark.long),
    ],
)
async def test_eight_workers_get_what_the_limit_allows_and_no_more(
    rate: Rate, seconds: float, settings: Settings, db: Database, owner_dsn: str,
    principal: MakePrincipal,
) -> None:  # fmt: skip
    org_id, provider = (await principal()).org_id, Provider(rate)
    limits = ProviderLimits(default=rate)
    async with worker_pool(8, limits, settings, owner_dsn, org_id) as workers:
        # The row exists and the connections are open before the time begins.
        for number in range(8):
            await workers.call(number, lambda: None)
        async with db.acquire() as conn:
            await conn.execute(
                "UPDATE provider_states SET tokens = $1, refilled_at = clock_timestamp(),"
                " version = version + 1",
                rate.capacity,
            )
        began = provider.at = time.monotonic()
        callers = (_insist(workers, n % 8, provider, began + seconds) for n in range(24))
        await asyncio.gather(*callers)
    allowed = rate.burst + rate.per_second * seconds
    assert provider.violations == 0
    assert len(provider.calls) <= allowed
    # A minute allows two percent; in a shorter time it weighs more that the first calls are
    # reported half a second late: until then nothing is refilled.
    late = rate.burst - rate.capacity + rate.per_second / 2
    spare = 0.02 * allowed if seconds >= 60 else late + 0.03 * allowed
    assert len(provider.calls) >= allowed - spare


def _fail() -> None:
    raise Unavailable("SERVICE_UNAVAILABLE", "500")


async def test_five_failures_of_any_workers_open_the_circuit_for_all(
    settings: Settings, db: Database, owner_dsn: str, principal: MakePrincipal
) -> None:
    org_id = (await principal()).org_id
    limits = ProviderLimits(default=Rate(1000, 1000), circuit=CircuitRules(5, 60_000))
    calls = 0

    def fail() -> None:
        nonlocal calls
        calls += 1
        _fail()

    async with worker_pool(4, limits, settings, owner_dsn, org_id) as workers:
        for number in range(5):
            with pytest.raises(Unavailable):
                await workers.call(number % 4, fail)
        for number in range(4):
            with pytest.raises(Waiting) as told:
                await workers.call(number, fail)
            assert told.value.code == "CIRCUIT_OPEN"
            assert 50_000 < (told.value.retry_after_ms or 0) <= 60_000
        assert calls == 5
    async with db.acquire() as conn:
        [shown] = await list_states(conn, limits)
        events = await conn.fetch("SELECT event FROM events ORDER BY id")
    assert shown["circuit"]["state"] == "open"
    assert shown["failed"] == 5
    assert shown["errorRate"] == 1.0
    assert [row["event"] for row in events] == ["provider.circuit_opened"]


async def test_one_probe_over_all_workers_then_everybody(
    settings: Settings, db: Database, owner_dsn: str, principal: MakePrincipal
) -> None:
    org_id = (await principal()).org_id
    limits = ProviderLimits(default=Rate(1000, 1000), circuit=CircuitRules(5, 300))
    running = most = 0
    is_back = False
    answered = asyncio.Event()

    async def one(number: int) -> None:
        nonlocal running, most
        while True:
            try:
                until = time.monotonic() + 30
                async with workers.limiters[number % 8].call(
                    "shop", "", until=until, time_is_up=never, key=workers.key
                ):
                    running += 1
                    most = max(most, running)
                    try:
                        await asyncio.sleep(0.05)
                    finally:
                        running -= 1
                    if not is_back:
                        _fail()
                    answered.set()
                    return
            except Unavailable:
                pass
            except Waiting as told:
                await asyncio.sleep((told.retry_after_ms or 50) / 1000)

    async with worker_pool(8, limits, settings, owner_dsn, org_id) as workers:
        for _ in range(5):
            with pytest.raises(Unavailable):
                await workers.call(0, _fail)
        most = 0
        callers = [asyncio.create_task(one(number)) for number in range(24)]

        async def tried() -> bool:
            return most > 0

        await until(tried, "the first to try again")
        await asyncio.sleep(1.5)
        assert most == 1
        assert not answered.is_set()
        is_back = True
        await asyncio.gather(*callers)
    async with db.acquire() as conn:
        events = [row["event"] for row in await conn.fetch("SELECT event FROM events ORDER BY id")]
    assert events == ["provider.circuit_opened", "provider.circuit_closed"]


async def test_a_retry_after_is_kept_by_all(
    settings: Settings, db: Database, owner_dsn: str, principal: MakePrincipal
) -> None:
    org_id = (await principal()).org_id
    limits = ProviderLimits(default=Rate(1000, 1000))

    def refuse() -> None:
        raise RateLimited("API_RATE_LIMIT", "429", retry_after_ms=9000)

    async with worker_pool(2, limits, settings, owner_dsn, org_id) as workers:
        with pytest.raises(RateLimited):
            await workers.call(0, refuse)
        with pytest.raises(Waiting) as told:
            await workers.call(1, lambda: None)
    assert told.value.code == "API_RATE_LIMIT"
    assert 8000 < (told.value.retry_after_ms or 0) <= 9001


async def test_the_cost_bucket_of_the_answers_counts(
    settings: Settings, db: Database, owner_dsn: str, principal: MakePrincipal
) -> None:
    org_id = (await principal()).org_id
    limits = ProviderLimits(default=Rate(2, 40))
    async with worker_pool(2, limits, settings, owner_dsn, org_id) as workers:
        limiter = workers.limiters[0]
        async with limiter.call(
            "shop", "", until=time.monotonic() + 9, time_is_up=never, key=workers.key, points=300
        ) as call:
            call.costs(250, ThrottleStatus(available=400, maximum=1000, per_second=1))
        await workers.call(1, lambda: None, points=300)
        with pytest.raises(Waiting) as told:
            await workers.call(1, lambda: None, points=300)
    assert (told.value.retry_after_ms or 0) > 60_000


async def test_an_impatient_call_does_not_wait_for_those_that_run(
    settings: Settings, db: Database, owner_dsn: str, principal: MakePrincipal
) -> None:
    org_id = (await principal()).org_id
    limits = ProviderLimits(default=Rate(1000, 1000))
    async with (
        worker_pool(1, limits, settings, owner_dsn, org_id) as workers,
        AsyncExitStack() as stack,
    ):
        [limiter], until = workers.limiters, time.monotonic() + 30

        def asked(patience_ms: float | None = None) -> AbstractAsyncContextManager[object]:
            return limiter.call(
                "shop", "", until=until, time_is_up=never, key=workers.key, patience_ms=patience_ms
            )

        running = limiter.limits
        for _ in range(8):
            await stack.enter_async_context(asked())
        assert running()["shop", ""].most_at_once == 8
        began = time.monotonic()
        with pytest.raises(Waiting) as told:
            await stack.enter_async_context(asked(patience_ms=50))
        assert time.monotonic() - began < 10
        # It does not come back at once, to wait again.
        assert (told.value.retry_after_ms or 0) >= 500


async def test_unused_tokens_are_put_back(
    settings: Settings, db: Database, owner_dsn: str, principal: MakePrincipal
) -> None:
    org_id = (await principal()).org_id
    limits = ProviderLimits(default=Rate(0.01, 50))
    async with worker_pool(1, limits, settings, owner_dsn, org_id) as workers:
        for _ in range(5):
            await asyncio.gather(*(workers.call(0, lambda: None) for _ in range(4)))
    async with db.acquire() as conn:
        [shown] = await list_states(conn, limits)
    assert shown["calls"] == 20
    assert shown["limit"]["tokens"] == pytest.approx(50 - 20, abs=0.1)


async def test_after_a_long_outage_calls_start_as_soon_as_the_circuit_closes(
    settings: Settings, db: Database, owner_dsn: str, principal: MakePrincipal
) -> None:
    """Probes that fail must not teach the workers delays on top of the circuit's time."""
    org_id = (await principal()).org_id
    limits = ProviderLimits(default=Rate(1000, 1000), circuit=CircuitRules(5, 50))
    async with worker_pool(2, limits, settings, owner_dsn, org_id) as workers:
        probes = 0
        deadline = time.monotonic() + 30
        while probes < 20 and time.monotonic() < deadline:
            for number in range(2):
                try:
                    await workers.call(number, _fail)
                except Unavailable:
                    probes += 1
                except Waiting as told:
                    await asyncio.sleep((told.retry_after_ms or 50) / 1000)
        assert probes >= 20
        for limiter in workers.limiters:
            assert limiter.limits()["shop", ""].delay_ms <= 100
        answered: list[float] = []

        async def one(number: int) -> None:
            while True:
                try:
                    await workers.call(number % 2, lambda: answered.append(time.monotonic()))
                    return
                except Waiting as told:
                    await asyncio.sleep((told.retry_after_ms or 50) / 1000)

        await asyncio.gather(*(one(number) for number in range(40)))
    # Callers return up to two seconds after the probe began, and then none waits for another.
    assert answered[-1] - answered[0] < 5


async def test_bookings_from_before_an_outage_end_with_it(
    settings: Settings, db: Database, owner_dsn: str, principal: MakePrincipal
) -> None:
    org_id = (await principal()).org_id
    limits = ProviderLimits(default=Rate(1, 10), circuit=CircuitRules(5, 50))
    async with worker_pool(2, limits, settings, owner_dsn, org_id) as workers:
        for _ in range(5):
            with pytest.raises(Unavailable):
                await workers.call(0, _fail)
        async with db.transaction() as conn:
            await conn.execute("UPDATE provider_states SET booked_until = now() + interval '50 s'")
        await asyncio.sleep(0.1)
        await workers.call(1, lambda: None)
    async with db.acquire() as conn:
        [row] = await conn.fetch("SELECT circuit, booked_until FROM provider_states")
    assert (row["circuit"], row["booked_until"]) == ("closed", None)


async def test_what_calls_cost_is_shared_by_all_workers(
    settings: Settings, db: Database, owner_dsn: str, principal: MakePrincipal
) -> None:
    org_id = (await principal()).org_id
    limits = ProviderLimits(default=Rate(2, 40))
    async with worker_pool(2, limits, settings, owner_dsn, org_id) as workers:
        async with workers.limiters[0].call(
            "shop", "", until=time.monotonic() + 9, time_is_up=never, key=workers.key, points=800
        ) as call:
            call.costs(80, ThrottleStatus(available=100, maximum=1000, per_second=10))
        waits = []
        for _ in range(3):
            with pytest.raises(Waiting) as told:
                await workers.call(1, lambda: None, points=800)
            waits.append((told.value.retry_after_ms or 0) / 1000)
    # A tenth of 800 points each, at ten per second.
    assert waits == [pytest.approx(8 * turn, abs=1) for turn in (1, 2, 3)]


class SlowAnswers(StoredLimits):
    """Writes the state at once, and answers when it is told to."""

    answer: asyncio.Event

    async def admit(
        self, key: LimitKey, calls: int, points: float, report: CallReport | None = None,
        callers: int = 1,
    ) -> Permit:  # fmt: skip
        permit = await super().admit(key, calls, points, report, callers)
        await self.answer.wait()
        return permit


async def test_a_caller_that_is_cancelled_while_it_asks_adds_no_tokens(
    settings: Settings, db: Database, principal: MakePrincipal
) -> None:
    """Its question may be written already, with what the process put back."""
    key = LimitKey((await principal()).org_id, "shop", "", "eu.example")
    limits = SlowAnswers(db, ProviderLimits(default=Rate(0.01, 50)))
    limits.answer = asyncio.Event()
    limits.answer.set()
    gate = SharedGate(limits, get_logger())
    soon = time.monotonic() + 30
    for _ in range(3):
        await asyncio.gather(*(gate.enter(key, 0, soon, never) for _ in range(4)))
        # This takes some in advance, which the next question puts back.
        await gate.enter(key, 0, soon, never)
        await asyncio.sleep(HOLD_MS / 1000 + 0.05)
        limits.answer.clear()
        asking = asyncio.create_task(gate.enter(key, 0, soon, never))
        await asyncio.sleep(0.1)
        asking.cancel()
        await asyncio.wait({asking})
        limits.answer.set()
        await asyncio.sleep(0.05)
    await gate.close()
    async with db.acquire() as conn:
        [shown] = await list_states(conn, ProviderLimits(default=Rate(0.01, 50)))
    assert shown["limit"]["tokens"] == pytest.approx(50 - 15, abs=0.1)


async def test_a_call_without_an_answer_counts_as_under_way_for_a_while(
    settings: Settings, db: Database, owner_dsn: str, principal: MakePrincipal,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """A busy provider may read a request that was given up."""
    monkeypatch.setattr(shared_limits, "_LATE_SECONDS", 1.0)
    org_id = (await principal()).org_id

    async def under_way() -> float:
        async with db.acquire() as conn:
            return float(await conn.fetchval("SELECT in_flight FROM provider_states"))

    def give_up() -> None:
        raise Unavailable("FETCH_TIMEOUT", "no answer")

    async with worker_pool(
        1, ProviderLimits(default=Rate(5, 50)), settings, owner_dsn, org_id
    ) as workers:
        with pytest.raises(Unavailable):
            await workers.call(0, give_up)
        await workers.call(0, lambda: None)
        await asyncio.sleep(0.6)
        assert await under_way() == 1
        await asyncio.sleep(1.2)
        assert await under_way() == 0
