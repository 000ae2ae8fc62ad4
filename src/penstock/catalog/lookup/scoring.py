"""How sure it is that a candidate is the product that was looked up.

A score goes from 0 to 1. Products with another GTIN are never the same. Candidates with the same
GTIN, or the same brand and part number, are one product of several suppliers and no rivals.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from penstock.catalog.lookup.queries import WantedProduct
from penstock.catalog.lookup.words import similarity, title_words
from penstock.catalog.products.matching import gtins_differ, maker_key
from penstock.catalog.values.gtin import is_in_store
from penstock.model.lookup import CatalogCandidate, SearchOutcome

# The score of each variant if everything else agrees.
_BY_VARIANT = {"gtin": 1.0, "mpnBrand": 0.96, "sku": 0.88, "brandTitle": 0.93, "title": 0.86}
_IN_STORE = 0.85
# Titles that share hardly anything, and what titles say of products with the same SKU.
_FOREIGN, _ALIKE, _BY_TITLE = 0.35, 0.6, 0.2
_OTHER_BRAND = 0.6


# Both hashes of a picture together: this many bits that differ make the score 0.
_ALL_BITS = 60
_BY_IMAGE = 0.97
# A file is named after a product on purpose, but less surely than a code is printed on it.
_BY_FILE_NAME = {"gtin": 0.95, "sku": 0.84, "title": 0.75}


class Thresholds(NamedTuple):
    """From ``accept`` up a candidate is the match, if the next product is ``margin`` below it; from
    ``candidate`` up it is shown to a person."""

    accept: float = 0.8
    candidate: float = 0.5
    margin: float = 0.08


class ScoredCandidate(NamedTuple):
    candidate: CatalogCandidate
    score: float
    variant: str


class Verdict(NamedTuple):
    """``ranked`` are the candidates that are good enough to be shown, the best first."""

    outcome: SearchOutcome
    ranked: Sequence[ScoredCandidate] = ()

    @property
    def best(self) -> ScoredCandidate | None:
        return self.ranked[0] if self.ranked else None


def score(wanted: WantedProduct, one: CatalogCandidate, variant: str) -> float:
    """The score of a candidate that a search by ``variant`` returned."""
    if variant != "gtin" and _gtins_contradict(wanted.gtin, one.gtin):
        return 0.0
    alike = similarity(wanted.title, one.title) if wanted.title and one.title else None
    brand_differs = _brands_differ(wanted.brand, one)
    match variant:
        case "gtin":
            base = _IN_STORE if one.gtin and is_in_store(one.gtin) else _BY_VARIANT[variant]
            return round(base * (0.92 if alike is not None and alike < 0.15 else 1.0), 3)
        case "mpnBrand":
            return 0.0 if _gtins_contradict(wanted.gtin, one.gtin) else _BY_VARIANT[variant]
        case "sku":
            return round(_sku_score(alike, brand_differs), 3)
        case "brandTitle" if brand_differs is not False:
            # Whether the brand is the same is what this variant is about.
            return 0.0
    base = _BY_VARIANT[variant] * (_OTHER_BRAND if brand_differs else 1.0)
    return round(base * (alike or 0.0), 3)


def offer_score(wanted: WantedProduct, one: CatalogCandidate) -> float:
    """The score of a product that a source returned, whatever it was asked for: by what the two
    have in common."""
    if wanted.gtin is not None and wanted.gtin == one.gtin:
        return score(wanted, one, "gtin")
    if wanted.maker is not None and wanted.maker == maker_key(one.brand, one.mpn):
        return score(wanted, one, "mpnBrand")
    found = [score(wanted, one, "sku")] if wanted.sku and wanted.sku == one.sku else []
    return max(*found, score(wanted, one, "brandTitle"), score(wanted, one, "title"))


def image_score(distance: int) -> float:
    """By how many bits of the two hashes differ."""
    return round(min(_BY_IMAGE, max(0.0, 1 - distance / _ALL_BITS)), 3)


def file_name_score(kind: str, file_title: str, one: CatalogCandidate) -> float:
    """By what the file's name was compared with; titles are never certain enough alone."""
    alike = similarity(file_title, one.title or "") if kind == "title" else 1.0
    return round(_BY_FILE_NAME[kind] * alike, 3)


def _sku_score(alike: float | None, brand_differs: bool | None) -> float:
    found = _BY_VARIANT["sku"]
    if brand_differs:
        found *= _OTHER_BRAND
    if alike is not None and alike < _FOREIGN:
        found *= 0.75
    elif alike is not None:
        found += _BY_TITLE * (alike - _ALIKE)
    return found


def _gtins_contradict(gtin: str | None, other: str | None) -> bool:
    numbers = [one for one in (gtin, other) if one is not None and not is_in_store(one)]
    return len(numbers) == 2 and gtins_differ(gtin, other)


def _brands_differ(brand: str | None, one: CatalogCandidate) -> bool | None:
    """None: at least one side does not say. A brand in the title counts, too."""
    if not brand:
        return None
    ours = title_words(brand)
    if one.brand:
        theirs = title_words(one.brand)
        return not (set(ours) <= set(theirs) or set(theirs) <= set(ours))
    return False if one.title and set(ours) <= set(title_words(one.title)) else None


def judge(scored: Iterable[ScoredCandidate], limits: Thresholds) -> Verdict:
    """What candidates of all searches so far come to. A product that several variants found has
    its best score."""
    best: dict[object, ScoredCandidate] = {}
    for one in scored:
        known = best.get(one.candidate.id)
        if one.score >= limits.candidate and (known is None or one.score > known.score):
            best[one.candidate.id] = one
    ranked = sorted(
        best.values(),
        key=lambda one: (-one.score, not one.candidate.published, str(one.candidate.id)),
    )
    if not ranked:
        return Verdict("notFound")
    first = ranked[0]
    if first.score < limits.accept:
        return Verdict("weak", ranked)
    same = _names(first.candidate)
    rivals = [one for one in ranked[1:] if not same & _names(one.candidate)]
    if rivals and first.score - rivals[0].score < limits.margin:
        return Verdict("ambiguous", ranked)
    return Verdict("found", ranked)


def same_product(ranked: Sequence[ScoredCandidate]) -> list[ScoredCandidate]:
    """The best candidate, and others that are the same product at other suppliers."""
    if not ranked:
        return []
    same = _names(ranked[0].candidate)
    return [ranked[0], *(one for one in ranked[1:] if same & _names(one.candidate))]


def _names(one: CatalogCandidate) -> set[tuple[str, str]]:
    """What makes candidates the same product."""
    names = set()
    if one.gtin is not None and not is_in_store(one.gtin):
        names.add(("gtin", one.gtin))
    maker = maker_key(one.brand, one.mpn)
    if maker is not None:
        names.add(("maker", maker))
    return names
