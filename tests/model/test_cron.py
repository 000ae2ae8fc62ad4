"""Cron expressions: fields, days, time zones and changes of the clocks, over whole years."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from penstock.model.errors import BadInput
from penstock.model.schedules.cron import parse_cron

BERLIN, NEW_YORK, LORD_HOWE = "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"


def of_year(cron: str, zone: str, year: int) -> list[datetime]:
    """Due times of a local year, in local time, each later than the one before."""
    made = parse_cron(cron, zone)
    start = datetime(year, 1, 1, tzinfo=made.zone).astimezone(UTC) - timedelta(seconds=1)
    end = datetime(year + 1, 1, 1, tzinfo=made.zone).astimezone(UTC)
    found: list[datetime] = []
    last = start
    for due in made.after(start):
        assert due > last
        last = due
        if due >= end:
            break
        found.append(due.astimezone(made.zone))
    return found


# Every year has 8,760 hours, a leap year 8,784. Where times are skipped, they are due together.
@pytest.mark.parametrize(
    ("cron", "year", "zone", "count"),
    [
        *(("30 2 * * *", 2027, zone, 365) for zone in (BERLIN, NEW_YORK, LORD_HOWE)),
        *(("30 2 * * *", 2028, zone, 366) for zone in (BERLIN, NEW_YORK, LORD_HOWE)),
        # Two times a day; in spring both are skipped, and due together.
        ("*/30 2 * * *", 2027, BERLIN, 729),
        ("*/30 2 * * *", 2027, NEW_YORK, 729),
        # Its clocks go from 2:00 to 2:30, so that 2:00 is due with 2:30.
        ("*/30 2 * * *", 2027, LORD_HOWE, 729),
        # Every hour follows elapsed time.
        ("0 * * * *", 2027, BERLIN, 8760),
        ("0 * * * *", 2027, NEW_YORK, 8760),
        ("0 * * * *", 2028, BERLIN, 8784),
        ("*/15 * * * *", 2027, BERLIN, 35040),
        ("*/15 * * * *", 2027, NEW_YORK, 35040),
        ("*/15 * * * *", 2027, LORD_HOWE, 35040),
        # Every second hour: 2:00 is skipped and due at 3:00, and repeated but due once.
        ("0 */2 * * *", 2027, BERLIN, 12 * 365),
        ("0 */2 * * *", 2028, NEW_YORK, 12 * 366),
        ("0 2 29 2 *", 2027, BERLIN, 0),
        ("0 2 29 2 *", 2028, BERLIN, 1),
        ("0 0 31 * *", 2027, NEW_YORK, 7),
        ("0 0 30 * *", 2028, LORD_HOWE, 11),
        ("0 0 L * *", 2027, BERLIN, 12),
        ("0 12 * * MON#1", 2027, NEW_YORK, 12),
        ("0 12 * * 5L", 2027, LORD_HOWE, 12),
        ("0 6 * * MON-FRI", 2027, BERLIN, 261),
        # One of both days is enough.
        ("0 0 1 * MON", 2027, BERLIN, 52 + 12 - 3),
        ("0 0 1 */3 *", 2027, BERLIN, 4),
        ("@daily", 2028, NEW_YORK, 366),
        ("@yearly", 2027, LORD_HOWE, 1),
    ],
)  # fmt: skip
def test_a_year_has_an_exact_number_of_runs(cron: str, year: int, zone: str, count: int) -> None:
    found = of_year(cron, zone, year)
    assert len(found) == count


@pytest.mark.parametrize(
    ("zone", "skipped", "repeated"),
    [
        (BERLIN, "2027-03-28T03:00:00+02:00", "2027-10-31T02:30:00+02:00"),
        (LORD_HOWE, "2027-10-03T02:30:00+11:00", "2027-04-04T02:30:00+10:30"),
    ],
)
def test_skipped_and_repeated_hours_run_once(zone: str, skipped: str, repeated: str) -> None:
    found = of_year("30 2 * * *", zone, 2027)
    for moment in (skipped, repeated):
        day = [due.isoformat() for due in found if due.date().isoformat() == moment[:10]]
        assert day == [moment]


def test_the_repeated_hour_of_new_york_runs_at_its_first_time() -> None:
    found = of_year("30 1 * * *", NEW_YORK, 2027)
    [due] = [one for one in found if (one.month, one.day) == (11, 7)]
    assert due.isoformat() == "2027-11-07T01:30:00-04:00"


def test_every_hour_runs_twice_in_a_repeated_hour() -> None:
    found = of_year("30 * * * *", BERLIN, 2027)
    counts = {
        day: sum((one.month, one.day) == day for one in found)
        for day in ((3, 28), (10, 31), (6, 1))
    }
    assert counts == {(3, 28): 23, (10, 31): 25, (6, 1): 24}


def test_the_next_run_does_not_depend_on_where_the_search_begins() -> None:
    made = parse_cron("*/20 1-3 * * *", BERLIN)
    start = datetime(2027, 10, 30, tzinfo=UTC)
    all_runs = list(islice(made.after(start), 30))
    for minutes in range(0, 3 * 24 * 60, 7):
        moment = start + timedelta(minutes=minutes)
        following = [due for due in all_runs if due > moment]
        if following:
            assert next(made.after(moment)) == following[0]


FIELDS = [
    st.sampled_from(["*", "0", "*/7", "5-50/9", "1,2,59", "30/10"]),
    st.sampled_from(["*", "2", "*/5", "1-4", "0,23"]),
    st.sampled_from(["*", "1", "31", "L", "*/10", "28-31"]),
    st.sampled_from(["*", "2", "JAN-JUN", "3,10", "*/4"]),
    st.sampled_from(["*", "0", "7", "MON-FRI", "SUN#2", "3L"]),
]


@given(st.tuples(*FIELDS), st.sampled_from([BERLIN, NEW_YORK, LORD_HOWE, "Asia/Kathmandu"]),
       st.datetimes(datetime(2026, 1, 1), datetime(2030, 1, 1)))  # fmt: skip
@settings(max_examples=100, deadline=None)
def test_each_run_matches_its_fields(fields: tuple[str, ...], zone: str, begin: datetime) -> None:
    try:
        made = parse_cron(" ".join(fields), zone)
    except BadInput:
        # Such as 31 February, which is never due.
        reject()
    before = begin.replace(tzinfo=UTC)
    for due in islice(made.after(before), 40):
        assert due > before
        before = due
        local = due.astimezone(ZoneInfo(zone))
        # A time that was skipped is due when the clocks change.
        moved = (local - timedelta(seconds=1)).utcoffset() != local.utcoffset()
        changed = (due - timedelta(seconds=1)).astimezone(ZoneInfo(zone)).utcoffset()
        assert (
            moved
            or changed != local.utcoffset()
            or (local.minute in made.minutes and local.hour in made.hours)
        )
        assert local.month in made.months


@pytest.mark.parametrize(
    "cron",
    [
        "", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * 32 * *",
        "* * * 13 *", "* * * * 8", "5-1 * * * *", "*/0 * * * *", "a * * * *", "1.5 * * * *",
        "-1 * * * *", "* * * * MON#6", "* * * * #1", "* * * * L", "0 0 31 2 *", "@often",
        ", * * * *", "1,,2 * * * *", "\u0661 * * * *", "*" * 300,
    ],
)  # fmt: skip
def test_expressions_that_are_refused(cron: str) -> None:
    with pytest.raises(BadInput) as refused:
        parse_cron(cron, "UTC")
    assert refused.value.message.startswith("cron: ")


@pytest.mark.parametrize("zone", ["", "Mars/Base", "../etc/passwd", "/etc/localtime", "a\0b"])
def test_zones_that_are_refused(zone: str) -> None:
    with pytest.raises(BadInput, match="there is no time zone"):
        parse_cron("@daily", zone)


def test_zones_are_known_without_those_of_the_system() -> None:
    code = "from penstock.model.schedules.cron import parse_zone as z; print(z('Asia/Kathmandu'))"
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONTZPATH": ""}, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("Asia/Kathmandu\n", "")
