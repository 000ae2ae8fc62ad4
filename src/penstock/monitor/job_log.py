"""One line in the log for the start and the end of each job, written by the leader."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from penstock.engine.runtime import Runtime
from penstock.engine.services.follow import follow
from penstock.model.monitor.traces import JobTrace
from penstock.store.database import Connection
from penstock.store.jobs.followers import EventRange
from penstock.store.monitor import monitor
from penstock.store.monitor.monitor import LoggedJob

FOLLOWER = "job log"
_EVENTS = ("job.started", "job.completed", "job.failed", "job.cancelled")
# Their configs name a provider, and their summaries count images.
_IMPORTS = ("shop_import",)
_AT_ONCE = 500


class JobLog:
    """Follows the events, so that each is logged once, in the order of commits, also after a crash
    of the leader. Of two leaders one holds the cursor."""

    name = "job log"
    every_ms = 1000

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def run_once(self) -> None:
        async for _ in follow(self._runtime, FOLLOWER, _AT_ONCE, self._log):
            pass

    async def _log(self, conn: Connection, events: EventRange) -> frozenset[str]:
        for one in await monitor.to_log(conn, events, _EVENTS, _IMPORTS):
            write = (
                self._runtime.log.warning if one.event == "job.failed" else self._runtime.log.info
            )
            write(one.event, **_fields(one))
            if one.event != "job.started":
                self._trace(one)
        return frozenset()

    def _trace(self, one: LoggedJob) -> None:
        took = timedelta(milliseconds=one.data.get("elapsedMs") or 0)
        attributes = {
            "job": str(one.job_id),
            "org": one.org,
            "pipeline": one.pipeline,
            "rows": one.total,
        }
        failed = one.event == "job.failed"
        trace = JobTrace.of(one.job_id, one.traceparent)
        self._runtime.traces.job(trace, one.created_at - took, one.created_at, failed, attributes)


def _fields(one: LoggedJob) -> dict[str, Any]:
    shown = {
        "jobId": str(one.job_id),
        "org": one.org,
        "pipeline": one.pipeline,
        "provider": one.config.get("provider"),
        "workerId": one.worker,
        "rows": one.data.get("total", one.total),
        "at": one.created_at.isoformat(),
    }
    if shown["provider"] is None:
        del shown["provider"]
    if one.event == "job.started":
        return shown
    shown |= {"durationMs": one.data.get("elapsedMs"), "errors": one.data.get("error", 0)}
    error = one.data.get("lastError")
    if isinstance(error, dict):
        shown["code"] = error.get("code")
    if "images" in one.summary:
        shown["images"] = one.summary["images"]
    return shown
