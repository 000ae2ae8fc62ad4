"""`penstock webhooks`: endpoints that receive events of jobs, and the log of deliveries."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any
from uuid import UUID

import typer

from penstock.cli import printing

app = typer.Typer(help="Webhooks: endpoints, deliveries, secrets.", no_args_is_help=True)
Id = Annotated[UUID, typer.Argument(metavar="ID", help="The webhook's id.")]
Delivery = Annotated[UUID, typer.Argument(metavar="DELIVERY", help="The delivery's id.")]
Org = Annotated[str, typer.Option("--org", help="Name of the org.")]
Event = Annotated[
    list[str] | None,
    typer.Option("--event", help="An event, `job.*` or `*`; several times for several."),
]
DEFAULT_ORG = "default"


@app.command("list")
def list_webhooks(org: Org = DEFAULT_ORG, json: printing.Json = False) -> None:
    """List the webhooks of an org."""
    found = asyncio.run(_list(org))
    if json:
        printing.as_json(found)
        return
    rows = [
        (one["id"], "yes" if one["enabled"] else "no", ",".join(one["events"]), one["url"])
        for one in found
    ]
    printing.columns(("ID", "ENABLED", "EVENTS", "URL"), rows)


@app.command("create")
def create(
    url: Annotated[str, typer.Argument(metavar="URL", help="Where events are posted to.")],
    event: Event = None,
    description: Annotated[str, typer.Option(help="What it is for.")] = "",
    org: Org = DEFAULT_ORG,
    json: printing.Json = False,
) -> None:
    """Post events of the org's jobs to a URL from now on. The secret is shown this once."""
    made = asyncio.run(
        _call("POST", "/api/webhooks", _given(url=url, description=description, events=event), org)
    )
    _show_secret(made, json)


@app.command("show")
def show(webhook: Id, json: printing.Json = False) -> None:
    """Show a webhook."""
    _show(asyncio.run(_call("GET", f"/api/webhooks/{webhook}")), json)


@app.command("change")
def change(
    webhook: Id,
    url: Annotated[str | None, typer.Option(help="Another URL.")] = None,
    event: Event = None,
    description: Annotated[str | None, typer.Option(help="What it is for.")] = None,
    enabled: Annotated[bool | None, typer.Option("--enable/--disable", help="On or off.")] = None,
    json: printing.Json = False,
) -> None:
    """Change the given settings; the others stay."""
    order = _given(url=url, events=event, description=description, enabled=enabled)
    _show(asyncio.run(_call("PATCH", f"/api/webhooks/{webhook}", order)), json)


@app.command("delete")
def delete(webhook: Id) -> None:
    """Delete a webhook: nothing more is sent there."""
    asyncio.run(_call("DELETE", f"/api/webhooks/{webhook}"))
    print(f"Webhook {webhook} is deleted.")


@app.command("rotate")
def rotate(
    webhook: Id,
    overlap_hours: Annotated[
        float, typer.Option(min=0, max=168, help="How long the old secret signs, too.")
    ] = 24,
    json: printing.Json = False,
) -> None:
    """Give it a new secret, shown this once."""
    order = {"overlapHours": overlap_hours}
    _show_secret(asyncio.run(_call("POST", f"/api/webhooks/{webhook}/rotate", order)), json)


@app.command("test")
def send_test(webhook: Id, json: printing.Json = False) -> None:
    """Send the event `webhook.test`; the log shows the result."""
    _accepted(asyncio.run(_call("POST", f"/api/webhooks/{webhook}/test")), json)


@app.command("deliveries")
def deliveries(
    webhook: Id,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many at most.")] = 50,
    json: printing.Json = False,
) -> None:
    """List the deliveries of a webhook, newest first."""
    found = asyncio.run(_deliveries(webhook, limit))
    if json:
        printing.as_json(found)
        return
    rows = [
        (
            one["id"],
            one["state"],
            one["tries"],
            one["status"] or "",
            one["event"],
            printing.moment(one["createdAt"]),
        )
        for one in found
    ]
    printing.columns(("DELIVERY", "STATE", "TRIES", "STATUS", "EVENT", "CREATED"), rows)


@app.command("delivery")
def delivery(delivery: Delivery, json: printing.Json = False) -> None:
    """Show a delivery with all its attempts."""
    found = asyncio.run(_call("GET", f"/api/webhooks/deliveries/{delivery}"))
    if json:
        printing.as_json(found)
        return
    printing.fields([(name, found[name]) for name in found if name not in ("attempts", "payload")])
    rows = [
        (one["at"], one["status"] or "", one["ms"], (one.get("error") or {}).get("message", ""))
        for one in found["attempts"]
    ]
    if rows:
        print()
        printing.columns(("AT", "STATUS", "MS", "PROBLEM"), rows)


@app.command("redeliver")
def redeliver(delivery: Delivery, json: printing.Json = False) -> None:
    """Send a delivery again, under the same id."""
    made = asyncio.run(_call("POST", f"/api/webhooks/deliveries/{delivery}/redeliver"))
    _accepted(made, json)


def _show(found: dict[str, Any], json: bool) -> None:
    if json:
        printing.as_json(found)
    else:
        printing.fields([(name, _plain(value)) for name, value in found.items()])


def _show_secret(made: dict[str, Any], json: bool) -> None:
    _show(made, json)
    printing.note("Give the secret to the receiver: it is not shown again.")


def _accepted(made: dict[str, Any], json: bool) -> None:
    if json:
        printing.as_json(made)
    else:
        print(f"Delivery {made['deliveryId']} is on its way.")


def _given(**settings: Any) -> dict[str, Any]:
    """The settings that were given; the API keeps the others, or uses its defaults."""
    return {name: value for name, value in settings.items() if value is not None}


async def _list(org: str) -> list[dict[str, Any]]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        return [one async for one in penstock.client.listed("/api/webhooks", org=org)]


async def _deliveries(webhook: UUID, limit: int) -> list[dict[str, Any]]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        return await penstock.first(f"/api/webhooks/{webhook}/deliveries", limit)


async def _call(
    method: str, path: str, body: dict[str, Any] | None = None, org: str | None = None
) -> dict[str, Any]:
    from penstock.cli.connection import connected

    params = {} if org is None else {"org": org}
    async with connected() as penstock:
        answer: dict[str, Any] = await penstock.client.call(method, path, params=params, body=body)
        return answer


def _plain(value: Any) -> Any:
    return ", ".join(value) if isinstance(value, list) else value
