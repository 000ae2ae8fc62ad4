"""`penstock lanes`: which lanes there are, and making one stand still."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import typer

from penstock.cli import shown

app = typer.Typer(help="Lanes that jobs wait in.", no_args_is_help=True)
Lane = Annotated[
    str, typer.Argument(metavar="LANE", help="standard, basic, default or priority.ORG.")
]


@app.command("list")
def list_lanes(json: shown.Json = False) -> None:
    """Every lane with its live jobs, and which stand still."""
    found = asyncio.run(_list())
    if json:
        shown.as_json(found)
        return
    rows = [
        (
            lane["lane"], lane["jobs"], lane["running"],
            f"since {shown.moment(lane['pausedAt'])}" if lane["paused"] else "",
            lane["pausedBy"] or "", lane["reason"] or "",
        )
        for lane in found
    ]  # fmt: skip
    shown.columns(("LANE", "JOBS", "RUNNING", "PAUSED (UTC)", "BY", "WHY"), rows)


@app.command("pause")
def pause(
    lane: Lane,
    reason: Annotated[str, typer.Option(help="Shown beside the lane.")] = "",
    json: shown.Json = False,
) -> None:
    """Start nothing more of a lane; what runs is finished."""
    _show(asyncio.run(_pause(lane, reason)), json)


@app.command("resume")
def resume(lane: Lane, json: shown.Json = False) -> None:
    """Go on with a paused lane."""
    _show(asyncio.run(_resume(lane)), json)


def _show(lane: dict[str, Any], json: bool) -> None:
    if json:
        shown.as_json(lane)
    else:
        state = "stands still" if lane["paused"] else "goes on"
        print(f"Lane {lane['lane']} {state}, with {lane['jobs']} live jobs.")


async def _list() -> list[dict[str, Any]]:
    from penstock.cli.session import transaction
    from penstock.store import lanes

    async with transaction() as conn:
        return await lanes.list_lanes(conn)


async def _pause(lane: str, reason: str) -> dict[str, Any]:
    from penstock.cli.session import local_admin, transaction
    from penstock.store import lanes

    async with transaction() as conn:
        await lanes.pause(conn, lane, (await local_admin(conn)).user_id, reason)
        return await lanes.get_lane(conn, lane)


async def _resume(lane: str) -> dict[str, Any]:
    from penstock.cli.session import local_admin, opened_engine, quiet_logs
    from penstock.settings import Settings
    from penstock.store import lanes

    quiet_logs()
    async with opened_engine(Settings(), "control", listens=False) as parts:
        async with parts.db.transaction() as conn:
            await lanes.resume(conn, lane, (await local_admin(conn)).user_id)
            shape = await lanes.get_lane(conn, lane)
        await parts.broker.wake(lane)
    return shape
