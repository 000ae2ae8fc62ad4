"""`penstock lanes`: list, pause and resume lanes."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import typer

from penstock.cli import printing

app = typer.Typer(help="Lanes that jobs wait in.", no_args_is_help=True)
Lane = Annotated[
    str, typer.Argument(metavar="LANE", help="standard, basic, default or priority.ORG.")
]


@app.command("list")
def list_lanes(json: printing.Json = False) -> None:
    """List lanes with their live jobs, and which are paused."""
    found = asyncio.run(_list())
    if json:
        printing.as_json(found)
        return
    rows = [
        (
            lane["lane"], lane["jobs"], lane["running"],
            f"since {printing.moment(lane['pausedAt'])}" if lane["paused"] else "",
            lane["pausedBy"] or "", lane["reason"] or "",
        )
        for lane in found
    ]  # fmt: skip
    printing.columns(("LANE", "JOBS", "RUNNING", "PAUSED (UTC)", "BY", "WHY"), rows)


@app.command("pause")
def pause(
    lane: Lane,
    reason: Annotated[str, typer.Option(help="Shown beside the lane.")] = "",
    json: printing.Json = False,
) -> None:
    """Pause a lane: nothing more of it starts, running items are finished."""
    _show(asyncio.run(_move(lane, "pause", reason=reason)), json)


@app.command("resume")
def resume(lane: Lane, json: printing.Json = False) -> None:
    """Resume a paused lane."""
    _show(asyncio.run(_move(lane, "resume")), json)


def _show(lane: dict[str, Any], json: bool) -> None:
    if json:
        printing.as_json(lane)
    else:
        state = "stands still" if lane["paused"] else "goes on"
        print(f"Lane {lane['lane']} {state}, with {lane['jobs']} live jobs.")


async def _list() -> list[dict[str, Any]]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        lanes: list[dict[str, Any]] = (await penstock.get("/api/queues"))["items"]
        return lanes


async def _move(lane: str, action: str, **params: str) -> dict[str, Any]:
    from urllib.parse import quote

    from penstock.cli.connection import connected

    async with connected() as penstock:
        moved: dict[str, Any] = await penstock.post(
            f"/api/queues/{quote(lane, safe='')}/{action}", **params
        )
        return moved
