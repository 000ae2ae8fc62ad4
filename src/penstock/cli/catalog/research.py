"""`penstock research`: one query to all sources."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import typer

from penstock.cli import printing

_LOOK_S = 0.25
_ENDED = ("done", "failed", "cancelled")


def research(
    query: Annotated[str, typer.Argument(help="Words of the title, a GTIN or a part number.")],
    source: Annotated[
        list[str] | None, typer.Option(help="A source by name; may be repeated. Else all.")
    ] = None,
    price_min: Annotated[float | None, typer.Option("--min", min=0, help="Lowest price.")] = None,
    price_max: Annotated[float | None, typer.Option("--max", min=0, help="Highest price.")] = None,
    currency: Annotated[str, typer.Option(help="Of the prices, such as EUR.")] = "",
    region: Annotated[str, typer.Option(help="Where suppliers are, such as Germany.")] = "",
    category: Annotated[list[str] | None, typer.Option(help="May be repeated.")] = None,
    supplier: Annotated[list[str] | None, typer.Option(help="May be repeated.")] = None,
    wait: Annotated[bool, typer.Option(help="Wait for the result and show it.")] = True,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many products to show.")] = 20,
    json: printing.Json = False,
) -> None:
    """Ask all sources at once, and list the merged products by rank. Exits with 3 if a source
    failed."""
    body: dict[str, Any] = {"query": query}
    prices: dict[str, Any] = {"min": price_min, "max": price_max}
    prices = {name: value for name, value in prices.items() if value is not None}
    if prices:
        body["priceRange"] = prices | ({"currency": currency.upper()} if currency else {})
    told = {"sources": source, "categories": category, "suppliers": supplier, "region": region}
    body |= {name: value for name, value in told.items() if value}
    receipt, job, rows = asyncio.run(_ask(body, wait, limit))
    if job is None:
        if json:
            printing.as_json(receipt)
        else:
            print(receipt["jobId"])
        return
    if json:
        printing.as_json({**receipt, "summary": job["summary"], "products": rows})
    else:
        _print(job, rows)
    if job["state"] != "done" or (job["summary"] or {}).get("sourcesFailed"):
        raise typer.Exit(3)


def _print(job: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    shown = [
        (one["rank"], f"{one.get('price', '')} {one.get('currency', '')}".strip(),
         one.get("availability", ""), ", ".join(offer["source"] for offer in one["sources"]),
         one["score"], one.get("title", ""))
        for one in rows
    ]  # fmt: skip
    printing.columns(("RANK", "PRICE", "STOCK", "SOURCES", "SCORE", "TITLE"), shown)
    print()
    sources = (job["summary"] or {}).get("sources", {})
    printing.columns(
        ("SOURCE", "FOUND", "KEPT", "MS", "STATE"),
        [
            (name, one["found"], one["kept"], one["latencyMs"],
             "ok" if one["failed"] is None else one["failed"]["code"])
            for name, one in sources.items()
        ],
    )  # fmt: skip


async def _ask(
    body: dict[str, Any], wait: bool, limit: int
) -> tuple[dict[str, Any], dict[str, Any] | None, list[dict[str, Any]]]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        receipt: dict[str, Any] = await penstock.post("/api/research", body)
        if not wait:
            return receipt, None, []
        place = f"/api/jobs/{receipt['jobId']}"
        while True:
            job: dict[str, Any] = await penstock.get(place)
            if job["state"] in _ENDED:
                break
            if penstock.here is not None:
                # No worker runs: this command does the work itself.
                await penstock.post(f"{place}/kickoff")
            await asyncio.sleep(_LOOK_S)
        items = await penstock.first(f"{place}/items", limit)
    return receipt, job, [one["result"] for one in items]
