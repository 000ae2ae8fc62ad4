"""`penstock notify`: targets of alerts and events, and the log of messages."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

import typer

from penstock.cli import printing
from penstock.cli.jobs.jobs import JobId

app = typer.Typer(help="Notifications: targets, tests, silences, alerts.", no_args_is_help=True)
Id = Annotated[UUID, typer.Argument(metavar="ID", help="The target's id.")]


@app.command("list")
def list_targets(json: printing.Json = False) -> None:
    """List the targets."""
    found = asyncio.run(_call("GET", "/api/notifications"))["items"]
    if json:
        printing.as_json(found)
        return
    rows = [
        (
            one["id"],
            one["kind"],
            "installation" if one["installation"] else one["org"],
            ",".join((*one["severities"], *one["events"])),
            one["name"],
            one["address"],
        )
        for one in found
    ]
    printing.columns(("ID", "KIND", "FOR", "GETS", "NAME", "ADDRESS"), rows)


@app.command("add")
def add(
    kind: Annotated[str, typer.Argument(help="slack, webhook, pagerduty or email.")],
    address: Annotated[str, typer.Argument(help="URL, integration key, or e-mail address.")],
    name: Annotated[str, typer.Option(help="What it is for.")] = "",
    severity: Annotated[
        list[str] | None, typer.Option(help="info, warning or critical; several times for several.")
    ] = None,
    event: Annotated[
        list[str] | None, typer.Option(help="An event that is sent besides; may be repeated.")
    ] = None,
    org: Annotated[
        str | None, typer.Option("--org", help="For jobs of this org instead of alerts.")
    ] = None,
    json: printing.Json = False,
) -> None:
    """Send alerts of the installation, or events of an org's jobs, to an address."""
    order: dict[str, Any] = {
        "kind": kind, "address": address, "name": name, "installation": org is None,
    }  # fmt: skip
    given = {"severities": severity, "events": event}
    order |= {key: value for key, value in given.items() if value is not None}
    _show(asyncio.run(_call("POST", "/api/notifications", order, org)), json)


@app.command("remove")
def remove(target: Id) -> None:
    """Delete a target: nothing more is sent there."""
    asyncio.run(_call("DELETE", f"/api/notifications/{target}"))
    print(f"Target {target} is deleted.")


@app.command("test")
def send_test(
    target: Id,
    wait: Annotated[float, typer.Option(help="Seconds to wait for the result.")] = 10,
    json: printing.Json = False,
) -> None:
    """Send a test message and wait for the result."""
    found = asyncio.run(_test(target, wait))
    if json:
        printing.as_json(found)
        return
    error = (found.get("error") or {}).get("message", "")
    print(f"Message {found['id']}: {found['state']}. {error}".rstrip())


class JobMails(StrEnum):
    NONE = "none"
    FAILED = "failed"
    ALL = "all"


@app.command("me")
def mails_to_me(
    jobs: Annotated[
        JobMails | None, typer.Option(help="E-mail me about: none, failed or all of my jobs.")
    ] = None,
    json: printing.Json = False,
) -> None:
    """Show or change which of your jobs you get an e-mail about when they end."""
    if jobs is None:
        found = asyncio.run(_call("GET", "/api/notifications/me"))
    else:
        found = asyncio.run(_call("PUT", "/api/notifications/me", {"jobs": jobs.value}))
    _show(found, json)


@app.command("job")
def mail_at_the_end(
    job_id: JobId,
    off: Annotated[bool, typer.Option("--off", help="Send none.")] = False,
    json: printing.Json = False,
) -> None:
    """Get an e-mail when this job ends."""
    _show(asyncio.run(_call("PUT", f"/api/jobs/{job_id}/watch", {"watched": not off})), json)


@app.command("silence")
def silence(
    target: Id,
    minutes: Annotated[float, typer.Option(help="For so many minutes; 0 ends it.")] = 60,
    json: printing.Json = False,
) -> None:
    """Send nothing to a target for a time."""
    order = {"silenceMinutes": minutes}
    _show(asyncio.run(_call("PATCH", f"/api/notifications/{target}", order)), json)


@app.command("silence-alert")
def silence_alert(
    alert: Annotated[UUID, typer.Argument(metavar="ALERT", help="The alert's id.")],
    minutes: Annotated[float, typer.Option(help="For so many minutes; 0 ends it.")] = 60,
    reason: Annotated[str, typer.Option(help="Why.")] = "",
    json: printing.Json = False,
) -> None:
    """Send nothing about a check for a time."""
    order = {"minutes": minutes, "reason": reason}
    _show(asyncio.run(_call("POST", f"/api/monitor/alerts/{alert}/silence", order)), json)


@app.command("alerts")
def alerts(
    every: Annotated[bool, typer.Option("--all", help="Resolved ones, too.")] = False,
    json: printing.Json = False,
) -> None:
    """List alerts, newest first."""
    params = {"state": "all" if every else "open"}
    found = asyncio.run(_call("GET", "/api/monitor/alerts", params=params))["items"]
    if json:
        printing.as_json(found)
        return
    rows = [
        (
            one["id"],
            one["severity"],
            "open" if one["resolvedAt"] is None else "resolved",
            printing.moment(one["openedAt"]),
            one["message"],
        )
        for one in found
    ]
    printing.columns(("ALERT", "SEVERITY", "STATE", "OPENED", "MESSAGE"), rows)


@app.command("log")
def log(json: printing.Json = False) -> None:
    """List the latest messages, newest first."""
    found = asyncio.run(_call("GET", "/api/notifications/log"))["items"]
    if json:
        printing.as_json(found)
        return
    rows = [
        (
            one["id"], one["state"], one["tries"], one["kind"], one["title"],
            (one["error"] or {}).get("code", ""),
        )
        for one in found
    ]  # fmt: skip
    printing.columns(("MESSAGE", "STATE", "TRIES", "KIND", "TITLE", "PROBLEM"), rows)


def _show(found: dict[str, Any], json: bool) -> None:
    if json:
        printing.as_json(found)
    else:
        printing.fields(list(found.items()))


async def _test(target: UUID, wait: float) -> dict[str, Any]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        made = await penstock.client.call("POST", f"/api/notifications/{target}/test")
        until = asyncio.get_running_loop().time() + wait
        while True:
            page = await penstock.client.call("GET", "/api/notifications/log")
            found: dict[str, Any] = next(
                one for one in page["items"] if one["id"] == made["notificationId"]
            )
            over = asyncio.get_running_loop().time() >= until
            if over or found["state"] not in ("waiting", "pending"):
                return found
            await asyncio.sleep(0.2)


async def _call(
    method: str,
    path: str,
    body: dict[str, Any] | None = None,
    org: str | None = None,
    params: dict[str, Any] | None = None,
) -> dict[str, Any]:
    from penstock.cli.connection import connected

    asked = (params or {}) | ({} if org is None else {"org": org})
    async with connected() as penstock:
        answer: dict[str, Any] = await penstock.client.call(method, path, params=asked, body=body)
        return answer
