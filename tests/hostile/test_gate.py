"""The gate itself: bounds hold, orgs are served in turn, nothing is left behind."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.guards.concurrency import ConcurrencyGate, Turn, Work
from penstock.model.errors import RateLimited, Unavailable

_WORK = Work("test", per_caller=1, per_org=2, total=3, waiting_per_org=2, wait_s=0.05)


async def test_one_org_cannot_hold_every_place() -> None:
    gate = ConcurrencyGate()
    held = [await gate.enter(_WORK, user, "loud") for user in (1, 2)]
    with pytest.raises(RateLimited) as refused:
        await gate.enter(_WORK, 3, "loud")
    assert refused.value.code == "TOO_MANY_AT_ONCE"
    quiet = await gate.enter(_WORK, 9, "quiet")
    with pytest.raises(Unavailable) as busy:
        await gate.enter(_WORK, 7, "third")
    assert busy.value.code == "SERVER_BUSY"
    for turn in (*held, quiet):
        turn.release()
        turn.release()
    assert gate.running() == {"test": 0}


async def test_orgs_in_line_are_served_in_turn() -> None:
    gate = ConcurrencyGate()
    work = Work("test", 1, 1, 2, waiting_per_org=10, wait_s=5)
    first, second = await gate.enter(work, "a", "loud"), await gate.enter(work, "b", "other")
    served: list[str] = []

    async def wait(caller: int, org: str) -> None:
        turn = await gate.enter(work, (org, caller), org)
        served.append(org)
        await asyncio.sleep(0)
        turn.release()

    waiting = [asyncio.create_task(wait(n, "loud")) for n in range(5)]
    await asyncio.sleep(0)
    waiting += [asyncio.create_task(wait(n, "quiet")) for n in range(2)]
    await asyncio.sleep(0)
    first.release()
    second.release()
    await asyncio.gather(*waiting)
    # The line of the one does not come before the two of the other.
    assert sorted(served[:4]).count("quiet") == 2
    assert gate.running() == {"test": 0}


async def test_a_waiter_that_leaves_takes_no_place() -> None:
    gate = ConcurrencyGate()
    held = await gate.enter(_WORK, 1, "org")
    leaving = asyncio.create_task(gate.enter(_WORK, 1, "org"))
    await asyncio.sleep(0)
    leaving.cancel()
    await asyncio.gather(leaving, return_exceptions=True)
    held.release()
    again = await gate.enter(_WORK, 1, "org")
    again.release()
    assert gate.running() == {"test": 0}


async def test_a_place_given_to_a_waiter_that_leaves_is_given_back() -> None:
    gate = ConcurrencyGate()
    held = await gate.enter(_WORK, 1, "org")
    leaving = asyncio.create_task(gate.enter(_WORK, 1, "org"))
    await asyncio.sleep(0)
    # Both in one turn of the loop: the place is given, and its waiter cancelled before it knows.
    held.release()
    leaving.cancel()
    await asyncio.gather(leaving, return_exceptions=True)
    assert gate.running() == {"test": 0}


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2), st.booleans()), max_size=60))
def test_bounds_hold_whatever_comes(steps: list[tuple[int, int, bool]]) -> None:
    async def play() -> None:
        gate = ConcurrencyGate()
        held: list[tuple[Turn, int, int]] = []
        for caller, org, leaves in steps:
            if leaves and held:
                held.pop(caller % len(held))[0].release()
                continue
            work = Work("test", per_caller=1, per_org=2, total=3)
            with contextlib.suppress(RateLimited, Unavailable):
                held.append((await gate.enter(work, (org, caller), org), caller, org))
            assert len(held) <= 3
            assert max(Counter(org for _, _, org in held).values(), default=0) <= 2
            assert max(Counter((o, c) for _, c, o in held).values(), default=0) <= 1
            assert gate.running() == {"test": len(held)}

    asyncio.run(play())


def test_a_kind_of_work_that_one_org_could_fill_is_refused() -> None:
    with pytest.raises(ValueError, match="per org < total"):
        Work("greedy", per_caller=1, per_org=2, total=2)
