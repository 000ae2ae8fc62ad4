"""What becomes of a row that was compared with the catalog: an outcome, perhaps with a write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from penstock.catalog.products.editing import kept_parts
from penstock.catalog.products.matching import Candidates, Identifiers, identifiers_of
from penstock.model.effects import UpsertProduct
from penstock.model.errors import ItemError
from penstock.model.outcomes import Done, Fail, Outcome, Shown, Skip
from penstock.model.ports import Products
from penstock.model.products import PUBLISHED
from penstock.pipelines.extraction.matcher import (
    Document,
    MatchSettings,
    RowMatch,
    compare_rows,
    find_known,
    next_step,
    written_over,
)

UNNAMED = "The product has no identifier: it needs an id, a SKU, a GTIN or an MPN"


async def compare_documents(
    org_id: int, documents: Mapping[int, Document], settings: MatchSettings, catalog: Products
) -> dict[int, RowMatch]:
    """Compare products with the catalog as it is now, in two queries."""
    names = {row: identifiers_of(one["product"]) for row, one in documents.items()}
    known = await find_candidates(org_id, settings.source, list(names.values()), catalog)
    return compare_rows(names, find_known(names, known), documents, settings)


async def find_candidates(
    org_id: int, source: str, names: Sequence[Identifiers], catalog: Products,
    other_ids_of: UUID | None = None,
) -> Candidates:  # fmt: skip
    """Products that rows can match, and products they can be linked to."""
    ids = [one.id for one in names if one.id is not None]
    skus = [one.sku for one in names if one.sku is not None]
    gtins = [one.gtin for one in names if one.gtin is not None]
    makers = [one.maker for one in names if one.maker is not None]
    found = await catalog.find(org_id, source, ids, skus, gtins)
    links = await catalog.link_candidates(org_id, source, gtins, makers)
    return Candidates(source, found.products, found.catalog_key, links, other_ids_of)


def written_outcome(
    row: RowMatch, intent: str, source: str, shown: Shown, *, published: bool = True
) -> Outcome:
    """The outcome of a row that was compared: written to the catalog, as the intent allows."""
    checkpoint = row.checkpoint()
    if intent == "check":
        return Done(shown, checkpoint)
    match next_step(row, intent):
        case "not_in_catalog":
            why = "The catalog does not have this product"
            return Skip(why, shown, "NOT_IN_CATALOG", checkpoint)
        case "exists_already":
            why = "The catalog has this product already"
            return Skip(why, shown, "EXISTS_ALREADY", checkpoint)
        case "unchanged":
            return Done(shown, checkpoint)
        case "held":
            held = row.held
            assert held is not None
            details = {**held.details}
            return Skip(held.message, shown, held.code, checkpoint, held.column, details)
        case "unnamed":
            return Fail(ItemError("REQUIRED_MISSING", UNNAMED, "sourceId"), shown, checkpoint)
        case "write":
            return Done(shown, checkpoint, effects=[_upsert(row, intent, source, published)])


def _upsert(row: RowMatch, intent: str, source: str, published: bool) -> UpsertProduct:
    existing, document = row.existing, row.document
    if document is None:
        # As the stored checkpoint has it.
        names = row.names
        assert names.id is not None
        return UpsertProduct(source, names.id, None, sku=names.sku, gtin=names.gtin)
    data: Mapping[str, Any] = document["product"]
    lineage = document["lineage"]
    if existing is not None:
        data = written_over(existing, data, intent)
        if existing.kept:
            kept = kept_parts(existing.kept)
            lineage = {field: one for field, one in lineage.items() if field not in kept}
            published = published if PUBLISHED not in existing.kept else existing.published
    names = identifiers_of(data)
    return UpsertProduct(
        source=existing.source if existing else data["source"],
        source_id=existing.source_id if existing else data["sourceId"],
        data=data,
        lineage=lineage,
        sku=names.sku,
        gtin=names.gtin,
        published=published and data.get("published") is not False,
        seen_version=existing.version if existing else None,
        whole=intent == "replace",
    )
