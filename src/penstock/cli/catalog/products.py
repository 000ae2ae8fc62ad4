"""`penstock products`: the catalog, with where its values came from."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer

from penstock.cli import printing
from penstock.cli.catalog.templates import Template, VariantsAs
from penstock.cli.jobs.jobs import parse_job_id

app = typer.Typer(help="The catalog: look at products, export them.", no_args_is_help=True)
_ID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def parse_product_id(text: str) -> UUID:
    if _ID.fullmatch(text) is None:
        from penstock.cli.errors import USAGE, CliError

        raise CliError(
            USAGE, f"{text!r} is no product id. `penstock products list` shows the ids of products."
        )
    return UUID(text)


class Status(StrEnum):
    PUBLISHED = "published"
    UNPUBLISHED = "unpublished"


class Format(StrEnum):
    CSV = "csv"
    XLSX = "xlsx"
    JSON = "json"
    NDJSON = "ndjson"
    SHOPIFY = "shopify"
    WOOCOMMERCE = "woocommerce"
    MAGENTO = "magento"
    PRESTASHOP = "prestashop"
    PRESTASHOP_COMBINATIONS = "prestashop-combinations"
    AKENEO = "akeneo"


ProductId = Annotated[
    UUID, typer.Argument(metavar="ID", parser=parse_product_id, help="The product's id.")
]
Query = Annotated[
    str, typer.Option("--q", metavar="WORDS", help="In SKU, GTIN, title, brand or category.")
]
Source = Annotated[str, typer.Option(help="Of this source only.")]
Sku = Annotated[str, typer.Option(help="With exactly this SKU.")]
Gtin = Annotated[str, typer.Option(help="With this GTIN, EAN or UPC.")]
WithStatus = Annotated[Status | None, typer.Option("--status", help="Else both.")]
Since = Annotated[
    datetime | None,
    typer.Option(help="Changed then or later; UTC, as 2026-01-31 or 2026-01-31T12:00:00."),
]
Job = Annotated[
    UUID | None,
    typer.Option(metavar="ID", parser=parse_job_id, help="Changed by this job, and not undone."),
]
Brand = Annotated[str, typer.Option(help="Of this brand.")]
Category = Annotated[str, typer.Option(help="Of this category, or of one below it.")]
Edited = Annotated[
    bool | None, typer.Option("--edited/--not-edited", help="With fields that a person edited.")
]
Linked = Annotated[
    bool | None,
    typer.Option("--linked/--not-linked", help="With an accepted link to another source."),
]
Org = Annotated[str, typer.Option(help="Of another org, by name; admins only.")]


class Sort(StrEnum):
    UPDATED_DOWN = "-updated"
    UPDATED = "updated"
    TITLE = "title"
    TITLE_DOWN = "-title"
    PRICE = "price"
    PRICE_DOWN = "-price"


@app.command("list")
def list_products(
    q: Query = "",
    source: Source = "",
    sku: Sku = "",
    gtin: Gtin = "",
    status: WithStatus = None,
    since: Since = None,
    job: Job = None,
    brand: Brand = "",
    category: Category = "",
    edited: Edited = None,
    linked: Linked = None,
    org: Org = "",
    sort: Annotated[Sort, typer.Option(help="`-` for descending.")] = Sort.UPDATED_DOWN,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="At most so many.")] = 20,
    json: printing.Json = False,
) -> None:
    """List products of your org, last changed first or by --sort."""
    from penstock.cli.catalog import products_view as view

    filters = _filters(q, source, sku, gtin, status, since, job, org)
    filters |= _more_filters(brand, category, edited, linked)
    if sort != Sort.UPDATED_DOWN:
        filters["sort"] = sort.value
    found, more = asyncio.run(view.list_products(filters, limit))
    if json:
        printing.as_json(found)
    else:
        rows = [
            (
                one["id"], one["sku"] or one["sourceId"], _price(one["price"]), one["status"],
                one["source"], printing.moment(one["updatedAt"]), one["title"] or "",
            )
            for one in found
        ]  # fmt: skip
        head = ("ID", "SKU", "PRICE", "STATUS", "SOURCE", "CHANGED (UTC)", "TITLE")
        printing.columns(head, rows)
    if not found:
        printing.note("No such products.")
    if more:
        printing.note("There are more: --limit shows more of them, `penstock products export` all.")


@app.command("show")
def show(product_id: ProductId, json: printing.Json = False) -> None:
    """Show a product, with the column, text, rule and row of each value."""
    from penstock.cli.catalog import products_view as view

    found = asyncio.run(view.get_product(product_id))
    if json:
        printing.as_json(found)
        return
    printing.fields(
        [
            ("Product", found["id"]),
            ("Known as", f"{found['source']}:{found['sourceId']}"),
            ("Status", f"{found['status']}, version {found['version']}"),
            ("Written by", f"job {found['jobId']}, row {found['rowNo']}"),
            ("Created (UTC)", printing.moment(found["createdAt"])),
            ("Changed (UTC)", printing.moment(found["updatedAt"])),
            ("Perhaps also", ", ".join(map(_link, found["links"]))),
            ("Same article", ", ".join(_accepted(found["linked"]))),
        ]
    )
    print()
    head = ("FIELD", "VALUE", "COLUMN", "TEXT", "RULE", "CONFIDENCE", "JOB", "ROW")
    printing.columns(head, view.value_lines(found))


def _link(link: dict[str, Any]) -> str:
    by = "same GTIN" if link["by"] == "gtin" else "same brand and MPN"
    return f"{link['source']}:{link['sourceId']} ({by})"


def _accepted(linked: list[dict[str, Any]]) -> list[str]:
    """Products of other sources that are the same article, each with its price."""
    others = [one["other"] for one in linked if one["state"] == "accepted"]
    return [f"{one['source']}:{one['sourceId']} {_price(one['price'])}".strip() for one in others]


@app.command("history")
def history(
    product_id: ProductId,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="At most so many.")] = 20,
    json: printing.Json = False,
) -> None:
    """Show what jobs and edits changed of a product, newest first."""
    from penstock.cli.catalog import products_view as view

    found = asyncio.run(view.history(product_id, limit))
    if json:
        printing.as_json(found)
        return
    for one in found:
        undone = f", undone {printing.moment(one['undoneAt'])}" if one["undoneAt"] else ""
        by = f"by job {one['jobId']}, row {one['rowNo']}"
        if one["editId"]:
            by = f"by {one['editedBy'] or 'a user'} as edit {one['editId']}"
        print(f"{printing.moment(one['changedAt'])}  {one['kind']} {by}{undone}")
        for change in one["changes"] or ():
            print(f"    {change['field']}: {_brief(change['before'])} → {_brief(change['after'])}")


@app.command("export")
def export(
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="Where it goes; - is stdout.")
    ],
    kind: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="Else as the name of the file ends. Names of shop systems: the CSV they import.",
        ),
    ] = None,
    q: Query = "",
    source: Source = "",
    sku: Sku = "",
    gtin: Gtin = "",
    status: WithStatus = None,
    since: Since = None,
    job: Job = None,
    brand: Brand = "",
    category: Category = "",
    edited: Edited = None,
    linked: Linked = None,
    org: Org = "",
    template: Template = "",
    variants: VariantsAs = None,
    json: printing.Json = False,
) -> None:
    """Write the catalog, or the products that match, to a file."""
    from penstock.cli.catalog import products_view as view
    from penstock.cli.files.results import output_place, pages_for

    place = output_place(output, json)
    filters = _filters(q, source, sku, gtin, status, since, job, org)
    filters |= _more_filters(brand, category, edited, linked)
    filters["format"] = kind.value if kind else pages_for(output).extension
    if template:
        filters["template"] = template
    if variants is not None:
        filters["variants"] = variants.value
    size = asyncio.run(view.exported("/api/products/export", filters, place))
    if json:
        printing.as_json({"output": str(output), "bytes": size})
    else:
        printing.note(f"{size:,} bytes written to {output}")


def _filters(
    q: str, source: str, sku: str, gtin: str, status: Status | None, since: datetime | None,
    job: UUID | None, org: str,
) -> dict[str, Any]:  # fmt: skip
    """Filters in the names of the API; those that are not given are left out."""
    given = {
        "q": q, "source": source, "sku": sku, "gtin": gtin, "org": org,
        "status": None if status is None else status.value,
        "updated_after": (
            None if since is None else since.replace(tzinfo=since.tzinfo or UTC).isoformat()
        ),
        "job_id": None if job is None else str(job),
    }  # fmt: skip
    return {name: value for name, value in given.items() if value}


def _more_filters(
    brand: str, category: str, edited: bool | None, linked: bool | None
) -> dict[str, Any]:
    given = {"brand": brand or None, "category": category or None}
    given |= {
        name: None if value is None else str(value).lower()
        for name, value in (("edited", edited), ("linked", linked))
    }
    return {name: value for name, value in given.items() if value is not None}


def _price(price: dict[str, Any] | None) -> str:
    if not price:
        return ""
    unit = price.get("unit") or "piece"
    per = "" if unit == "piece" or not price.get("amount") else f"per {unit}"
    return " ".join(filter(None, (price.get("amount"), price.get("currency"), per)))


def _brief(value: Any) -> str:
    import json

    if value is None:
        return "nothing"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 100 else f"{text[:99]}…"
