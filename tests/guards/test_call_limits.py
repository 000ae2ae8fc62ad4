"""Calls wait for their turn, learn from refusals, and give up in time rather than in vain."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import pytest

from penstock.guards import call_limits as module
from penstock.guards.call_limits import CallLimiter
from penstock.model.errors import BadInput, RateLimited, Unavailable, Waiting
from penstock.model.network.call_limits import CallBounds, CallLimit


def never() -> bool:
    return False


def limit_of(limiter: CallLimiter, domain: str = "") -> CallLimit:
    return limiter.limits()["shop", domain]


async def call(
    limiter: CallLimiter,
    work: Callable[[], None] = lambda: None,
    *,
    domain: str = "",
    seconds: float = 60,
    time_is_up: Callable[[], bool] = never,
) -> None:
    until = time.monotonic() + seconds
    async with limiter.call("shop", domain, until=until, time_is_up=time_is_up):
        await asyncio.sleep(0)
        work()


async def test_no_more_at_once_than_the_limit_and_all_get_through() -> None:
    limiter = CallLimiter(CallBounds(start=3, most=3))
    running = most = 0

    async def one() -> None:
        nonlocal running, most
        async with limiter.call("shop", "", until=time.monotonic() + 60, time_is_up=never):
            running += 1
            most = max(most, running)
            await asyncio.sleep(0.001)
            running -= 1

    await asyncio.gather(*(one() for _ in range(200)))
    assert most == 3


async def test_first_come_first_served() -> None:
    limiter = CallLimiter(CallBounds(start=1, most=1))
    order: list[int] = []
    await asyncio.gather(*(call(limiter, lambda n=n: order.append(n)) for n in range(20)))  # type: ignore[misc]
    assert order == list(range(20))


def fail(error: BaseException) -> Callable[[], None]:
    def work() -> None:
        raise error

    return work


@pytest.mark.parametrize(
    "error",
    [
        RateLimited("API_RATE_LIMIT", "no"),
        Unavailable("API_TIMEOUT", "no"),
        TimeoutError(),
        ConnectionResetError(),
    ],
)
async def test_what_the_provider_does_wrong_lowers_its_limit(error: Exception) -> None:
    limiter = CallLimiter(CallBounds(start=4))
    with pytest.raises(type(error)):
        await call(limiter, fail(error))
    assert limit_of(limiter).most_at_once == 2


@pytest.mark.parametrize("error", [BadInput("X", "x"), KeyError("ours"), Waiting("X", "x")])
async def test_what_others_do_wrong_does_not(error: Exception) -> None:
    limiter = CallLimiter(CallBounds(start=4))
    with pytest.raises(type(error)):
        await call(limiter, fail(error))
    assert limit_of(limiter).most_at_once >= 4


async def test_a_time_limit_around_a_call_counts_as_no_answer() -> None:
    limiter = CallLimiter(CallBounds(start=4))

    async def hang() -> None:
        async with limiter.call("shop", "", until=time.monotonic() + 9, time_is_up=never):
            await asyncio.sleep(60)

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(hang(), 0.01)
    assert limit_of(limiter).most_at_once == 2


async def test_one_domain_does_not_pay_for_another() -> None:
    limiter = CallLimiter(CallBounds(start=4))
    with pytest.raises(TimeoutError):
        await call(limiter, fail(TimeoutError()), domain="slow.example")
    await call(limiter, domain="fast.example")
    assert limit_of(limiter, "slow.example").most_at_once == 2
    assert limit_of(limiter, "fast.example").most_at_once == 5


async def test_what_was_asked_for_is_waited_for() -> None:
    limiter = CallLimiter()
    async with limiter.call("shop", "", until=time.monotonic() + 9, time_is_up=never) as one:
        one.throttled(150)
    began = time.monotonic()
    await call(limiter)
    assert time.monotonic() - began >= 0.14


async def test_a_wait_beyond_the_slice_is_not_begun() -> None:
    limiter = CallLimiter()
    async with limiter.call("shop", "eu", until=time.monotonic() + 9, time_is_up=never) as one:
        one.throttled(60_000)
    began = time.monotonic()
    with pytest.raises(Waiting, match="shop eu may not be called more often") as raised:
        await call(limiter, domain="eu", seconds=40)
    assert time.monotonic() - began < 30
    assert raised.value.retry_after_ms is not None
    assert 30_000 < raised.value.retry_after_ms <= 60_000
    assert not raised.value.counted


async def test_a_lost_slice_ends_the_wait() -> None:
    limiter = CallLimiter(CallBounds(start=1))
    lost = False

    async def hold() -> None:
        async with limiter.call("shop", "", until=time.monotonic() + 60, time_is_up=never):
            await asyncio.sleep(60)

    holder = asyncio.create_task(hold())
    await asyncio.sleep(0)
    waiter = asyncio.create_task(call(limiter, time_is_up=lambda: lost))
    await asyncio.sleep(0.01)
    assert not waiter.done()
    lost = True
    with pytest.raises(Waiting):
        await waiter
    holder.cancel()


async def test_who_is_cancelled_while_waiting_leaves_the_line() -> None:
    limiter = CallLimiter(CallBounds(start=1, most=1))
    order: list[str] = []
    release = asyncio.Event()

    async def hold() -> None:
        async with limiter.call("shop", "", until=time.monotonic() + 60, time_is_up=never):
            await release.wait()

    holder = asyncio.create_task(hold())
    await asyncio.sleep(0)
    first = asyncio.create_task(call(limiter, lambda: order.append("first")))
    second = asyncio.create_task(call(limiter, lambda: order.append("second")))
    await asyncio.sleep(0)
    first.cancel()
    release.set()
    await asyncio.gather(holder, first, second, return_exceptions=True)
    assert order == ["second"]


async def test_idle_domains_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAX_KNOWN", 10)
    limiter = CallLimiter()
    for number in range(100):
        await call(limiter, domain=f"{number}.example")
    assert len(limiter.limits()) == 10
    assert ("shop", "99.example") in limiter.limits()
