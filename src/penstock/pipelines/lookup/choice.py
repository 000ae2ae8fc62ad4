"""What a person chose among the candidates of an item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from penstock.model.lookup import CATALOG, CHOSEN, NONE_OF_THEM, CatalogProduct
from penstock.model.outcomes import Outcome
from penstock.model.pipeline import Item
from penstock.pipelines.lookup.result import (
    BY_PERSON,
    CANDIDATES,
    OFFERS,
    found_outcome,
    not_found_outcome,
    refused_outcome,
)


def chosen_product(item: Item) -> UUID | None:
    """The product of the catalog that was chosen, if it is one."""
    chosen = (item.normalized or {}).get(CHOSEN)
    candidate = _candidate(item, chosen)
    return UUID(candidate["productId"]) if candidate and "productId" in candidate else None


def chosen_outcome(item: Item, products: Mapping[UUID, CatalogProduct]) -> Outcome:
    """The item with that product. An item that was deleted meanwhile is not found."""
    checkpoint = item.normalized or {}
    chosen = checkpoint[CHOSEN]
    candidate = _candidate(item, chosen)
    if chosen == NONE_OF_THEM or candidate is None:
        return refused_outcome()
    product: Mapping[str, Any] | None = checkpoint.get(OFFERS, {}).get(chosen)
    known = chosen_product(item)
    if known is not None:
        product = products[known].data if known in products else None
    if product is None:
        return not_found_outcome([(CATALOG, "productId")], (), final=True)
    match = {**candidate, "confidence": 1.0, "matchedBy": BY_PERSON}
    return found_outcome(checkpoint, match, product, checkpoint[CANDIDATES], ())


def _candidate(item: Item, key: str | None) -> Mapping[str, Any] | None:
    known: Sequence[Mapping[str, Any]] = (item.normalized or {}).get(CANDIDATES, ())
    return next((one for one in known if one["key"] == key), None)
