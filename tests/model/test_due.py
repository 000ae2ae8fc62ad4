"""Due runs of a simulated year with outages and changes of the clock: exact counts."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest

from penstock.model.schedules.cron import parse_cron
from penstock.model.schedules.due import CatchUp, Timing, plan_due

START = datetime(2028, 1, 1, tzinfo=UTC)
END = datetime(2029, 1, 1, tzinfo=UTC)
CRONS = ("30 2 * * *", "0 */6 * * *", "15 * * * *", "0 0 L * *")
ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe")


def due_in_year(timing: Timing) -> list[datetime]:
    found = []
    for due in timing.after(START):
        if due > END:
            break
        found.append(due)
    return found


def simulate(timing: Timing, catch_up: CatchUp, seed: int) -> tuple[list[datetime], list[datetime]]:
    """Ticks of a leader over a year: late by seconds, away for up to five days, and with a clock
    that is set back now and then."""
    chance = random.Random(seed)
    now, next_at = START, timing.next_after(START)
    begun: list[datetime] = []
    missed: list[datetime] = []
    while now <= END + timedelta(days=6):
        kind = chance.random()
        if kind < 0.001:
            now += timedelta(hours=chance.uniform(1, 120))
        elif kind < 0.002:
            now -= timedelta(minutes=chance.uniform(1, 90))
        else:
            # Nothing happens before the next run: skip to it.
            assert next_at is not None
            now = max(now, next_at) + timedelta(seconds=chance.uniform(0, 20))
        while next_at is not None and next_at <= min(now, END):
            plan = plan_due(timing, next_at, min(now, END), catch_up)
            begun += plan.begin
            missed += plan.missed
            next_at = plan.next_at
        if next_at is None or next_at > END:
            break
    return begun, missed


@pytest.mark.slow
@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("cron", CRONS)
def test_each_due_time_of_a_year_is_begun_or_missed_once(cron: str, zone: str) -> None:
    timing = Timing(parse_cron(cron, zone))
    expected = due_in_year(timing)
    for seed in range(3):
        begun, missed = simulate(timing, "all", seed)
        assert begun == expected
        assert missed == []
        for catch_up in ("once", "none"):
            begun, missed = simulate(timing, catch_up, seed)
            assert sorted(begun + missed) == expected


def test_catching_up_after_an_outage() -> None:
    timing = Timing(parse_cron("0 * * * *", "UTC"))
    down = datetime(2028, 3, 1, 10, tzinfo=UTC)
    up = datetime(2028, 3, 1, 14, 30, tzinfo=UTC)
    hours = [down + timedelta(hours=n) for n in range(5)]
    every = plan_due(timing, down, up, "all")
    assert (every.begin, every.missed, every.next_at) == (hours, (), hours[-1] + timedelta(hours=1))
    once = plan_due(timing, down, up, "once")
    assert (once.begin, once.missed) == (hours[-1:], hours[:-1])
    none = plan_due(timing, down, up, "none")
    assert (none.begin, none.missed) == ([], hours)
    on_time = plan_due(timing, down, hours[-1] + timedelta(minutes=1), "none")
    assert (on_time.begin, on_time.missed) == (hours[-1:], hours[:-1])


def test_all_missed_runs_are_begun_in_parts() -> None:
    timing = Timing(parse_cron("* * * * *", "UTC"))
    now = START + timedelta(hours=10)
    begun: list[datetime] = []
    next_at = timing.next_after(START)
    while next_at is not None and next_at <= now:
        plan = plan_due(timing, next_at, now, "all", most=100)
        assert len(plan.begin) <= 100
        begun += plan.begin
        next_at = plan.next_at
    assert begun == list(islice(timing.after(START), 600))


def test_a_year_without_a_leader_is_not_searched_minute_by_minute() -> None:
    timing = Timing(parse_cron("* * * * *", "UTC"))
    plan = plan_due(timing, START + timedelta(minutes=1), END, "once")
    assert list(plan.begin) == [END]
    assert plan.next_at == END + timedelta(minutes=1)
    assert len(plan.missed) < 10_000


def test_a_single_run() -> None:
    at = datetime(2028, 3, 1, 10, tzinfo=UTC)
    timing = Timing(at=at)
    assert timing.next_runs(START) == [at]
    assert timing.next_runs(at) == []
    assert plan_due(timing, at, at + timedelta(seconds=1), "none").begin == [at]
    late = plan_due(timing, at, at + timedelta(hours=1), "none")
    assert (list(late.begin), list(late.missed), late.next_at) == ([], [at], None)
