"""The processor budget: who waits, for how long, and who never does."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import pytest

from penstock.guards.cpu_budget import BURST_S, Account, CpuBudget
from penstock.model.cpu.meter import Metered, begin_spending, charge, metered, timed
from penstock.model.errors import RateLimited

HEAVY, LIGHT = Account(1, is_org=True), Account(2, is_org=True)
NETWORK = Account("192.0.2.0/24", is_org=False)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


async def _use(budget: CpuBudget, account: Account, seconds: float) -> None:
    spending = await budget.admit(account)
    spending.charge(seconds)
    spending.close()


async def _waits(budget: CpuBudget, account: Account) -> bool:
    admitting = asyncio.create_task(budget.admit(account))
    await asyncio.sleep(0)
    waits = not admitting.done()
    admitting.cancel()
    await asyncio.gather(admitting, return_exceptions=True)
    return waits


async def test_an_org_alone_is_never_limited() -> None:
    budget = CpuBudget()
    for _ in range(20):
        await _use(budget, HEAVY, 1.0)
    assert not await _waits(budget, HEAVY)


async def test_an_org_over_its_budget_waits_while_another_is_active() -> None:
    budget = CpuBudget()
    await _use(budget, LIGHT, 0.01)
    await _use(budget, HEAVY, BURST_S + 0.5)
    assert await _waits(budget, HEAVY)
    assert not await _waits(budget, LIGHT)


async def test_callers_who_are_not_signed_in_limit_no_org() -> None:
    budget = CpuBudget()
    await _use(budget, NETWORK, 0.01)
    await _use(budget, HEAVY, BURST_S + 0.5)
    assert not await _waits(budget, HEAVY)


async def test_a_network_waits_while_an_org_is_active() -> None:
    budget = CpuBudget()
    await _use(budget, LIGHT, 0.01)
    await _use(budget, NETWORK, BURST_S + 0.5)
    assert await _waits(budget, NETWORK)


async def test_the_limit_ends_when_the_other_org_has_been_idle() -> None:
    clock = Clock()
    budget = CpuBudget(clock=clock)
    await _use(budget, LIGHT, 0.01)
    await _use(budget, HEAVY, BURST_S + 1.5)
    assert await _waits(budget, HEAVY)
    clock.now += 6
    assert not await _waits(budget, HEAVY)


async def test_a_debt_is_paid_over_time() -> None:
    clock = Clock()
    budget = CpuBudget(clock=clock)
    await _use(budget, LIGHT, 0.01)
    await _use(budget, HEAVY, BURST_S + 0.1)
    assert await _waits(budget, HEAVY)
    clock.now += 2
    assert not await _waits(budget, HEAVY)


async def test_waiting_requests_are_admitted_one_by_one() -> None:
    """At the rate at which the budget refills, not all at once."""
    budget = CpuBudget()
    await _use(budget, LIGHT, 0.001)
    for _ in range(60):
        await _use(budget, HEAVY, 0.02)
        if await _waits(budget, HEAVY):
            break
    admitted: list[float] = []

    async def request() -> None:
        spending = await budget.admit(HEAVY)
        admitted.append(time.monotonic())
        spending.charge(0.02)
        spending.close()

    began = time.monotonic()
    await asyncio.gather(*(request() for _ in range(10)))
    assert budget.waiting == 0
    # 10 requests of 20 ms at the most 0.4 s per second.
    assert admitted[-1] - began > 0.3


async def test_a_wait_that_is_too_long_is_refused_with_a_time_to_come_back() -> None:
    budget = CpuBudget(wait_s=0.05)
    await _use(budget, LIGHT, 0.01)
    await _use(budget, HEAVY, 3.0)
    with pytest.raises(RateLimited) as refused:
        await budget.admit(HEAVY)
    assert refused.value.code == "RATE_LIMITED"
    assert refused.value.retry_after_ms
    assert budget.refused == 1
    assert budget.waiting == 0


async def test_a_request_that_is_given_up_leaves_the_queue() -> None:
    budget = CpuBudget()
    await _use(budget, LIGHT, 0.01)
    await _use(budget, HEAVY, 3.0)
    assert await _waits(budget, HEAVY)
    assert budget.waiting == 0


async def test_long_bodies_pause_while_the_account_owes_time() -> None:
    budget = CpuBudget()
    await _use(budget, LIGHT, 0.01)
    spending = await budget.admit(HEAVY)
    # Without owing anything it does not wait at all.
    with pytest.raises(StopIteration):
        spending.pace().__await__().__next__()
    spending.charge(BURST_S + 0.05)
    began = time.monotonic()
    await spending.pace()
    assert time.monotonic() - began > 0.05


class Spent:
    def __init__(self) -> None:
        self.seconds = 0.0

    def charge(self, seconds: float) -> None:
        self.seconds += seconds


def _busy(seconds: float) -> None:
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


@pytest.fixture
def spent() -> Spent:
    return Spent()


async def _metered_by(spent: Spent, work: Callable[[], object]) -> object:
    async def request() -> object:
        _busy(0.02)
        await asyncio.sleep(0.05)
        return work()

    begin_spending(spent)
    return await Metered(request())


async def test_a_request_is_charged_for_its_steps_and_not_for_its_waits(spent: Spent) -> None:
    assert await _metered_by(spent, lambda: "answer") == "answer"
    assert spent.seconds >= 0.02


async def test_waits_are_not_charged(spent: Spent) -> None:
    begin_spending(spent)
    await Metered(asyncio.sleep(0.2))
    assert spent.seconds < 0.1


async def test_errors_and_cancellations_pass_through(spent: Spent) -> None:
    def fail() -> None:
        raise ValueError("as before")

    with pytest.raises(ValueError, match="as before"):
        await _metered_by(spent, fail)
    cleaned = []

    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.append(True)

    task = asyncio.create_task(metered(forever()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cleaned == [True]


async def test_tasks_that_a_request_starts_are_charged_to_it(spent: Spent) -> None:
    async def child() -> None:
        _busy(0.02)
        charge(1.0)

    begin_spending(spent)
    await asyncio.create_task(metered(child()))
    assert spent.seconds >= 1.02


async def test_work_in_a_thread_tells_its_processor_time() -> None:
    result, seconds = await asyncio.to_thread(timed, _busy, 0.02)
    assert result is None
    assert seconds >= 0.02
