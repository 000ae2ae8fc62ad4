"""Schedules as the API takes and shows them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal
from uuid import UUID

import orjson
from pydantic import Field

from penstock.api.http.answers import stored
from penstock.api.http.schemas import PRINTABLE, Moment, OrgQuery, Shape
from penstock.app.owned import is_creator_or_admin
from penstock.app.schedules.schedules import ScheduleOrder
from penstock.model.schedules.actions import parse_action
from penstock.model.schedules.due import CatchUp
from penstock.store.accounts.audit_log import Caller
from penstock.store.schedules.schedules import RunRow, ScheduleRow

SHOWN_RUNS = 5
_ACTION = {"kind": "file", "url": "https://supplier.example/prices.csv", "profile": "acme"}


class ScheduleTime(Shape):
    """Exactly one of `cron` and `at`."""

    cron: str | None = Field(
        None,
        max_length=200,
        pattern=PRINTABLE,
        description="Minute, hour, day of month, month and day of week, or `@daily` and the like.",
        examples=["0 6 * * MON-FRI"],
    )
    at: Moment | None = Field(None, description="Once, at this time.")
    time_zone: str = Field(
        "UTC",
        max_length=64,
        pattern=PRINTABLE,
        description="Of `cron`.",
        examples=["Europe/Berlin"],
    )


class NewSchedule(ScheduleTime):
    name: str = Field(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]*\S$")
    catch_up: CatchUp = Field(
        "once",
        description="Runs that were missed while no leader ran: the newest one begins (`once`),"
        " `all` of them, or `none`.",
    )
    pause_after: int = Field(
        5, ge=0, le=1000, description="Pause after so many failures in a row; 0: never."
    )
    action: dict[str, Any] = Field(
        description="What is done. `kind` is `file` (`url`, `pipeline`, `profile`), `shop`"
        " (`connectionId`, `all`), `crawl` (`companies`), `research` (`query`, `sources`), each"
        " with `config` and `priority` of the job; `scan` (`watcherId`); or `export` (`what`,"
        " `format`, `fileName`, `to`).",
        examples=[_ACTION],
    )

    def order(self) -> ScheduleOrder:
        return ScheduleOrder(
            self.name, self.cron, self.at, self.time_zone, self.catch_up, self.pause_after,
            parse_action(self.action),
        )  # fmt: skip


class SchedulesQuery(OrgQuery):
    pass


RunState = Literal["waiting", "running", "done", "failed", "cancelled", "missed"]


class RunProblem(Shape):
    code: str
    message: str
    details: dict[str, Any] = Field(default_factory=dict)


class ScheduleRunShape(Shape):
    due_at: datetime
    state: RunState
    manual: bool = Field(description="Started by a user.")
    times: int = Field(description="How many due times a missed run stands for.")
    attempts: int
    job_id: UUID | None
    error: RunProblem | None = Field(description="Why it failed, or is tried again.")
    created_at: datetime
    ended_at: datetime | None


class ScheduleShape(Shape):
    id: UUID
    org: str
    owner: str | None = Field(description="Its creator. Runs have the rights of this user.")
    name: str
    cron: str | None
    at: datetime | None
    time_zone: str
    catch_up: CatchUp
    pause_after: int
    action: dict[str, Any]
    state: Literal["active", "paused", "ended"]
    pause_reason: str | None
    failures: int = Field(description="Failures in a row.")
    next_at: datetime | None
    last_run: ScheduleRunShape | None
    may_change: bool
    created_at: datetime
    updated_at: datetime


class FullSchedule(ScheduleShape):
    next_runs: list[datetime] = Field(description="The next five; none while it is paused.")
    runs: list[ScheduleRunShape] = Field(description="The newest ones first.")


class ScheduleList(Shape):
    items: list[ScheduleShape]


class ScheduleRunPage(Shape):
    items: list[ScheduleRunShape]
    next: str | None


class RunsQuery(Shape):
    page_size: int = Field(50, ge=1, le=200)
    after: str = Field("", description="`next` of the page before.")


class NextRuns(Shape):
    next_runs: list[datetime]


class StartedRun(Shape):
    schedule_id: UUID
    due_at: datetime = Field(description="Names the run.")


class DeletedSchedule(Shape):
    id: UUID


def run_shape(row: RunRow) -> dict[str, Any]:
    return {
        "dueAt": row.due_at, "state": row.state, "manual": row.manual, "times": row.times,
        "attempts": row.attempts, "jobId": None if row.job_id is None else str(row.job_id),
        "error": _problem(row.error), "createdAt": row.created_at, "endedAt": row.ended_at,
    }  # fmt: skip


def _problem(error: str | None) -> dict[str, Any] | None:
    if error is None:
        return None
    told = orjson.loads(error)
    return {name: told[name] for name in ("code", "message", "details") if name in told}


def schedule_shape(row: ScheduleRow, caller: Caller, last: RunRow | None) -> dict[str, Any]:
    return {
        "id": str(row.id), "org": row.org, "owner": row.owner, "name": row.name, "cron": row.cron,
        "at": row.at, "timeZone": row.time_zone, "catchUp": row.catch_up,
        "pauseAfter": row.pause_after, "action": stored(row.action), "state": row.state,
        "pauseReason": row.pause_reason, "failures": row.failures, "nextAt": row.next_at,
        "lastRun": None if last is None else run_shape(last),
        "mayChange": is_creator_or_admin(caller, row), "createdAt": row.created_at,
        "updatedAt": row.updated_at,
    }  # fmt: skip


def full_shape(row: ScheduleRow, caller: Caller, runs: list[RunRow]) -> dict[str, Any]:
    active = row.state == "active"
    return schedule_shape(row, caller, runs[0] if runs else None) | {
        "nextRuns": row.timing.next_runs(datetime.now(UTC), SHOWN_RUNS) if active else [],
        "runs": [run_shape(one) for one in runs],
    }
