"""`penstock`: one file per command group. A command imports what it needs when it runs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Annotated

import typer

from penstock import __version__
from penstock.cli.accounts import keys, orgs, sessions, users
from penstock.cli.catalog import (
    connections,
    links,
    product_edits,
    products,
    profiles,
    rates,
    research,
    shops,
    sources,
    templates,
    values,
)
from penstock.cli.crawl import runs
from penstock.cli.files import extract, fetch, lookup, preview, read, watchers
from penstock.cli.help_texts import unwrap_help
from penstock.cli.jobs import (
    bulk,
    clone,
    column_figures,
    dead_letters,
    edits,
    export,
    fix,
    items,
    jobs,
    lanes,
    lookup_items,
    pending,
    proposals,
    start,
    submit,
    undo,
)
from penstock.cli.operate import (
    config,
    doctor,
    migrate,
    notify,
    providers,
    sandbox,
    secrets,
    serve,
    top,
    webhooks,
)
from penstock.cli.output import complete_output
from penstock.cli.schedules import feeds, prune, retention, schedules

app = typer.Typer(
    name="penstock",
    help="A self-hosted, durable intake for product data, on PostgreSQL.",
    epilog="Exit codes: 0 ok, 1 something failed, 2 wrong use or refused input, "
    "3 finished with failed rows, 4 not found, "
    "5 no access or no database, 130 interrupted.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("up")(serve.up)
app.command("api")(serve.api)
app.command("worker")(serve.worker)
app.command("top")(top.top)
app.command("pending")(pending.pending)
app.command("extract")(extract.extract)
app.command("lookup")(lookup.lookup)
app.command("preview")(preview.preview)
app.command("read")(read.read)
app.command("fetch")(fetch.fetch)
app.command("migrate")(migrate.migrate)
app.command("doctor")(doctor.doctor)
app.command("prune")(prune.prune)
app.command("sandbox")(sandbox.sandbox)
app.command("research")(research.research)
jobs.app.command("start")(start.start)
jobs.app.command("submit")(submit.submit)
jobs.app.command("clone")(clone.clone)
jobs.app.command("remap")(fix.remap)
jobs.app.command("fix")(edits.fix_many)
jobs.app.command("undo-fix")(edits.undo_fix)
jobs.app.command("undo")(undo.undo)
jobs.app.command("enrich")(proposals.enrich)
jobs.app.command("export")(export.export)
jobs.app.command("links")(links.job_links)
jobs.app.command("columns")(column_figures.columns)
app.add_typer(jobs.app, name="jobs")
items.app.command("fix")(fix.fix)
items.app.command("searches")(lookup_items.searches)
items.app.command("choose")(lookup_items.choose)
app.add_typer(items.app, name="items")
app.add_typer(proposals.app, name="proposals")
products.app.command("links")(links.list_links)
products.app.command("link")(links.link)
products.app.command("edit")(product_edits.edit)
products.app.command("undo-edit")(product_edits.undo_edit)
products.app.command("prices")(product_edits.prices)
app.add_typer(products.app, name="products")
app.add_typer(bulk.app, name="bulk")
app.add_typer(dead_letters.app, name="dead-letters")
app.add_typer(profiles.app, name="profiles")
app.add_typer(values.app, name="values")
app.add_typer(templates.app, name="templates")
app.add_typer(rates.app, name="rates")
app.add_typer(shops.app, name="shops")
app.add_typer(lanes.app, name="lanes")
app.add_typer(providers.app, name="providers")
app.add_typer(webhooks.app, name="webhooks")
app.add_typer(notify.app, name="notify")
app.add_typer(connections.app, name="connections")
app.add_typer(sources.app, name="sources")
app.add_typer(watchers.app, name="watchers")
app.add_typer(runs.app, name="crawl")
app.add_typer(schedules.app, name="schedules")
app.add_typer(retention.app, name="retention")
app.add_typer(feeds.app, name="feeds")
app.add_typer(secrets.app, name="secrets")
app.add_typer(orgs.orgs, name="orgs")
app.add_typer(users.app, name="users")
app.add_typer(keys.app, name="keys")
app.add_typer(sessions.app, name="sessions")
app.add_typer(config.app, name="config")
unwrap_help(app)


class _Debug:
    """Kept outside of the command, since errors are reported after it has ended."""

    on = False


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"penstock {__version__}")
        raise typer.Exit


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the trace of an error.")] = False,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    _Debug.on = debug


@cache
def command() -> Callable[[], object]:
    """All commands as one tree. Building it takes a tenth of a second."""
    return typer.main.get_command(app)


def main() -> None:
    try:
        with complete_output():
            command()()
    except Exception as error:
        if _Debug.on:
            raise
        from penstock.cli.errors import explain

        code, message = explain(error)
        print(f"penstock: {message}", file=sys.stderr)
        sys.exit(code)
