"""`penstock jobs enrich` and `penstock proposals`: fill gaps of products, after a review."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any
from uuid import UUID

import typer

from penstock.cli import printing
from penstock.cli.jobs.jobs import JobId

app = typer.Typer(help="Proposals of an enrichment.", no_args_is_help=True)
Rows = Annotated[
    list[int] | None, typer.Argument(metavar="ROW…", help="Rows; all if none is given.")
]
_LONGEST = 70
_PROPOSED = "ENRICHMENT_PROPOSED"


def enrich(
    job_id: JobId,
    field: Annotated[
        list[str] | None,
        typer.Option(
            help="A field that may be filled; may be given again. Else gtin, images and"
            " description."
        ),
    ] = None,
    source: Annotated[
        list[str] | None, typer.Option(help="A source to ask; may be given again. Else all.")
    ] = None,
    json: printing.Json = False,
) -> None:
    """Look up what the products of a job lack; prints the id of the lookup job.

    Nothing is written: `penstock proposals list` shows what was found.
    """
    asked: dict[str, Any] = {}
    if field:
        asked["fields"] = field
    if source:
        asked["sources"] = source
    receipt = asyncio.run(_post(f"/api/jobs/{job_id}/enrich", asked))
    if json:
        printing.as_json(receipt)
    else:
        print(receipt["jobId"])


@app.command("list")
def list_proposals(
    job_id: JobId,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="At most so many.")] = 50,
    json: printing.Json = False,
) -> None:
    """List what an enrichment proposes, field by field."""
    found = asyncio.run(_proposals(job_id, limit))
    if json:
        printing.as_json(found)
        return
    rows = [
        (one["rowNo"], (one["result"] or {}).get("title", ""), change["field"],
         _line(change["after"]), change["origin"], f"{change['confidence']:.0%}")
        for one in found
        for change in one["normalized"]["proposal"]
    ]  # fmt: skip
    printing.columns(("ROW", "PRODUCT", "FIELD", "PROPOSED", "FROM", "CONFIDENCE"), rows)


@app.command()
def accept(
    job_id: JobId,
    rows: Rows = None,
    field: Annotated[
        list[str] | None, typer.Option(help="Accept only this field; may be given again.")
    ] = None,
    json: printing.Json = False,
) -> None:
    """Write what is proposed. `penstock jobs undo` undoes it."""
    asked: dict[str, Any] = {"fields": field} if field else {}
    _decide(job_id, "accept", rows, asked, json)


@app.command()
def refuse(job_id: JobId, rows: Rows = None, json: printing.Json = False) -> None:
    """Refuse what is proposed; nothing is written."""
    _decide(job_id, "refuse", rows, {}, json)


def _decide(
    job_id: UUID, decision: str, rows: list[int] | None, asked: dict[str, Any], json: bool
) -> None:
    if rows:
        asked["itemIds"] = rows
    made = asyncio.run(_post(f"/api/jobs/{job_id}/proposals/{decision}", asked))
    if json:
        printing.as_json(made)
    else:
        words = "accepted" if decision == "accept" else "refused"
        print(f"{words} {made['reprocessed']:,}; the job is {made['job']['state']}")


def _line(value: Any) -> str:
    if isinstance(value, list):
        shown = [one.get("url", one) if isinstance(one, dict) else one for one in value]
        value = " ".join(map(str, shown))
    text = " ".join(str(value).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


async def _proposals(job_id: UUID, limit: int) -> list[dict[str, Any]]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        return await penstock.first(f"/api/jobs/{job_id}/items", limit, code=_PROPOSED, sort="row")


async def _post(path: str, body: dict[str, Any]) -> dict[str, Any]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        answer: dict[str, Any] = await penstock.post(path, body)
        return answer
