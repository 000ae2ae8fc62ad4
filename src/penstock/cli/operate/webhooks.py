"""`penstock webhooks`: who is told of what happens to jobs."""

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
    """The webhooks of an org."""
    from penstock.cli.operate import webhook_control as control

    found = asyncio.run(control.listed(org))
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
    """Tell a URL of the org's jobs from now on. The secret is shown this once."""
    from penstock.cli.operate import webhook_control as control

    made = asyncio.run(control.create(org, url, event, description))
    _show_secret(made, json)


@app.command("show")
def show(webhook: Id, json: printing.Json = False) -> None:
    """One webhook."""
    from penstock.cli.operate import webhook_control as control

    _show(asyncio.run(control.found(webhook)), json)


@app.command("change")
def change(
    webhook: Id,
    url: Annotated[str | None, typer.Option(help="Another URL.")] = None,
    event: Event = None,
    description: Annotated[str | None, typer.Option(help="What it is for.")] = None,
    enabled: Annotated[bool | None, typer.Option("--enable/--disable", help="On or off.")] = None,
    json: printing.Json = False,
) -> None:
    """Change what is given; the rest stays as it is."""
    from penstock.cli.operate import webhook_control as control

    _show(asyncio.run(control.change(webhook, url, event, description, enabled)), json)


@app.command("delete")
def delete(webhook: Id) -> None:
    """Send nothing there any more."""
    from penstock.cli.operate import webhook_control as control

    asyncio.run(control.delete(webhook))
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
    from penstock.cli.operate import webhook_control as control

    _show_secret(asyncio.run(control.rotate(webhook, overlap_hours)), json)


@app.command("test")
def send_test(webhook: Id, json: printing.Json = False) -> None:
    """Send the event `webhook.test` there; what came of it is in the log."""
    from penstock.cli.operate import webhook_control as control

    _accepted(asyncio.run(control.test(webhook)), json)


@app.command("deliveries")
def deliveries(
    webhook: Id,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many at most.")] = 50,
    json: printing.Json = False,
) -> None:
    """The log of a webhook, newest first."""
    from penstock.cli.operate import webhook_control as control

    found = asyncio.run(control.deliveries(webhook, limit))
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
    """One delivery with all its tries."""
    from penstock.cli.operate import webhook_control as control

    found = asyncio.run(control.delivery(delivery))
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
    from penstock.cli.operate import webhook_control as control

    _accepted(asyncio.run(control.redeliver(delivery)), json)


def _show(found: dict[str, Any], json: bool) -> None:
    if json:
        printing.as_json(found)
    else:
        printing.fields([(name, _plain(value)) for name, value in found.items()])


def _show_secret(made: dict[str, Any], json: bool) -> None:
    _show(made, json)
    printing.note("Keep the secret where the receiver finds it: it is not shown again.")


def _accepted(delivery_id: UUID, json: bool) -> None:
    if json:
        printing.as_json({"deliveryId": str(delivery_id)})
    else:
        print(f"Delivery {delivery_id} is on its way.")


def _plain(value: Any) -> Any:
    return ", ".join(value) if isinstance(value, list) else value
