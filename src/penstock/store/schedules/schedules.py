"""Schedules and their runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from penstock.model.schedules.cron import parse_cron
from penstock.model.schedules.due import CatchUp, DuePlan, Timing
from penstock.store.accounts.accounts import Principal
from penstock.store.database import Connection, to_json
from penstock.store.queries import load

_sql = load("schedules")
NEWEST = datetime.max


@dataclass(frozen=True, slots=True)
class ScheduleRow:
    """A schedule. ``action`` is JSON."""

    id: UUID
    org_id: int
    user_id: int
    name: str
    cron: str | None
    at: datetime | None
    time_zone: str
    catch_up: CatchUp
    action: str
    state: str
    pause_reason: str | None
    failures: int
    pause_after: int
    next_at: datetime | None
    planned_at: datetime
    created_at: datetime
    updated_at: datetime
    org: str
    owner: str | None
    owner_disabled: bool

    @property
    def timing(self) -> Timing:
        return timing_of(self.cron, self.at, self.time_zone)


@dataclass(frozen=True, slots=True)
class LockedSchedule:
    name: str
    state: str
    failures: int
    pause_after: int


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run of a schedule. ``error`` is JSON."""

    due_at: datetime
    state: str
    manual: bool
    times: int
    attempts: int
    job_id: UUID | None
    error: str | None
    created_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class DueSchedule:
    """A schedule whose time has come, and the time it is now."""

    id: UUID
    org_id: int
    cron: str | None
    at: datetime | None
    time_zone: str
    catch_up: CatchUp
    next_at: datetime
    now: datetime

    @property
    def timing(self) -> Timing:
        return timing_of(self.cron, self.at, self.time_zone)


@dataclass(frozen=True, slots=True)
class WaitingRun:
    """A run to begin, and the user under whose rights it runs. ``action`` is JSON."""

    schedule_id: UUID
    due_at: datetime
    attempts: int
    name: str
    action: str
    disabled: bool
    who: Principal


@dataclass(frozen=True, slots=True)
class EndedRun:
    schedule_id: UUID
    due_at: datetime
    state: str
    error: str | None


@dataclass(frozen=True, slots=True)
class NewSchedule:
    """What a user sets. ``action`` is JSON; ``next_at`` None leaves a paused schedule paused."""

    name: str
    cron: str | None
    at: datetime | None
    time_zone: str
    catch_up: CatchUp
    action: str
    pause_after: int
    next_at: datetime | None


def timing_of(cron: str | None, at: datetime | None, time_zone: str) -> Timing:
    return Timing(None if cron is None else parse_cron(cron, time_zone), at)


async def add(
    conn: Connection, schedule_id: UUID, org_id: int, user_id: int, new: NewSchedule
) -> bool:
    """False if the org has a schedule of this name."""
    return bool(
        await conn.fetch(
            _sql.add_schedule, schedule_id, org_id, user_id, new.name, new.cron, new.at,
            new.time_zone, new.catch_up, new.action, new.pause_after, new.next_at,
        )
    )  # fmt: skip


async def count(conn: Connection, org_id: int, most: int) -> int:
    return int(await conn.fetchval(_sql.count_schedules, org_id, most))


async def list_schedules(conn: Connection, org_id: int, most: int) -> list[ScheduleRow]:
    return [ScheduleRow(**row) for row in await conn.fetch(_sql.list_schedules, org_id, most)]


async def get(conn: Connection, schedule_id: UUID) -> ScheduleRow | None:
    row = await conn.fetchrow(_sql.get_schedule, schedule_id)
    return None if row is None else ScheduleRow(**row)


async def lock(conn: Connection, schedule_id: UUID) -> LockedSchedule | None:
    """None if the schedule was deleted."""
    row = await conn.fetchrow(_sql.lock_schedule, schedule_id)
    return None if row is None else LockedSchedule(**row)


async def name_taken(conn: Connection, org_id: int, name: str, schedule_id: UUID) -> bool:
    return bool(await conn.fetchval(_sql.name_taken, org_id, name, schedule_id))


async def change(conn: Connection, schedule_id: UUID, new: NewSchedule) -> None:
    await conn.execute(
        _sql.change_schedule, schedule_id, new.name, new.cron, new.at, new.time_zone, new.catch_up,
        new.action, new.pause_after, new.next_at,
    )  # fmt: skip


async def delete(conn: Connection, schedule_id: UUID) -> bool:
    return bool(await conn.fetch(_sql.delete_schedule, schedule_id))


async def pause(conn: Connection, schedule_id: UUID, reason: str) -> bool:
    return bool(await conn.fetch(_sql.pause_schedule, schedule_id, reason))


async def resume(conn: Connection, schedule_id: UUID, next_at: datetime) -> bool:
    return bool(await conn.fetch(_sql.resume_schedule, schedule_id, next_at))


async def lock_due(conn: Connection, most: int, shift: timedelta) -> list[DueSchedule]:
    """Schedules whose time has come; those that another process works on are left out."""
    rows = await conn.fetch(_sql.due_schedules, most, shift)
    return [DueSchedule(**row) for row in rows]


async def lock_planned_ahead(conn: Connection, most: int, shift: timedelta) -> list[DueSchedule]:
    """Schedules whose next time was set by a clock that was set back since."""
    rows = await conn.fetch(_sql.planned_ahead, most, shift)
    return [DueSchedule(**row) for row in rows]


async def set_next(conn: Connection, schedule: DueSchedule, next_at: datetime | None) -> None:
    """Move the schedule to its next due time; without one it has ended."""
    await conn.execute(_sql.advance, schedule.id, next_at, schedule.now)


async def bring_runs_forward(conn: Connection) -> None:
    await conn.execute(_sql.bring_runs_forward)


async def clock(conn: Connection) -> datetime:
    """The time by which schedules are due."""
    now: datetime = await conn.fetchval(_sql.read_clock)
    return now


async def apply_plan(conn: Connection, schedule: DueSchedule, plan: DuePlan) -> int:
    """Add the runs of a plan, and move the schedule on. Return how many runs are new."""
    added = await conn.fetch(
        _sql.add_runs, schedule.id, schedule.org_id, list(plan.begin), "waiting", 1
    )
    if plan.missed:
        await conn.fetch(
            _sql.add_runs, schedule.id, schedule.org_id, [plan.missed[-1]], "missed",
            len(plan.missed),
        )  # fmt: skip
    await set_next(conn, schedule, plan.next_at)
    return len(added)


async def add_manual_run(conn: Connection, schedule_id: UUID, org_id: int) -> datetime:
    due_at: datetime = await conn.fetchval(_sql.add_manual_run, schedule_id, org_id)
    return due_at


async def list_runs(
    conn: Connection, schedule_id: UUID, before: datetime, limit: int
) -> list[RunRow]:
    rows = await conn.fetch(_sql.list_runs, schedule_id, before, limit)
    return [RunRow(**row) for row in rows]


async def last_runs(conn: Connection, schedule_ids: Sequence[UUID]) -> dict[UUID, RunRow]:
    rows = await conn.fetch(_sql.last_runs, list(schedule_ids))
    return {
        row["schedule_id"]: RunRow(**{k: v for k, v in row.items() if k != "schedule_id"})
        for row in rows
    }


async def waiting_runs(conn: Connection, most: int) -> list[WaitingRun]:
    return [_waiting(row) for row in await conn.fetch(_sql.waiting_runs, most)]


def _waiting(row: Any) -> WaitingRun:
    # A schedule acts in the org of its user, even if the user is an admin of all orgs.
    admin = row["role"] == "admin"
    who = Principal(
        user_id=row["user_id"], org_id=row["org_id"], email=row["email"],
        role="member" if admin else row["role"], org=row["org"], plan=row["plan"],
        shared_jobs=admin, writes=row["role"] != "viewer",
    )  # fmt: skip
    return WaitingRun(
        row["schedule_id"], row["due_at"], row["attempts"], row["name"], row["action"],
        row["disabled"], who,
    )  # fmt: skip


async def lock_run(conn: Connection, run: WaitingRun) -> str | None:
    """The state of the run, with its row locked; None if it was deleted."""
    state: str | None = await conn.fetchval(_sql.lock_run, run.schedule_id, run.due_at)
    return state


async def begin_run(conn: Connection, run: WaitingRun, job_id: UUID) -> None:
    await conn.execute(_sql.begin_run, run.schedule_id, run.due_at, job_id)


async def finish_run(conn: Connection, run: WaitingRun) -> bool:
    """False if another process was faster."""
    return bool(await conn.fetch(_sql.finish_run, run.schedule_id, run.due_at))


async def retry_run(
    conn: Connection, run: WaitingRun, error: Mapping[str, Any], delay_ms: float
) -> bool:
    """False if another process was faster."""
    return bool(
        await conn.fetch(
            _sql.retry_run, run.schedule_id, run.due_at, to_json(error), delay_ms, run.attempts
        )
    )


async def fail_run(conn: Connection, run: WaitingRun, error: Mapping[str, Any]) -> bool:
    """False if another process was faster."""
    return bool(
        await conn.fetch(_sql.fail_run, run.schedule_id, run.due_at, to_json(error), run.attempts)
    )


async def end_runs(conn: Connection, most: int) -> list[EndedRun]:
    """Note the end of runs whose jobs have ended."""
    return [EndedRun(**row) for row in await conn.fetch(_sql.end_runs, most)]


async def count_failures(conn: Connection, schedule_id: UUID, failures: int) -> None:
    await conn.execute(_sql.count_failures, schedule_id, failures)


async def drop_old_runs(conn: Connection, days: float, chunk: int) -> int:
    done = await conn.execute(_sql.drop_old_runs, days, chunk)
    return int(done.rpartition(" ")[2])
