"""Create, change, pause, resume, run and delete schedules."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from penstock.app.owned import audit_owned, is_creator_or_admin, require_change
from penstock.model.errors import BadInput, NotThere, PermanentError
from penstock.model.ids import new_id
from penstock.model.schedules.actions import Action, action_json
from penstock.model.schedules.cron import parse_zone
from penstock.model.schedules.due import CatchUp, Timing
from penstock.store.accounts.audit_log import Caller
from penstock.store.database import Connection
from penstock.store.schedules import schedules as store
from penstock.store.schedules.schedules import NewSchedule, ScheduleRow, timing_of

MOST_SCHEDULES = 200
BY_USER = "Paused by a user."


@dataclass(frozen=True, slots=True)
class ScheduleOrder:
    """A schedule as a user asks for it."""

    name: str
    cron: str | None
    at: datetime | None
    time_zone: str
    catch_up: CatchUp
    pause_after: int
    action: Action


def no_such_schedule() -> NotThere:
    """The same for an id that is unknown, another org's, or no id at all."""
    return NotThere("NOT_FOUND", "There is no such schedule.")


def checked_timing(cron: str | None, at: datetime | None, time_zone: str) -> Timing:
    """Refuse a time that is not valid or has passed."""
    parse_zone(time_zone)
    if (cron is None) == (at is None):
        raise BadInput("INVALID_PARAMETERS", "Give exactly one of `cron` and `at`.")
    if at is not None and at <= datetime.now(UTC):
        raise BadInput("INVALID_PARAMETERS", "at: this time has passed.")
    return timing_of(cron, at, time_zone)


async def get_schedule(conn: Connection, schedule_id: UUID) -> ScheduleRow:
    found = await store.get(conn, schedule_id)
    if found is None:
        raise no_such_schedule()
    return found


async def create(
    conn: Connection, caller: Caller, order: ScheduleOrder, org_id: int
) -> ScheduleRow:
    if org_id != caller.who.org_id:
        raise BadInput(
            "INVALID_PARAMETERS",
            "A schedule runs in the org of its user. Create it with a user of that org.",
        )
    if await store.count(conn, org_id, MOST_SCHEDULES) >= MOST_SCHEDULES:
        raise PermanentError(
            "INVALID_STATE", f"An org has at most {MOST_SCHEDULES} schedules. Delete one first."
        )
    schedule_id = new_id()
    new = _new(order, await store.clock(conn))
    if not await store.add(conn, schedule_id, org_id, caller.who.user_id, new):
        raise _name_taken(order.name)
    made = await get_schedule(conn, schedule_id)
    await audit_owned(conn, caller, "schedule", made, "create", after=_audit_values(made))
    return made


async def change(
    conn: Connection, caller: Caller, schedule_id: UUID, order: ScheduleOrder
) -> ScheduleRow:
    """Replace all of it. A paused schedule stays paused, one that has ended is active again."""
    before = await _get_changeable(conn, caller, schedule_id)
    await store.lock(conn, schedule_id)
    if await store.name_taken(conn, before.org_id, order.name, schedule_id):
        raise _name_taken(order.name)
    new = _new(order, await store.clock(conn))
    if before.state == "paused":
        new = replace(new, next_at=None)
    await store.change(conn, schedule_id, new)
    after = await get_schedule(conn, schedule_id)
    await audit_owned(
        conn,
        caller,
        "schedule",
        after,
        "change",
        before=_audit_values(before),
        after=_audit_values(after),
    )
    return after


async def delete(conn: Connection, caller: Caller, schedule_id: UUID) -> None:
    found = await _get_changeable(conn, caller, schedule_id)
    if not await store.delete(conn, schedule_id):
        raise no_such_schedule()
    await audit_owned(conn, caller, "schedule", found, "delete", before=_audit_values(found))


async def pause(conn: Connection, caller: Caller, schedule_id: UUID) -> ScheduleRow:
    found = await _get_changeable(conn, caller, schedule_id)
    if not await store.pause(conn, schedule_id, BY_USER):
        raise PermanentError("INVALID_STATE", f"The schedule is {found.state}.", state=found.state)
    await audit_owned(conn, caller, "schedule", found, "pause")
    return await get_schedule(conn, schedule_id)


async def resume(conn: Connection, caller: Caller, schedule_id: UUID) -> ScheduleRow:
    """Due times that passed while it was paused are not caught up on."""
    found = await _get_changeable(conn, caller, schedule_id)
    following = found.timing.next_after(await store.clock(conn))
    if following is None:
        raise PermanentError("INVALID_STATE", "Its time has passed. Set another time.")
    if not await store.resume(conn, schedule_id, following):
        raise PermanentError("INVALID_STATE", f"The schedule is {found.state}.", state=found.state)
    await audit_owned(conn, caller, "schedule", found, "resume")
    return await get_schedule(conn, schedule_id)


async def run_now(conn: Connection, caller: Caller, schedule_id: UUID) -> datetime:
    """Add a run that begins at once; return its due time."""
    found = await _get_changeable(conn, caller, schedule_id)
    due_at = await store.add_manual_run(conn, schedule_id, found.org_id)
    await audit_owned(conn, caller, "schedule", found, "run")
    return due_at


async def _get_changeable(conn: Connection, caller: Caller, schedule_id: UUID) -> ScheduleRow:
    found = await get_schedule(conn, schedule_id)
    require_change(is_creator_or_admin(caller, found), "schedule", "change or run it")
    return found


def _new(order: ScheduleOrder, now: datetime) -> NewSchedule:
    timing = checked_timing(order.cron, order.at, order.time_zone)
    return NewSchedule(
        order.name, order.cron, order.at, order.time_zone, order.catch_up,
        action_json(order.action), order.pause_after, timing.next_after(now),
    )  # fmt: skip


def _name_taken(name: str) -> PermanentError:
    return PermanentError("INVALID_STATE", f"There is a schedule named {name!r} already.")


def _audit_values(row: ScheduleRow) -> dict[str, Any]:
    return {
        "name": row.name, "cron": row.cron, "at": row.at, "timeZone": row.time_zone,
        "catchUp": row.catch_up, "state": row.state,
    }  # fmt: skip
