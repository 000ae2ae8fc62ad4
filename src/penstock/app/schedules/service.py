"""The service that begins runs of schedules.

A due time becomes a row of `schedule_runs`, in the transaction that moves the schedule to its next
time. The job of a run is submitted in the transaction that locks this row and marks it as begun, so
that neither a second leader nor a crash submits a second job for it.

The database's clock decides what is due, for all leaders. If it is set forward, the due times it
passes are caught up on as the schedule says. If it is set back, schedules are due by the new time,
and a due time that comes a second time begins nothing: it has its run.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

import orjson

from penstock.app.schedules.orders import prepared_order
from penstock.app.uploads import Upload, keep_upload
from penstock.app.watchers.request import scan_on_request
from penstock.engine.runtime import Runtime
from penstock.engine.services.service_tasks import ServiceTasks
from penstock.engine.submit import Order, Receipt, submit
from penstock.model.errors import (
    ItemError,
    NotAllowed,
    PenstockError,
    PermanentError,
    TransientError,
)
from penstock.model.schedules.actions import ScanAction, parse_action
from penstock.model.schedules.due import plan_due
from penstock.model.ticket import Ticket
from penstock.store.accounts.audit_log import Caller, audit
from penstock.store.database import Connection
from penstock.store.schedules import schedules as store
from penstock.store.schedules.schedules import WaitingRun


@dataclass(frozen=True, slots=True)
class SchedulerConfig:
    every_ms: int = 1000
    schedules_at_once: int = 50
    runs_at_once: int = 8
    attempts: int = 3
    retry_ms: int = 30_000
    # How long a call waits for the runs that it began; longer ones continue meanwhile.
    wait_seconds: float = 1.0
    # Moves the clock, in tests.
    shift: timedelta = timedelta()


class Scheduler:
    name = "scheduler"

    def __init__(self, runtime: Runtime, config: SchedulerConfig | None = None) -> None:
        self._runtime = runtime
        self._config = config or SchedulerConfig()
        self.every_ms = self._config.every_ms
        self._running: ServiceTasks[tuple[UUID, datetime]] = ServiceTasks()

    async def run_once(self) -> int:
        """Return how many runs became due."""
        await self._follow_clock()
        added = await self._plan()
        await self._begin()
        await self._end()
        return added

    async def _follow_clock(self) -> None:
        """After the clock was set back, schedules are due by the time it is now. Due times that
        come a second time have their runs already."""
        async with self._runtime.db.transaction() as conn:
            ahead = await store.lock_planned_ahead(
                conn, self._config.schedules_at_once, self._config.shift
            )
            for one in ahead:
                following = one.timing.next_after(one.now)
                await store.set_next(conn, one, min(one.next_at, following or one.next_at))
            if ahead:
                await store.bring_runs_forward(conn)
        if ahead:
            self._runtime.log.warning(
                "schedules follow a clock that was set back", count=len(ahead)
            )

    async def _plan(self) -> int:
        """Turn due times into runs."""
        most = self._config.schedules_at_once
        added, full = 0, True
        while full:
            async with self._runtime.db.transaction() as conn:
                due = await store.lock_due(conn, most, self._config.shift)
                for one in due:
                    plan = plan_due(one.timing, one.next_at, one.now, one.catch_up)
                    added += await store.apply_plan(conn, one, plan)
                self._runtime.failpoints.reach("schedule_before_commit")
            full = len(due) == most
        return added

    async def _begin(self) -> None:
        """Begin waiting runs, some at a time."""
        free = self._config.runs_at_once - len(self._running)
        if free > 0:
            async with self._runtime.db.acquire() as conn:
                waiting = await store.waiting_runs(conn, self._config.runs_at_once + free)
            for run in waiting:
                key = (run.schedule_id, run.due_at)
                if key not in self._running and len(self._running) < self._config.runs_at_once:
                    self._running.start(key, self._run(run))
        await self._running.wait(self._config.wait_seconds)

    async def _run(self, run: WaitingRun) -> None:
        try:
            await self._submit(run)
        except Exception as error:
            await self._fail(run, error)

    async def _submit(self, run: WaitingRun) -> None:
        runtime, caller = self._runtime, Caller(run.who)
        if run.disabled:
            raise NotAllowed("ACCOUNT_SUSPENDED", f"The user {run.who.email} is disabled.")
        if not run.who.writes:
            raise NotAllowed(
                "INSUFFICIENT_PERMISSIONS", f"The user {run.who.email} may not submit jobs."
            )
        action = parse_action(orjson.loads(run.action))
        if isinstance(action, ScanAction):
            await self._scan(run, caller, action)
            return
        async with (
            prepared_order(runtime, caller, action, run.name) as (order, upload),
            runtime.db.scoped(run.who.scope) as conn,
        ):
            if await store.lock_run(conn, run) != "waiting":
                raise _TakenByAnother
            receipt = await self._write(conn, caller, run, order, upload)
            runtime.failpoints.reach("schedule_run_before_commit")
        runtime.failpoints.reach("schedule_run_after_commit")
        await runtime.broker.send(Ticket(receipt.lane))

    async def _scan(self, run: WaitingRun, caller: Caller, action: ScanAction) -> None:
        """Scanning twice takes no file twice, so that no lock is held meanwhile."""
        scoped = partial(self._runtime.db.scoped, caller.who.scope)
        result = await scan_on_request(self._runtime, scoped, caller, action.watcher_id)
        if result.errors:
            first = result.errors[0]
            raise PermanentError(first.code, f"{first.name}: {first.message}".removeprefix(": "))
        async with self._runtime.db.transaction() as conn:
            if await store.finish_run(conn, run):
                await self._count(conn, run.schedule_id, failed=False, reason="")

    async def _write(
        self, conn: Connection, caller: Caller, run: WaitingRun, order: Order,
        upload: Upload | None,
    ) -> Receipt:  # fmt: skip
        if upload is not None:
            await keep_upload(self._runtime, conn, caller.who, upload)
        receipt = await submit(self._runtime, conn, caller.who, order)
        await store.begin_run(conn, run, receipt.job_id)
        await audit(
            conn, caller.who.org_id, caller.who.user_id, "job.create", f"job:{receipt.job_id}",
            after={"pipeline": order.pipeline, "name": order.name,
                   "schedule": str(run.schedule_id)},
        )  # fmt: skip
        return receipt

    async def _fail(self, run: WaitingRun, error: Exception) -> None:
        if isinstance(error, _TakenByAnother):
            return
        config, told = self._config, ItemError.of(error).as_json()
        if not isinstance(error, PenstockError):
            self._runtime.log.error("a run of a schedule failed", error=repr(error), exc_info=True)
        may_pass = isinstance(error, TransientError) or not isinstance(error, PenstockError)
        async with self._runtime.db.transaction() as conn:
            if may_pass and run.attempts + 1 < config.attempts:
                asked = error.retry_after_ms if isinstance(error, PenstockError) else None
                delay = max(config.retry_ms * 2**run.attempts, asked or 0)
                await store.retry_run(conn, run, told, delay)
            elif await store.fail_run(conn, run, told):
                await self._count(conn, run.schedule_id, failed=True, reason=str(told["message"]))

    async def _end(self) -> None:
        """Note the end of runs whose jobs ended, and pause schedules that keep failing."""
        async with self._runtime.db.transaction() as conn:
            ended = await store.end_runs(conn, 100)
            for one in sorted(ended, key=lambda one: (one.schedule_id, one.due_at)):
                if one.state != "cancelled":
                    error = orjson.loads(one.error or "{}")
                    await self._count(
                        conn, one.schedule_id, failed=one.state == "failed",
                        reason=str(error.get("message") or "The job failed."),
                    )  # fmt: skip

    async def _count(
        self, conn: Connection, schedule_id: UUID, *, failed: bool, reason: str
    ) -> None:
        found = await store.lock(conn, schedule_id)
        if found is None or (not failed and found.failures == 0):
            return
        failures = found.failures + 1 if failed else 0
        await store.count_failures(conn, schedule_id, failures)
        most = found.pause_after
        if failed and most and failures >= most and found.state == "active":
            times = "1 run" if failures == 1 else f"{failures} runs in a row"
            told = f"Paused after {times} failed. The last one: {reason}"[:1000]
            await store.pause(conn, schedule_id, told)
            self._runtime.log.warning(
                "schedule paused", schedule=str(schedule_id), name=found.name, reason=told
            )


class _TakenByAnother(Exception):
    """Another process began this run."""
