"""A budget of processor time per account, which binds only while other orgs are active.

Requests of an account that has used up its budget wait in the account's own queue, in memory, at no
cost to the event loop. They are admitted one by one as the budget refills, each with the mean cost
of the account's requests reserved; what a request really uses is charged while it runs.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from penstock.model.cpu.share import fair_level
from penstock.model.errors import RateLimited

# What an account may use at once after a pause, and the most it can owe.
BURST_S = 0.25
MOST_DEBT_S = 2.0
# An account is active for so long after its last request began.
ACTIVE_S = 5.0
# Use is averaged over about this time.
_AVERAGED_S = 2.0
_LEVEL_EVERY_S = 0.1
_CHECK_EVERY_S = 0.25
_LEAST_COST_S = 0.002
_PACE_S = 1.0


@dataclass(frozen=True, slots=True)
class Account:
    """An org, or the network of callers that are not signed in."""

    name: Hashable
    is_org: bool


@dataclass(slots=True)
class _Balance:
    is_org: bool
    at: float
    seconds: float = BURST_S
    rate: float = 0.0
    mean_cost: float = _LEAST_COST_S
    last_request: float = 0.0
    waiting: deque[asyncio.Future[None]] = field(default_factory=deque)
    timer: asyncio.TimerHandle | None = None


class CpuSpending:
    """What one request reserved and used; closed when the request ends."""

    __slots__ = ("_balance", "_budget", "_reserved", "_used")

    def __init__(self, budget: CpuBudget, balance: _Balance) -> None:
        self._budget = budget
        self._balance = balance
        self._reserved = balance.mean_cost
        self._used = 0.0
        balance.seconds -= self._reserved

    def charge(self, seconds: float) -> None:
        balance = self._balance
        self._used += seconds
        balance.rate += seconds / _AVERAGED_S
        covered = min(self._reserved, seconds)
        self._reserved -= covered
        balance.seconds = max(-MOST_DEBT_S, balance.seconds - (seconds - covered))

    async def pace(self) -> None:
        """Wait while the account owes processor time, for a second at most."""
        owed_s = self._budget.seconds_until_paid(self._balance)
        if owed_s > 0:
            await asyncio.sleep(min(owed_s, _PACE_S))

    def close(self) -> None:
        balance = self._balance
        balance.seconds += self._reserved
        self._reserved = 0.0
        balance.mean_cost = max(_LEAST_COST_S, 0.9 * balance.mean_cost + 0.1 * self._used)


class CpuBudget:
    """The accounts of one process."""

    def __init__(self, wait_s: float = 30.0, clock: Callable[[], float] = time.monotonic) -> None:
        self.wait_s = wait_s
        self._clock = clock
        self._balances: dict[Account, _Balance] = {}
        self._active_orgs = 0
        self._level = math.inf
        self._level_at = -math.inf
        self.refused = 0

    async def admit(self, account: Account) -> CpuSpending:
        """Wait until the account may use the processor; RATE_LIMITED after too long a wait."""
        now = self._clock()
        balance = self._balances.get(account)
        if balance is None:
            balance = self._balances[account] = _Balance(account.is_org, now)
            self._level_at = -math.inf
        balance.last_request = now
        self._refill(balance, now)
        if balance.waiting or balance.seconds <= 0:
            return await self._wait(balance)
        return CpuSpending(self, balance)

    @property
    def waiting(self) -> int:
        return sum(len(balance.waiting) for balance in self._balances.values())

    def seconds_until_paid(self, balance: _Balance) -> float:
        self._refill(balance, self._clock())
        return max(0.0, -balance.seconds / self._level) if balance.seconds < 0 else 0.0

    async def _wait(self, balance: _Balance) -> CpuSpending:
        admitted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        balance.waiting.append(admitted)
        self._schedule(balance)
        try:
            async with asyncio.timeout(self.wait_s):
                await admitted
        except TimeoutError:
            self.refused += 1
            raise RateLimited(
                "RATE_LIMITED",
                "Your requests need more than your share of this server's processor time while"
                " others use it, too. Ask less often, or for less at once.",
                retry_after_ms=round(self.wait_s * 1000),
            ) from None
        finally:
            if admitted in balance.waiting:
                balance.waiting.remove(admitted)
        return CpuSpending(self, balance)

    def _refill(self, balance: _Balance, now: float) -> None:
        if now - self._level_at >= _LEVEL_EVERY_S:
            self._set_level(now)
        passed = now - balance.at
        balance.at = now
        balance.rate *= math.exp(-passed / _AVERAGED_S)
        others = self._active_orgs - (balance.is_org and self._is_active(balance, now))
        if others:
            balance.seconds = min(BURST_S, balance.seconds + passed * self._level)
        else:
            balance.seconds = BURST_S

    def _set_level(self, now: float) -> None:
        """Also forgets accounts that have not been used for a while."""
        self._level_at = now
        used: dict[Account, float] = {}
        waiting = set()
        for account, balance in list(self._balances.items()):
            if not self._is_active(balance, now):
                if now - balance.last_request > 2 * ACTIVE_S:
                    del self._balances[account]
                continue
            used[account] = balance.rate * math.exp(-(now - balance.at) / _AVERAGED_S)
            if balance.waiting:
                waiting.add(account)
        self._active_orgs = sum(self._balances[one].is_org for one in used)
        self._level = fair_level(used, waiting)

    def _is_active(self, balance: _Balance, now: float) -> bool:
        return bool(balance.waiting) or now - balance.last_request < ACTIVE_S

    def _schedule(self, balance: _Balance) -> None:
        if balance.timer is None and balance.waiting:
            wait = min(_CHECK_EVERY_S, max(0.005, self.seconds_until_paid(balance)))
            loop = asyncio.get_running_loop()
            balance.timer = loop.call_later(wait, self._admit_waiting, balance)

    def _admit_waiting(self, balance: _Balance) -> None:
        balance.timer = None
        self._refill(balance, self._clock())
        admitted_cost = 0.0
        while balance.waiting and balance.seconds > admitted_cost:
            first = balance.waiting.popleft()
            if not first.done():
                first.set_result(None)
                # The request itself reserves this once its task runs.
                admitted_cost += balance.mean_cost
        self._schedule(balance)
