"""A thousand orgs with skewed load on a few workers, in simulated time: who gets what, who waits.

`python -m benchmarks.fair_share` prints the figures. The rules are those of `model.fairness`, which
the claim's SQL is held to by a test; only time is simulated, so an hour passes in seconds.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from penstock.model.fairness import PLAN_WEIGHTS, charged, score, start_tag

SLICE_MS = 5000.0


@dataclass
class Org:
    """A tenant in the simulation. ``backlog`` is work in milliseconds that waits for a slot."""

    number: int
    weight: int
    vt: float = 0.0
    backlog: float = 0.0
    held: float = 0.0
    live: int = 0
    starts: list[float] = field(default_factory=list)
    served: float = 0.0
    asked_at: float | None = None
    # Whether it had used up its share when it asked.
    in_debt: bool = False
    waits: list[float] = field(default_factory=list)
    waits_in_debt: list[float] = field(default_factory=list)


@dataclass
class Scheduler:
    """Picks an org for a free slot and is told what a slice really took."""

    orgs: Sequence[Org]
    org_cap: int = 10**9
    clock: float = 0.0
    waiting: dict[int, Org] = field(default_factory=dict)

    def ask(self, org: Org, now: float, work: float) -> None:
        if org.backlog <= 0:
            org.asked_at = now
            org.in_debt = org.vt > self.clock or org.live > 0
            self.waiting[org.number] = org
        org.backlog += work

    def choose(self) -> Org | None:
        may = (org for org in self.waiting.values() if org.live < self.org_cap)
        return min(may, key=self._rank, default=None)

    def _rank(self, org: Org) -> tuple[float, float, int]:
        start = start_tag(org.vt, self.clock, min(org.starts, default=None))
        return (score(start, org.held, org.weight), org.vt, org.number)

    def begin(self, org: Org, expected: float, now: float) -> float:
        """The slice's start in virtual time."""
        if org.asked_at is not None:
            (org.waits_in_debt if org.in_debt else org.waits).append(now - org.asked_at)
            org.asked_at = None
        start = start_tag(org.vt, self.clock, min(org.starts, default=None))
        self.clock = max(self.clock, start)
        org.starts.append(start)
        org.backlog -= expected
        if org.backlog <= 0:
            del self.waiting[org.number]
        org.held += expected
        org.live += 1
        return start

    def end(self, org: Org, expected: float, start: float, actual: float) -> None:
        org.vt = charged(org.vt, start, actual, org.weight)
        org.held -= expected
        org.live -= 1
        org.starts.remove(start)
        org.served += actual


def simulate(
    scheduler: Scheduler,
    slots: int,
    arrivals: Iterable[tuple[float, int, float]],
    until: float,
    chance: random.Random,
    spread: float = 0.2,
) -> None:
    """Work arrives as (time, org, milliseconds) in order of time; slices take what was expected of
    them, give or take ``spread``."""
    coming = iter(arrivals)
    next_one = next(coming, None)
    running: list[tuple[float, int, int, float, float, float]] = []
    now, free, serial = 0.0, slots, 0
    while now < until:
        while next_one is not None and next_one[0] <= now:
            scheduler.ask(scheduler.orgs[next_one[1]], next_one[0], next_one[2])
            next_one = next(coming, None)
        while free and (chosen := scheduler.choose()) is not None:
            expected = min(SLICE_MS, chosen.backlog)
            actual = expected * (1 + spread * (2 * chance.random() - 1))
            start = scheduler.begin(chosen, expected, now)
            serial += 1
            heapq.heappush(running, (now + actual, serial, chosen.number, expected, start, actual))
            free -= 1
        moments = [next_one[0]] if next_one is not None else []
        if running:
            moments.append(running[0][0])
        if not moments:
            return
        now = min(moments)
        while running and running[0][0] <= now:
            _, _, number, expected, start, actual = heapq.heappop(running)
            scheduler.end(scheduler.orgs[number], expected, start, actual)
            free += 1


def jain(shares: Sequence[float]) -> float:
    """1 when all are equal, 1/n when one has everything."""
    squares = sum(share * share for share in shares)
    return sum(shares) ** 2 / (len(shares) * squares) if squares else 1.0


def make_orgs(count: int) -> list[Org]:
    """Few large plans, many small ones, whatever their load is."""
    plans = ["enterprise"] + ["premium"] * 4 + ["standard"] * 15 + ["basic"] * 40 + ["trial"] * 40
    return [Org(n, PLAN_WEIGHTS[plans[n % len(plans)]]) for n in range(count)]


@dataclass(frozen=True)
class Report:
    jain_index: float
    waits: Sequence[float]
    waits_in_debt: Sequence[float]
    orgs_never_served: int


def saturated(count: int = 1000, slots: int = 10, hours: float = 4, seed: int = 1) -> float:
    """Everybody always has work: Jain's index over what each got for its weight."""
    chance = random.Random(seed)
    orgs = make_orgs(count)
    endless = [(0.0, org.number, 1e12) for org in orgs]
    simulate(Scheduler(orgs), slots, endless, hours * 3_600_000, chance)
    return jain([org.served / org.weight for org in orgs])


def skewed(count: int = 1000, slots: int = 10, hours: float = 6, seed: int = 1) -> Report:
    """Ten orgs swamp the queue; the others send a small job now and then."""
    chance = random.Random(seed)
    orgs = make_orgs(count)
    until = hours * 3_600_000
    heavy = set(chance.sample(range(count), 10))
    arrivals = [(0.0, number, 1e12) for number in heavy]
    # The light ones together ask for about a third of what there is.
    jobs = int(until * slots / 3 / 4000)
    light = [number for number in range(count) if number not in heavy]
    arrivals += [
        (chance.uniform(0, until * 0.95), chance.choice(light), chance.uniform(2000, 6000))
        for _ in range(jobs)
    ]
    simulate(Scheduler(orgs), slots, sorted(arrivals), until, chance)
    waits = sorted(wait for number in light for wait in orgs[number].waits)
    in_debt = sorted(wait for number in light for wait in orgs[number].waits_in_debt)
    index = jain([orgs[number].served / orgs[number].weight for number in heavy])
    asked = {number for _, number, _ in arrivals}
    return Report(index, waits, in_debt, sum(1 for number in asked if orgs[number].served == 0))


def _told(waits: Sequence[float]) -> str:
    points = (waits[len(waits) // 2], waits[int(len(waits) * 0.99)], waits[-1])
    return "p50 {:.2f} s, p99 {:.2f} s, worst {:.2f} s".format(*(p / 1000 for p in points))


def main() -> None:
    print(f"1,000 orgs, all busy for 4 h on 10 slots: Jain's index {saturated():.4f} (by weight)")
    report = skewed()
    slice_s = SLICE_MS / 1000
    print(f"10 of 1,000 orgs swamp the queue for 6 h; slices of {slice_s:.0f} s, 10 slots:")
    print(f"  among the ten: Jain's index {report.jain_index:.4f} (by weight)")
    print(f"  the others, within their share: {len(report.waits):,} jobs, {_told(report.waits)}")
    many = len(report.waits_in_debt)
    print(f"  the others, beyond it:          {many:,} jobs, {_told(report.waits_in_debt)}")
    print(f"  never served: {report.orgs_never_served}")


if __name__ == "__main__":
    main()
