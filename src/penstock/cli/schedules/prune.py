"""`penstock prune`: delete what is older than the retention."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import typer

from penstock.cli import printing


def prune(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count.")] = False,
    org: Annotated[str, typer.Option(help="Of this org alone.")] = "",
    json: printing.Json = False,
) -> None:
    """Delete what is older than the retention of its org. The leader does this regularly, too."""
    deleted = asyncio.run(_prune(dry_run, org))
    if json:
        printing.as_json({"dryRun": dry_run, "org": org or None, "deleted": deleted})
        return
    printing.columns(("KIND", "WOULD BE DELETED" if dry_run else "DELETED"), list(deleted.items()))


async def _prune(dry_run: bool, org: str) -> dict[str, int]:
    from penstock.cli.connection import connected

    deleted: dict[str, int] = {}
    async with connected() as penstock:
        more = True
        while more:
            answer: dict[str, Any] = await penstock.client.call(
                "POST", "/api/retention/prune", params={"org": org} if org else {},
                body={"dryRun": dry_run},
            )  # fmt: skip
            for kind, count in answer["deleted"].items():
                deleted[kind] = deleted.get(kind, 0) + count
            more = answer["more"]
    return deleted
