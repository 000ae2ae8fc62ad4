"""Cron expressions in a time zone.

Five fields: minute, hour, day of month, month, day of week. Each is `*`, a number, a name (`JAN`,
`MON`), a range, a list or a step. `L` is the last day of the month, `FRI#2` the second Friday, and
`5L` the last one. If both days are restricted, a day needs to match only one of them.

When the clocks change:

- A schedule that names hours is due once for each local time. Times that the clock skips are due
  together, at the moment of the change. Times that the clock repeats are due the first time.
- A schedule of every hour follows elapsed time: a skipped hour is not there, a repeated hour is due
  twice.
"""

from __future__ import annotations

import calendar
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from penstock.model.errors import BadInput

LONGEST = 200
_ALIASES = {
    "@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0", "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}  # fmt: skip
_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
# Between two leap days there may be eight years.
_SEARCHED_DAYS = 366 * 9
_LAST_YEAR = 9000
_LAST = "L"


@dataclass(frozen=True, slots=True)
class _Field:
    """The name and the values of a field. ``names`` stand for values from ``first`` on."""

    name: str
    first: int
    last: int
    names: tuple[str, ...] = ()

    def number(self, text: str) -> int:
        if text in self.names:
            return self.names.index(text) + self.first
        if not (text.isascii() and text.isdigit() and len(text) <= 2):
            raise self.refusal(text)
        found = int(text)
        if not self.first <= found <= self.last:
            raise self.refusal(text)
        return found

    def refusal(self, text: str) -> BadInput:
        return BadInput(
            "INVALID_PARAMETERS",
            f"cron: {text[:20]!r} is not allowed as {self.name} ({self.first} to {self.last}).",
        )

    def values(self, text: str) -> frozenset[int]:
        return frozenset(value for part in text.split(",") for value in self._part(part))

    def _part(self, text: str) -> range:
        term, slash, step_text = text.partition("/")
        step = 1
        if slash:
            if not (step_text.isascii() and step_text.isdigit() and 0 < int(step_text[:3]) < 100):
                raise self.refusal(text)
            step = int(step_text[:3])
        if term == "*":
            return range(self.first, self.last + 1, step)
        begin, dash, end = term.partition("-")
        first = self.number(begin)
        if dash:
            last = self.number(end)
            if last < first:
                raise self.refusal(text)
        else:
            last = self.last if slash else first
        return range(first, last + 1, step)


_MINUTE = _Field("minute", 0, 59)
_HOUR = _Field("hour", 0, 23)
_DAY = _Field("day of month", 1, 31)
_MONTH = _Field("month", 1, 12, _MONTHS)
_WEEKDAY = _Field("day of week", 0, 7, _DAYS)


@dataclass(frozen=True, slots=True)
class Cron:
    """A parsed expression. Days of the week are counted from Sunday, which is 0."""

    text: str
    zone: ZoneInfo
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: frozenset[int]
    on_last_day: bool
    months: frozenset[int]
    weekdays: frozenset[int]
    # Weekday and its number in the month; 0 is the last one.
    numbered: frozenset[tuple[int, int]]
    both_days: bool

    @property
    def every_hour(self) -> bool:
        return len(self.hours) == 24

    def after(self, moment: datetime) -> Iterator[datetime]:
        """Due times later than ``moment``, in UTC and in order."""
        last = moment.astimezone(UTC)
        day = last.astimezone(self.zone).date() - timedelta(days=1)
        idle = 0
        while idle < _SEARCHED_DAYS and day.year < _LAST_YEAR:
            idle += 1
            if self._matches(day):
                for due in _times_of(self, day):
                    if due > last:
                        last, idle = due, 0
                        yield due
            day += timedelta(days=1)

    def _matches(self, day: date) -> bool:
        if day.month not in self.months:
            return False
        in_month = day.day in self.days or (self.on_last_day and day.day == _length(day))
        weekday = day.isoweekday() % 7
        in_week = weekday in self.weekdays or self._is_numbered(day, weekday)
        return (in_month and in_week) if self.both_days else (in_month or in_week)

    def _is_numbered(self, day: date, weekday: int) -> bool:
        if not self.numbered:
            return False
        if (weekday, (day.day + 6) // 7) in self.numbered:
            return True
        return (weekday, 0) in self.numbered and day.day + 7 > _length(day)

    def moments(self, local: datetime) -> Iterator[datetime]:
        """When the clock shows a local time that is due: once, twice or never."""
        first = local.replace(tzinfo=self.zone).astimezone(UTC)
        second = local.replace(tzinfo=self.zone, fold=1).astimezone(UTC)
        if first == second:
            yield first
        elif first < second:
            yield first
            if self.every_hour:
                yield second
        elif not self.every_hour:
            yield self._change_between(second, first)

    def _change_between(self, before: datetime, after: datetime) -> datetime:
        """The moment between two at which the offset of the zone changes."""
        offset = before.astimezone(self.zone).utcoffset()
        while after - before > timedelta(seconds=1):
            middle = (before + (after - before) / 2).replace(microsecond=0)
            if middle.astimezone(self.zone).utcoffset() == offset:
                before = middle
            else:
                after = middle
        return after


@lru_cache(maxsize=16)
def _times_of(cron: Cron, day: date) -> tuple[datetime, ...]:
    """Due times of a local day. Cached, because each look at a schedule begins a day earlier."""
    times = (
        datetime.combine(day, time(hour, minute)) for hour in cron.hours for minute in cron.minutes
    )
    return tuple(sorted({moment for local in times for moment in cron.moments(local)}))


def parse_cron(text: str, zone: str) -> Cron:
    """Raise INVALID_PARAMETERS if the expression is not valid, or never due."""
    if len(text) > LONGEST:
        raise BadInput("INVALID_PARAMETERS", f"cron: longer than {LONGEST} characters.")
    given = text.strip()
    parts = _ALIASES.get(given.lower(), given).upper().split()
    if len(parts) != 5:
        raise BadInput(
            "INVALID_PARAMETERS",
            "cron: give five fields (minute, hour, day of month, month, day of week), or one of"
            f" {', '.join(_ALIASES)}.",
        )
    minute, hour, day, month, weekday = parts
    days, on_last_day = _days(day)
    weekdays, numbered = _weekdays(weekday)
    made = Cron(
        given, parse_zone(zone), tuple(sorted(_MINUTE.values(minute))),
        tuple(sorted(_HOUR.values(hour))), days, on_last_day, _MONTH.values(month), weekdays,
        numbered, day.startswith("*") or weekday.startswith("*"),
    )  # fmt: skip
    # No month has its days: then nothing else may be due either.
    if next(made.after(datetime(2000, 1, 1, tzinfo=UTC)), None) is None:
        raise BadInput("INVALID_PARAMETERS", f"cron: {given!r} is never due.")
    return made


def parse_zone(name: str) -> ZoneInfo:
    try:
        if name in ("localtime", "posixrules") or name.startswith(("posix/", "right/")):
            raise ValueError(name)
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError) as error:
        raise BadInput(
            "INVALID_PARAMETERS",
            f"timeZone: there is no time zone {name[:60]!r}. Use a name such as Europe/Berlin.",
        ) from error


def _days(text: str) -> tuple[frozenset[int], bool]:
    parts = text.split(",")
    plain = [part for part in parts if part != _LAST]
    found = _DAY.values(",".join(plain)) if plain else frozenset()
    return found, _LAST in parts


def _weekdays(text: str) -> tuple[frozenset[int], frozenset[tuple[int, int]]]:
    plain: list[str] = []
    numbered: set[tuple[int, int]] = set()
    for part in text.split(","):
        weekday, mark, number = part.partition("#")
        if mark:
            if number not in ("1", "2", "3", "4", "5"):
                raise _WEEKDAY.refusal(part)
            numbered.add((_WEEKDAY.number(weekday) % 7, int(number)))
        elif part.endswith(_LAST) and len(part) > 1:
            numbered.add((_WEEKDAY.number(part[:-1]) % 7, 0))
        else:
            plain.append(part)
    values = _WEEKDAY.values(",".join(plain)) if plain else frozenset()
    return frozenset(value % 7 for value in values), frozenset(numbered)


def _length(day: date) -> int:
    return calendar.monthrange(day.year, day.month)[1]
