"""`penstock jobs links` and `penstock products links`: the same article of two sources."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

import typer

from penstock.cli import printing
from penstock.cli.catalog.products import ProductId, parse_product_id
from penstock.cli.jobs.jobs import JobId

_DONE = {"accept": "accepted", "refuse": "refused", "undo": "undone"}


class By(StrEnum):
    GTIN = "gtin"
    MPN = "mpn"


class LinkState(StrEnum):
    ACCEPTED = "accepted"
    REFUSED = "refused"


class Decision(StrEnum):
    ACCEPT = "accept"
    REFUSE = "refuse"
    UNDO = "undo"


OtherId = Annotated[
    UUID,
    typer.Argument(metavar="OTHER", parser=parse_product_id, help="The id of the other product."),
]
Limit = Annotated[int, typer.Option(min=1, max=10_000, help="At most so many.")]


def job_links(
    job_id: JobId,
    accept: Annotated[bool, typer.Option("--accept", help="Accept all of them.")] = False,
    refuse: Annotated[bool, typer.Option("--refuse", help="Refuse all of them.")] = False,
    by: Annotated[
        By | None, typer.Option(help="Only those with the same GTIN, or the same brand and MPN.")
    ] = None,
    limit: Limit = 50,
    json: printing.Json = False,
) -> None:
    """Links to products of other sources that a job proposes; accept or refuse them all.

    `penstock products link` decides single pairs.
    """
    if accept and refuse:
        from penstock.cli.errors import USAGE, CliError

        raise CliError(USAGE, "Use either --accept or --refuse.")
    if accept or refuse:
        _decide_all(job_id, "accept" if accept else "refuse", by, json)
        return
    asked = {} if by is None else {"by": by.value}
    found = asyncio.run(_list(f"/api/jobs/{job_id}/links", limit, asked))
    if json:
        printing.as_json(found)
        return
    rows = [
        (f"{one['rowNo']:,}", *_side(one["product"]), *_side(one["other"]), _same(one["by"]))
        for one in found
    ]
    printing.columns(("ROW", "PRODUCT", "PRICE", "OTHER", "PRICE", "SAME"), rows)
    if not found:
        printing.note("The job proposes no links that are not decided.")


def list_links(
    state: Annotated[LinkState | None, typer.Option(help="Else both.")] = None,
    source: Annotated[str, typer.Option(help="One of the products is of this source.")] = "",
    limit: Limit = 50,
    json: printing.Json = False,
) -> None:
    """Links between products of two sources that were decided, the latest first."""
    asked = {"state": None if state is None else state.value, "source": source}
    given = {name: value for name, value in asked.items() if value}
    found = asyncio.run(_list("/api/product-links", limit, given))
    if json:
        printing.as_json(found)
        return
    rows = [
        (one["state"], *_side(one["product"]), *_side(one["other"]), _same(one["by"]),
         one["decidedBy"] or "", printing.moment(one["decidedAt"]))
        for one in found
    ]  # fmt: skip
    head = ("STATE", "PRODUCT", "PRICE", "OTHER", "PRICE", "SAME", "BY", "DECIDED (UTC)")
    printing.columns(head, rows)


def link(
    product_id: ProductId,
    other_id: OtherId,
    decision: Annotated[
        Decision, typer.Option(help="Undo: take a decision back.")
    ] = Decision.ACCEPT,
    json: printing.Json = False,
) -> None:
    """Say that two products of two sources are the same article, or are not."""
    pair = {"productId": str(product_id), "otherId": str(other_id)}
    order = {"decision": decision.value, "pairs": [pair]}
    made = asyncio.run(_post("/api/product-links", order))
    if json:
        printing.as_json(made)
    else:
        changed = _DONE[decision.value] if made["decided"] else "not changed"
        print(f"The link is {changed}.")


def _decide_all(job_id: UUID, decision: str, by: By | None, json: bool) -> None:
    total = asyncio.run(_decide(job_id, decision, None if by is None else by.value))
    if json:
        printing.as_json(total)
        return
    print(f"{_DONE[decision]} {total['decided']:,}")
    if total["skipped"]:
        printing.note(
            f"{total['skipped']:,} were left out, because a product resembles several products of"
            " one source. Decide them with `penstock products link`."
        )


async def _decide(job_id: UUID, decision: str, by: str | None) -> dict[str, int]:
    from penstock.cli.connection import connected

    total = {"decided": 0, "skipped": 0}
    async with connected() as penstock:
        after = ""
        while True:
            order = {"decision": decision, "by": by, "after": after}
            made = await penstock.post(f"/api/jobs/{job_id}/links", order)
            total = {name: value + made[name] for name, value in total.items()}
            if made["next"] is None:
                return total
            after = made["next"]


async def _list(path: str, limit: int, asked: dict[str, Any]) -> list[dict[str, Any]]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        return await penstock.first(path, limit, **asked)


async def _post(path: str, body: dict[str, Any]) -> dict[str, Any]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        answer: dict[str, Any] = await penstock.post(path, body)
        return answer


def _side(one: dict[str, Any]) -> tuple[str, str]:
    price = one["price"] or {}
    amount = f"{price.get('amount', '')} {price.get('currency', '')}".strip()
    return f"{one['source']}:{one['sourceId']}", amount


def _same(by: str) -> str:
    return {"gtin": "GTIN", "mpn": "brand and MPN"}.get(by, "")
