"""`penstock items searches` and `penstock items choose`: rows of a lookup."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any
from uuid import UUID

import typer

from penstock.cli import printing
from penstock.cli.jobs.items import Row
from penstock.cli.jobs.jobs import JobId


def searches(job_id: JobId, row: Row, json: printing.Json = False) -> None:
    """Show all searches for a row, and the candidates to choose from."""
    found, item = asyncio.run(_searches(job_id, row))
    candidates = ((item or {}).get("normalized") or {}).get("candidates") or []
    if json:
        printing.as_json({"searches": found, "candidates": candidates})
        return
    printing.columns(
        ("TRY", "WHERE", "BY", "QUERY", "OUTCOME", "SCORE", "MS"),
        [
            (one["attempt"], one["provider"], one["variant"], one["query"], one["outcome"],
             "" if one["score"] is None else f"{one['score']:.2f}", f"{one['latencyMs']:.1f}")
            for one in found
        ],
    )  # fmt: skip
    if candidates:
        print()
        printing.columns(
            ("CANDIDATE", "WHERE", "CONFIDENCE", "SKU", "TITLE"),
            [
                (one["key"], one["provider"], f"{one['confidence']:.0%}", one.get("sku", ""),
                 one.get("title", ""))
                for one in candidates
            ],
        )  # fmt: skip


def choose(
    job_id: JobId,
    row: Row,
    candidate: Annotated[
        str,
        typer.Argument(
            metavar="CANDIDATE", help="As `penstock items searches` lists it, or `none`."
        ),
    ],
    json: printing.Json = False,
) -> None:
    """Choose the product of a row among its candidates, or none of them."""
    made = asyncio.run(_choose(job_id, row, None if candidate == "none" else candidate))
    if json:
        printing.as_json(made)
    else:
        print(f"chosen; the job is {made['job']['state']}")


async def _searches(job_id: UUID, row: int) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        path = f"/api/jobs/{job_id}/items"
        found: list[dict[str, Any]] = []
        after: str | None = ""
        while after is not None:
            page = await penstock.get(f"{path}/{row}/searches", page_size=500, after=after)
            found += page["searches"]
            after = page["next"]
        items = await penstock.first(path, 1, from_row=row, sort="row")
        return found, items[0] if items else None


async def _choose(job_id: UUID, row: int, key: str | None) -> dict[str, Any]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        path = f"/api/jobs/{job_id}/items/{row}/choose"
        made: dict[str, Any] = await penstock.post(path, {"candidate": key})
        return made
