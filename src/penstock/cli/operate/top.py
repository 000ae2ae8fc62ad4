"""`penstock top`: the activity of the installation, refreshed every second."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli import printing

if TYPE_CHECKING:
    from penstock.cli.local_session import Session
    from penstock.store.workers.activity import LiveJob

MOST_ROWS = 15


def top(
    once: Annotated[bool, typer.Option("--once", help="Show it once and end.")] = False,
    interval: Annotated[
        float, typer.Option(min=0.2, max=60, metavar="SECONDS", help="Time between two looks.")
    ] = 1.0,
    json: printing.Json = False,
) -> None:
    """Show the queue, its workers, orgs and busiest jobs, until interrupted.

    At a terminal the screen is redrawn; through a pipe each look follows the one before. With
    --json each look is one line of JSON.
    """
    try:
        asyncio.run(_watch(once, interval, json))
    except KeyboardInterrupt:
        raise typer.Exit from None
    except BrokenPipeError:
        # The reader closed the pipe, and Python must not flush to it at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit from None


async def _watch(once: bool, interval: float, json: bool) -> None:
    from penstock.cli.local_session import opened, quiet_logs
    from penstock.cli.operate.top_screen import Screen
    from penstock.settings import Settings

    quiet_logs()
    async with opened(Settings()) as session:
        with Screen(live=not once and not json and sys.stdout.isatty()) as screen:
            while True:
                view = await look(session)
                if json:
                    printing.as_json_line(view)
                else:
                    screen.show(view)
                if once:
                    return
                await asyncio.sleep(interval)


async def look(session: Session) -> dict[str, Any]:
    """All figures of one moment, in the names of the API."""
    from penstock.engine.queue_depth import count_queue
    from penstock.store.monitor import monitor
    from penstock.store.workers import activity

    async with session.db.transaction() as conn:
        queue = await count_queue(conn, session.settings.depth_levels)
        workers = await activity.workers(conn)
        slices = await activity.slices(conn)
        orgs = await activity.orgs(conn, MOST_ROWS)
        jobs = await activity.jobs(conn, MOST_ROWS)
        health = await monitor.newest_check(conn)
    weights = sum(row.weight for row in orgs)
    return {
        "health": None
        if health is None
        else {
            "status": health.status.value,
            "since": health.since,
            "checkedAt": health.at,
            "problems": [one["message"] for one in health.checks if not one["ok"]],
        },
        "queue": {
            "level": queue.level.value, "since": queue.since, "depth": queue.depth,
            "waiting": queue.waiting, "active": queue.active, "delayed": queue.delayed,
            "oldestWaitingMs": queue.oldest_ms, "workers": queue.workers, "slots": queue.slots,
            "deadLetters": queue.dead_letters, "slices": slices,
            "itemsPerSecond": _sum(workers, "itemsPerSecond"),
            "rowsPerSecond": _sum(workers, "rowsPerSecond"),
        },
        "workers": workers,
        "orgs": [
            {
                "org": row.org, "plan": row.plan, "slices": row.slices,
                "items": row.items, "share": round(row.weight / weights, 3),
                "aheadMs": round(row.ahead_ms),
            }
            for row in orgs
        ],
        "jobs": [_job(row) for row in jobs],
    }  # fmt: skip


def _sum(workers: list[dict[str, Any]], figure: str) -> float:
    return round(float(sum(one["figures"].get(figure, 0.0) for one in workers)), 1)


def _job(row: LiveJob) -> dict[str, Any]:
    from penstock.model.progress import describe

    total = row.total
    progress = describe(
        percent=row.percent, stage=row.stage, rows_total=total,
        rows_done=total - row.pending - row.processing,
        elapsed_ms=row.elapsed_ms, skipped=row.skipped, kept=row.kept_rows,
        state="running",
    )  # fmt: skip
    return {
        "id": str(row.id),
        "name": row.name,
        "pipeline": row.pipeline,
        "org": row.org,
        "priority": row.priority,
        "stage": row.stage,
        "slices": row.slices,
        "items": row.items,
        "itemMs": None if row.avg_ms is None else round(row.avg_ms, 2),
        "percent": progress["percent"],
        "rowsDone": progress["rowsDone"],
        "rowsTotal": progress["rowsTotal"],
        "estimatedRemainingMs": progress["estimatedRemainingMs"],
    }
