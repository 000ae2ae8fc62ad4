"""Which runs of a schedule begin now, and which were missed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Literal

from penstock.model.schedules.cron import Cron

CatchUp = Literal["once", "all", "none"]
# A run that begins this much later than it is due was missed.
GRACE = timedelta(minutes=5)
MOST_AT_ONCE = 200
# Missed runs that are looked at; after a longer outage only those of the last day are.
_MOST_MISSED = 3000
_LAST_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Timing:
    """When a schedule is due: by a cron expression, or once at a time."""

    cron: Cron | None = None
    at: datetime | None = None

    def after(self, moment: datetime) -> Iterator[datetime]:
        if self.cron is not None:
            yield from self.cron.after(moment)
        elif self.at is not None and self.at > moment:
            yield self.at.astimezone(UTC)

    def next_after(self, moment: datetime) -> datetime | None:
        return next(self.after(moment), None)

    def next_runs(self, moment: datetime, count: int = 5) -> list[datetime]:
        return list(islice(self.after(moment), count))


@dataclass(frozen=True, slots=True)
class DuePlan:
    """Runs that begin, runs that do not, and when the schedule is due next."""

    begin: Sequence[datetime]
    missed: Sequence[datetime]
    next_at: datetime | None


def plan_due(
    timing: Timing, next_at: datetime, now: datetime, catch_up: CatchUp,
    *, grace: timedelta = GRACE, most: int = MOST_AT_ONCE,
) -> DuePlan:  # fmt: skip
    """What happens ``now`` to a schedule whose next run is ``next_at``, which has come."""
    due = [next_at]
    if catch_up == "all":
        return DuePlan(due, (), _collect(timing, due, now, most))
    following = _collect(timing, due, now, _MOST_MISSED)
    if following is not None and following <= now:
        following = _collect(timing, due, now, None, now - _LAST_DAY)
    if catch_up == "once":
        return DuePlan(due[-1:], due[:-1], following)
    on_time = [moment for moment in due if now - moment <= grace]
    return DuePlan(on_time, due[: len(due) - len(on_time)], following)


def _collect(
    timing: Timing, due: list[datetime], now: datetime, most: int | None,
    start: datetime | None = None,
) -> datetime | None:  # fmt: skip
    """Add the due times up to ``now``, at most until there are ``most``; return the next one."""
    for moment in timing.after(max(due[-1], start or due[-1])):
        if moment > now or len(due) == most:
            return moment
        due.append(moment)
    return None
