"""The stages `map` and `create`: products of the shop become products of the catalog."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any
from uuid import UUID

from penstock.model.errors import ItemError
from penstock.model.outcomes import AddedCells, Advance, Child, Done, Fail, Outcome
from penstock.model.pipeline import Item
from penstock.model.ports import Context, PictureIndex, Products, Profiles
from penstock.model.shops.products import ShopProduct
from penstock.pipelines.extraction.matcher import MatchSettings, RowMatch
from penstock.pipelines.extraction.plan import today
from penstock.pipelines.product_writes import compare_documents, written_outcome
from penstock.pipelines.shop_import.images import boxes_of
from penstock.pipelines.shop_import.mapping import KIND, RateTable, map_product

# Kept beside the document of a product: its source, and whether the shop shows it.
_SOURCE = "source"
_PUBLISHED = "published"


async def map_products(batch: Sequence[Item], ctx: Context) -> Sequence[Outcome | None]:
    if not batch:
        return ()
    base = batch[0].job.config.base_currency
    rates: RateTable = tuple(await ctx.port(Profiles).rates(base, today()))
    return [_map_item(item, base, rates) for item in batch]


def _map_item(item: Item, base: str, rates: RateTable) -> Outcome:
    told = item.normalized if item.normalized and "shop" in item.normalized else item.input
    shop = ShopProduct.from_json(told["shop"])
    source = told["source"]
    mapped = map_product(shop, source, base, rates)
    document = {**mapped.document, _SOURCE: source, _PUBLISHED: shop.status == "active"}
    if mapped.error is None:
        return Advance(document, mapped.cells)
    wrong = mapped.error
    return Fail(
        ItemError(wrong.code, wrong.message, wrong.column, wrong.value), mapped.cells, document
    )


async def create(batch: Sequence[Item], ctx: Context) -> Sequence[Outcome | None]:
    """Compare with the catalog, write what the intent allows, and add the pictures as items."""
    outcomes: dict[int, Outcome] = {}
    for members in _by_job(batch).values():
        outcomes |= await _create_products(members, ctx)
    return [outcomes[id(item)] for item in batch]


def _by_job(batch: Sequence[Item]) -> dict[UUID, list[Item]]:
    found: dict[UUID, list[Item]] = {}
    for item in batch:
        found.setdefault(item.job.id, []).append(item)
    return found


async def _create_products(items: Sequence[Item], ctx: Context) -> dict[int, Outcome]:
    job = items[0].job
    config = job.config
    # One shop has one source.
    source = (items[0].normalized or {})[_SOURCE]
    settings = MatchSettings(
        job.id, source, "sourceId", "first", config.intent, config.price_guard,
        config.missing == "unpublish",
    )  # fmt: skip
    documents = {item.row_no: dict(item.normalized or {}) for item in items}
    found = await compare_documents(job.org_id, documents, settings, ctx.port(Products))
    spawned = await _pictures(items, documents, ctx) if config.images else {}
    outcomes: dict[int, Outcome] = {}
    for item in items:
        published = bool(documents[item.row_no].get(_PUBLISHED, True))
        row = _with_publication(found[item.row_no], published)
        shown = AddedCells({KIND: "product", **row.cells().cells})
        outcome = written_outcome(row, config.intent, settings.source, shown, published=published)
        if isinstance(outcome, Done) and config.intent != "check":
            outcome = replace(outcome, spawn=spawned.get(item.row_no, ()))
        outcomes[id(item)] = outcome
    return outcomes


def _with_publication(row: RowMatch, published: bool) -> RowMatch:
    """A product that differs only in whether the shop shows it has changed, too."""
    existing = row.existing
    if existing is None or existing.published == published or row.state != "unchanged":
        return row
    change = {"field": "published", "before": existing.published, "after": published}
    return row._replace(state="changed", changes=[*row.changes, change])


async def _pictures(
    items: Sequence[Item], documents: Mapping[int, Mapping[str, Any]], ctx: Context
) -> dict[int, list[Child]]:
    """Pictures that are not here yet, each once."""
    job = items[0].job
    wanted = {row: _urls(document) for row, document in documents.items()}
    urls = list(dict.fromkeys(url for some in wanted.values() for url in some))
    known = await ctx.port(PictureIndex).at_urls(job.org_id, urls)
    boxes = set(boxes_of(job.config))
    stored = {url for url, one in known.items() if boxes <= set(one.thumbnails)}
    return {
        row: [image_child(url, documents[row]) for url in some if url not in stored]
        for row, some in wanted.items()
    }


def _urls(document: Mapping[str, Any]) -> list[str]:
    return [image["url"] for image in document["product"].get("images", ())]


def image_child(url: str, document: Mapping[str, Any]) -> Child:
    """Products that share a picture share its item: the key is the URL's."""
    name = sha256(url.encode()).hexdigest()[:40]
    product = document["product"]
    told = {"kind": "image", "url": url, "sourceId": product.get("sourceId")}
    told["title"] = product.get("title")
    return Child(f"image:{name}", told, "download")
