"""The catalog's products, as asked for and as shown."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from penstock.api.http.schemas import Moment, Shape
from penstock.catalog.products.comparison import Change, diff
from penstock.store.database import from_json

_Text = Annotated[str, StringConstraints(max_length=200, pattern=r"^[^\x00]*$")]
_MOST_CHANGES = 200
PublishedState = Literal["published", "unpublished"]


class ProductsQuery(Shape):
    q: _Text = Field(
        "",
        description="Words that all occur in SKU, GTIN, source id, MPN, title, brand or category;"
        " what begins with it comes first.",
    )
    source: _Text = Field("", description="Of this source only.")
    sku: _Text = Field("", description="With exactly this SKU.")
    gtin: str = Field("", pattern=r"^[0-9]{0,14}$", description="With this GTIN, EAN or UPC.")
    status: PublishedState | None = Field(None, description="Unset: both.")
    updated_after: Moment | None = Field(None, description="Changed then or later.")
    updated_before: Moment | None = Field(None, description="Changed before that.")
    job_id: UUID | None = Field(None, description="Changed by this job, and not undone since.")
    org: _Text = Field("", description="Of another org, by name; admins only.")


class ProductsPageQuery(ProductsQuery):
    page_size: int = Field(50, ge=1, le=200)
    after: str = Field("", description="`next` of the page before.")


class ProductsExportQuery(ProductsQuery):
    format: str = Field(
        "csv",
        description="`csv`, `xlsx`, `json`, `ndjson`, or the file of a shop system: `shopify`,"
        " `woocommerce`, `magento`, `prestashop`, `prestashop-combinations`, `akeneo`.",
    )
    template: str = Field(
        "",
        max_length=100,
        pattern=r"^[^\x00]*$",
        description="The export template that chooses, orders and names the columns.",
    )
    variants: Literal["text", "rows", "columns"] | None = Field(
        None, description="Variants in one cell, as rows, or as columns; else as the template says."
    )


class ListedProduct(Shape):
    id: UUID
    source: str
    source_id: str
    sku: str | None
    gtin: str | None = Field(description="With 14 digits.")
    title: str | None
    brand: str | None
    category: str | None
    price: dict[str, Any] | None
    availability: str | None
    image: str | None = Field(description="URL of the first picture.")
    status: PublishedState
    version: int = Field(description="Another one with every change.")
    job_id: UUID = Field(description="The job that wrote it last …")
    row_no: int = Field(description="… and the row of it.")
    created_at: datetime
    updated_at: datetime


class ProductPage(Shape):
    items: list[ListedProduct] = Field(
        description="Changed last first. A page may hold few or none and still not be the last one:"
        " it ends when its time is up."
    )
    next: str | None = Field(description="Pass as `after` for the next page; null on the last.")


class Origin(Shape):
    """Where a value came from."""

    column: str | None = Field(None, description="The supplier's column, or the path in a record.")
    raw: str | None = Field(None, description="The original value; the first 300 characters.")
    rule: str | None = Field(None, description="What made the value of it.")
    confidence: float | None = Field(None, description="How sure the rule is, 0 to 1.")
    job_id: UUID
    row_no: int


class ProposedLink(Shape):
    """A product of another source that may be the same one. Nothing is written by it."""

    product_id: UUID
    source: str
    source_id: str
    sku: str | None
    title: str | None
    by: Literal["gtin", "mpn"] = Field(description="The same GTIN, or the same brand and MPN.")


class FullProduct(ListedProduct):
    product: dict[str, Any] = Field(description="The normalised product; see docs/product.md.")
    lineage: dict[str, Origin] = Field(description="Of each field, where its value came from.")
    links: list[ProposedLink] = Field(description="At most five.")


class HistoryQuery(Shape):
    page_size: int = Field(20, ge=1, le=100)
    after: str = Field("", description="`next` of the page before.")


class FieldChange(Shape):
    field: str
    before: Any
    after: Any


class ProductChange(Shape):
    """What one job did to a product, by whichever of its rows was the last to."""

    job_id: UUID
    job_name: str | None = Field(description="Null for a job that you may not see.")
    row_no: int
    kind: Literal["created", "changed"]
    version: int = Field(description="Of the product after it.")
    changed_at: datetime
    undone_at: datetime | None = Field(description="Set: it was taken back then.")
    changes: list[FieldChange] | None = Field(
        description="Fields that differ, at most 200; null where what it made is no longer known."
    )


class ProductHistory(Shape):
    items: list[ProductChange]
    next: str | None = Field(description="Pass as `after` for the next page; null on the last.")


def listed(row: Any) -> dict[str, Any]:
    return {
        "id": str(row["id"]),
        "source": row["source"],
        "sourceId": row["source_id"],
        "sku": row["sku"],
        "gtin": row["gtin"],
        "title": row["title"],
        "brand": row["brand"],
        "category": row["category"],
        "price": from_json(row["price"]),
        "availability": row["stock"],
        "image": row["image"],
        "status": "published" if row["published"] else "unpublished",
        "version": row["version"],
        "jobId": str(row["job_id"]),
        "rowNo": row["row_no"],
        "createdAt": row["created_at"],
        "updatedAt": row["updated_at"],
    }


def full(row: Any) -> dict[str, Any]:
    last = {"jobId": str(row["job_id"]), "rowNo": row["row_no"]}
    lineage = {field: origin(kept, last) for field, kept in from_json(row["lineage"]).items()}
    return listed(row) | {"product": from_json(row["data"]), "lineage": lineage}


def origin(kept: Any, last: Mapping[str, Any]) -> dict[str, Any]:
    """As it is kept: column, raw text, rule and confidence; and, of a value that a later job has
    left as it was, the job and row it is from."""
    if isinstance(kept, Mapping):
        return {**last, **kept}
    column, raw, rule, confidence, *by = kept
    named = {"column": column, "raw": raw, "rule": rule, "confidence": confidence}
    return {**named, **(dict(zip(("jobId", "rowNo"), by, strict=True)) if by else last)}


def change(row: Any) -> dict[str, Any]:
    before, after = from_json(row["before"]), from_json(row["after"])
    return {
        "jobId": str(row["job_id"]),
        "jobName": row["job_name"],
        "rowNo": row["row_no"],
        "kind": "created" if before is None else "changed",
        "version": row["version"],
        "changedAt": row["changed_at"],
        "undoneAt": row["undone_at"],
        "changes": None if after is None else _differences(before or {}, after),
    }


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[dict[str, Any]]:
    _, found = diff(before.get("data", {}), after["data"], blanks_count=True)
    was, is_now = before.get("published"), after["published"]
    if was is not None and was != is_now:
        found.append(Change("published", was, is_now))
    return [one._asdict() for one in found[:_MOST_CHANGES]]
