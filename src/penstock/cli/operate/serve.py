"""`penstock up`, `penstock api`, `penstock worker`."""

from __future__ import annotations

import asyncio
import sys
from typing import Annotated

import typer

Port = Annotated[int | None, typer.Option(min=1, max=65535, help="Port of the API.")]
Host = Annotated[str | None, typer.Option(help="Address the API listens on.")]
Names = Annotated[str, typer.Option(metavar="A,B", help="Serve these only, parted by commas.")]


def up(
    host: Host = None,
    port: Port = None,
    workers: Annotated[int | None, typer.Option(min=0, help="Worker processes.")] = None,
) -> None:
    """Run everything on this machine: PostgreSQL, the API and workers. Ctrl-C stops it."""
    from penstock.cli.local_session import quiet_logs
    from penstock.cli.operate.first_steps import admin_key, how_to_sign_in, without_terminal
    from penstock.cli.settings import chosen
    from penstock.supervisor.address import base_url
    from penstock.supervisor.up import Addresses, run_up
    from penstock.wiring import configured_addresses, prepare

    quiet_logs()
    settings = chosen(host=host, port=port, workers=workers)

    async def make_ready(addresses: Addresses) -> list[str]:
        owner_dsn = addresses.owner_dsn
        if settings.database_url is not None:
            owner_dsn = (await configured_addresses(settings)).owner_dsn
        made = await prepare(settings, owner_dsn, shown=True)
        url = base_url(settings.host, settings.port)
        if not sys.stdout.isatty():
            return without_terminal(made.admin, url, settings.admin_password_note)
        return [*how_to_sign_in(made.admin, url), *admin_key(made.admin_key)]

    raise typer.Exit(asyncio.run(run_up(settings, prepare=make_ready)))


def api(host: Host = None, port: Port = None) -> None:
    """Run the API alone, in one process."""
    import uvloop

    from penstock.cli.operate.api_server import serve_api
    from penstock.cli.settings import chosen

    uvloop.run(serve_api(chosen(host=host, port=port)))


def worker(
    lanes: Annotated[
        str,
        typer.Option(
            metavar="A,B",
            help="Serve these lanes only: standard, basic, default, enterprise (all enterprise "
            "orgs), priority.ORG (one of them); `*` stands for any text.",
        ),
    ] = "",
    pipelines: Names = "",
    stages: Names = "",
) -> None:
    """Run one worker process. SIGTERM ends it after its slices are finished or given back.

    A worker told what to serve shares its time fairly among the orgs that wait for just that."""
    import uvloop

    from penstock.cli.operate.worker_server import serve_worker, served_by
    from penstock.settings import Settings

    settings = Settings()
    served = served_by(settings, _names(lanes), _names(pipelines), _names(stages))
    uvloop.run(serve_worker(settings, served))


def _names(text: str) -> list[str] | None:
    return [name.strip() for name in text.split(",") if name.strip()] or None
