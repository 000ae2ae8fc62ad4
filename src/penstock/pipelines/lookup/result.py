"""What a lookup shows of its rows: cells of the grid, candidates, and what was tried."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from penstock.catalog.lookup.scoring import ScoredCandidate
from penstock.catalog.products.grid import MATCH, flatten
from penstock.model.effects import RecordSearch
from penstock.model.errors import ItemError
from penstock.model.lookup import (
    AMBIGUOUS,
    CATALOG,
    NONE_OF_THEM,
    CatalogProduct,
)
from penstock.model.outcomes import AddedCells, Done, NotFound, Outcome, Skip

# Shown of the product that was found.
_PRODUCT_COLUMNS = (
    *("source", "sourceId", "sku", "gtin", "mpn", "title", "brand", "category"),
    *("price", "currency", "availability", "url", "images"),
)
RESULT_COLUMNS = (
    *(MATCH, "confidence", "matchedBy", "provider", "productId"),
    *_PRODUCT_COLUMNS,
    *("candidates", "tried"),
)
MATCHED = "match"
CANDIDATES = "candidates"
OFFERS = "offers"
# Of a product that a person chose.
BY_PERSON = "person"
MAX_CANDIDATES = 10


def candidate_json(one: ScoredCandidate, product: CatalogProduct | None) -> dict[str, Any]:
    """A candidate as the row drawer shows it. ``key`` is what a choice names."""
    found = one.candidate
    images = (product.data.get("images") if product else None) or [{}]
    shown = {
        "key": str(found.id), "provider": CATALOG, "productId": str(found.id),
        "source": found.source, "sourceId": found.source_id, "sku": found.sku,
        "gtin": found.gtin, "mpn": found.mpn, "brand": found.brand, "title": found.title,
        "image": images[0].get("url"), "confidence": one.score, "matchedBy": one.variant,
    }  # fmt: skip
    return {name: value for name, value in shown.items() if value is not None}


def found_outcome(
    checkpoint: Mapping[str, Any], match: Mapping[str, Any], product: Mapping[str, Any],
    candidates: Sequence[Mapping[str, Any]], effects: Sequence[RecordSearch],
) -> Outcome:  # fmt: skip
    """``match`` is the candidate that is the match, as `candidate_json` makes it."""
    cells = {
        MATCH: "found",
        "confidence": match["confidence"],
        "matchedBy": match["matchedBy"],
        "provider": match["provider"],
        "productId": match.get("productId"),
        CANDIDATES: len(candidates) if len(candidates) > 1 else None,
        "source": match.get("source"),
        "sourceId": match.get("sourceId"),
        **flatten(product, _PRODUCT_COLUMNS),
    }
    shown = AddedCells({name: value for name, value in cells.items() if value is not None})
    kept = {**checkpoint, MATCHED: dict(match), CANDIDATES: list(candidates)}
    return Done(shown, {**kept, "product": dict(product)}, effects=effects)


def ambiguous_outcome(
    checkpoint: Mapping[str, Any], candidates: Sequence[Mapping[str, Any]],
    offers: Mapping[str, Mapping[str, Any]], *, weak: bool, effects: Sequence[RecordSearch],
) -> Outcome:  # fmt: skip
    """``offers`` are the products of candidates that are not in the catalog, by key."""
    count = len(candidates)
    if weak:
        why = f"{_products(count)} may be meant, but none is certain enough"
    else:
        why = f"{_products(count)} fit about equally well"
    cells = {MATCH: "ambiguous", CANDIDATES: count, "confidence": candidates[0]["confidence"]}
    kept = {**checkpoint, CANDIDATES: list(candidates)}
    if offers:
        kept[OFFERS] = {key: dict(product) for key, product in offers.items()}
    return Skip(f"{why}. Choose one.", AddedCells(cells), AMBIGUOUS, kept, effects=effects)


def _products(count: int) -> str:
    return "1 product" if count == 1 else f"{count} products"


def not_found_outcome(
    tried: Iterable[tuple[str, str]], effects: Sequence[RecordSearch], *, final: bool,
    reason: str | None = None, failed: Sequence[str] = (),
) -> Outcome:  # fmt: skip
    """``tried`` are providers and variants, in order; ``failed`` are sources without an answer."""
    by_provider: dict[str, list[str]] = {}
    for provider, variant in dict.fromkeys(tried):
        by_provider.setdefault(provider, []).append(variant)
    text = "; ".join(f"{name}: {', '.join(some)}" for name, some in by_provider.items())
    why = reason or "No product was found."
    details: dict[str, Any] = {"tried": by_provider}
    if failed:
        details["failed"] = list(failed)
        text += f"; without an answer: {', '.join(failed)}"
    error = ItemError("NOT_FOUND", f"{why} Searched in {text}", details=details)
    cells = AddedCells({MATCH: "notFound", "tried": text})
    return NotFound(error, cells, final, effects=effects)


def refused_outcome() -> Outcome:
    """A person said that it is none of the candidates."""
    error = ItemError("NOT_FOUND", "None of the candidates is meant, a person decided")
    cells = AddedCells({MATCH: "notFound", "tried": NONE_OF_THEM})
    return NotFound(error, cells, final=True)
