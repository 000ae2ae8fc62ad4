"""The catalog's products, as asked for and as shown."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from penstock.api.catalog.product_link_schemas import LinkOfProduct
from penstock.api.http.schemas import Moment, Shape
from penstock.catalog.products.comparison import Change, diff
from penstock.catalog.products.option_order import variants_in_order
from penstock.store.catalog import catalog
from penstock.store.catalog.product_order import NEWEST_FIRST, Sort
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
    brand: _Text = Field("", description="Of this brand, whatever the case of its letters.")
    category: str = Field(
        "",
        max_length=500,
        pattern=r"^[^\x00]*$",
        description="Of this category, or of one below it: `Tools` also finds `Tools > Hammers`.",
    )
    status: PublishedState | None = Field(None, description="Unset: both.")
    edited: bool | None = Field(None, description="With fields that a person edited, or without.")
    linked: bool | None = Field(
        None, description="With an accepted link to a product of another source, or without."
    )
    updated_after: Moment | None = Field(None, description="Changed then or later.")
    updated_before: Moment | None = Field(None, description="Changed before that.")
    job_id: UUID | None = Field(None, description="Changed by this job, and not undone since.")
    org: _Text = Field("", description="Of another org, by name; admins only.")


class ProductsPageQuery(ProductsQuery):
    sort: Sort = Field(
        NEWEST_FIRST,
        description="By time of change, title or amount of the price; `-` for descending. Products"
        " without a title or price come last. The currency does not matter.",
    )
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
    """A product of another source that may be the same article: accept or refuse it with
    `POST /api/product-links`."""

    product_id: UUID
    source: str
    source_id: str
    sku: str | None
    title: str | None
    by: Literal["gtin", "mpn"] = Field(description="The same GTIN, or the same brand and MPN.")


class FullProduct(ListedProduct):
    product: dict[str, Any] = Field(description="The normalised product; see docs/product.md.")
    lineage: dict[str, Origin] = Field(description="Of each field, where its value came from.")
    kept_fields: list[str] = Field(
        description="Fields that a person edited: imports leave them as they are."
    )
    links: list[ProposedLink] = Field(description="Proposed and not decided, at most five.")
    linked: list[LinkOfProduct] = Field(
        description="Links that were accepted, then those that were refused, at most 50."
    )


class HistoryQuery(Shape):
    page_size: int = Field(20, ge=1, le=100)
    after: str = Field("", description="`next` of the page before.")


class FieldChange(Shape):
    field: str
    before: Any
    after: Any


class ProductChange(Shape):
    """What one job changed of a product, with the last of its rows; or an edit."""

    job_id: UUID | None = Field(description="Null for an edit.")
    job_name: str | None = Field(
        description="Null for an edit, and for a job that you may not see."
    )
    row_no: int | None = Field(description="Null for an edit.")
    edit_id: UUID | None = Field(description="The edit; null for a change by a job.")
    edited_by: str | None = Field(description="Null for a change by a job.")
    kind: Literal["created", "changed", "edited", "undone"] = Field(
        description="`undone`: an edit that set an earlier one back."
    )
    version: int = Field(description="Of the product after it.")
    changed_at: datetime
    undone_at: datetime | None = Field(description="Set: it was taken back then.")
    changes: list[FieldChange] | None = Field(
        description="Fields that differ, at most 200; null where what it made is no longer known."
    )


class ProductHistory(Shape):
    items: list[ProductChange]
    next: str | None = Field(description="Pass as `after` for the next page; null on the last.")


def listed(row: catalog.ProductRow) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "source": row.source,
        "sourceId": row.source_id,
        "sku": row.sku,
        "gtin": row.gtin,
        "title": row.title,
        "brand": row.brand,
        "category": row.category,
        "price": from_json(row.price),
        "availability": row.stock,
        "image": row.image,
        "status": "published" if row.published else "unpublished",
        "version": row.version,
        "jobId": str(row.job_id),
        "rowNo": row.row_no,
        "createdAt": row.created_at,
        "updatedAt": row.updated_at,
    }


def full(row: catalog.ProductDetails) -> dict[str, Any]:
    last = {"jobId": str(row.job_id), "rowNo": row.row_no}
    lineage = {field: origin(kept, last) for field, kept in from_json(row.lineage).items()}
    kept = list(row.kept_fields or ())
    product = from_json(row.data)
    if variants := product.get("variants"):
        product["variants"] = variants_in_order(variants)
    return listed(row) | {"product": product, "lineage": lineage, "keptFields": kept}


def origin(kept: Any, last: Mapping[str, Any]) -> dict[str, Any]:
    """The stored origin: column, raw text, rule and confidence; and the job and row that brought
    the value, if a later job did not change it."""
    if isinstance(kept, Mapping):
        return {**last, **kept}
    column, raw, rule, confidence, *by = kept
    named = {"column": column, "raw": raw, "rule": rule, "confidence": confidence}
    return {**named, **(dict(zip(("jobId", "rowNo"), by, strict=True)) if by else last)}


def change(row: catalog.ProductChange) -> dict[str, Any]:
    before, after = from_json(row.before), from_json(row.after)
    is_edit = row.edit_id is not None
    kind = "created" if before is None else "changed"
    if is_edit:
        kind = "edited" if row.undoes is None else "undone"
    return {
        "jobId": None if is_edit else str(row.job_id),
        "jobName": row.job_name,
        "rowNo": None if is_edit else row.row_no,
        "editId": str(row.edit_id) if is_edit else None,
        "editedBy": row.edited_by,
        "kind": kind,
        "version": row.version,
        "changedAt": row.changed_at,
        "undoneAt": row.undone_at,
        "changes": None if after is None else _differences(before or {}, after),
    }


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[dict[str, Any]]:
    _, found = diff(before.get("data", {}), after["data"], blanks_count=True)
    was, is_now = before.get("published"), after["published"]
    if was is not None and was != is_now:
        found.append(Change("published", was, is_now))
    return [one._asdict() for one in found[:_MOST_CHANGES]]
