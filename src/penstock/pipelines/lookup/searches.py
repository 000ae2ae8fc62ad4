"""Searches in the catalog: for a row by its variants, for a picture by code, look and file name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.catalog.lookup.picture_names import PictureNames
from penstock.catalog.lookup.queries import WantedProduct, queries_of
from penstock.catalog.lookup.scoring import (
    ScoredCandidate,
    Thresholds,
    Verdict,
    file_name_score,
    image_score,
    judge,
    score,
)
from penstock.catalog.lookup.words import relaxed_words, strict_words
from penstock.model.effects import RecordSearch
from penstock.model.lookup import (
    CATALOG,
    CatalogCandidate,
    CatalogSearch,
    ImageQuery,
    PastSearch,
    SearchQuery,
)
from penstock.model.pipeline import Item
from penstock.pipelines.lookup.pictures import CODES, HASHES, NAMES
from penstock.pipelines.lookup.rows import WANTED

_NOTHING = Verdict("notFound")
_NO_PRODUCT, _NO_NAMES = WantedProduct(), PictureNames()
Scored = Mapping[int, Sequence[ScoredCandidate]]


@dataclass(slots=True)
class ItemSearch:
    """The search for one item: what is asked, and what was found so far. ``queries`` are the texts
    of the variants, ``keys`` what the catalog is asked for."""

    item: Item
    queries: Mapping[str, str]
    keys: Mapping[str, Sequence[str]]
    wanted: WantedProduct = _NO_PRODUCT
    names: PictureNames = _NO_NAMES
    hashes: tuple[str, str] | None = None
    past: Sequence[PastSearch] = ()
    scored: list[ScoredCandidate] = field(default_factory=list)
    events: list[RecordSearch] = field(default_factory=list)
    verdict: Verdict = _NOTHING

    @property
    def checkpoint(self) -> Mapping[str, Any]:
        return self.item.normalized or {}

    @property
    def is_picture(self) -> bool:
        return NAMES in self.checkpoint

    @property
    def gaps(self) -> Sequence[str]:
        """What a product lacks that is looked up to be enriched."""
        found: Sequence[str] = self.checkpoint.get("gaps", ())
        return found

    def add(
        self, variant: str, scored: Sequence[ScoredCandidate], limits: Thresholds, ms: float
    ) -> None:
        """Take what a search in the catalog returned into account, and record the search."""
        # A source lists a product once: its other products are other ones.
        own_source = self.checkpoint.get("own", {}).get("source")
        scored = [one for one in scored if one.candidate.source != own_source]
        own = judge(scored, limits)
        self.scored += scored
        self.verdict = judge(self.scored, limits)
        self.events.append(
            RecordSearch(
                CATALOG, variant, self.queries[variant], own.outcome, round(ms, 3),
                own.best.score if own.best else None, len(own.ranked), self.item.attempts,
            )
        )  # fmt: skip

    def wanted_by_name(self) -> WantedProduct:
        """What offers of sources are compared with; of a picture, its first code."""
        names = self.names
        if not self.is_picture or not (names.gtins or names.skus):
            return self.wanted
        return WantedProduct(
            gtin=names.gtins[0] if names.gtins else None,
            sku=names.skus[0] if names.skus else None,
        )

    def failed_sources(self) -> list[str]:
        """Sources whose last search of this try failed."""
        now = [one for one in self.past if one.attempt == self.item.attempts]
        return sorted({one.provider for one in now if one.outcome == "failed"})

    def reason(self) -> str | None:
        """Why a picture was not found."""
        if not self.is_picture:
            return None
        if self.names.gtins or self.names.skus:
            codes = ", ".join(text for _, text in self.checkpoint[CODES])
            return f"The catalog has no product with the code {codes}."
        return "No barcode could be read, and no picture of the catalog looks alike."


def begin(item: Item, past: Sequence[PastSearch]) -> ItemSearch:
    known = item.normalized or {}
    if NAMES in known:
        return _begin_picture(item, known, past)
    wanted = WantedProduct.of_json(known[WANTED])
    queries = queries_of(wanted)
    keys = {name: [text] for name, text in queries.items()}
    if wanted.maker is not None:
        keys["mpnBrand"] = [wanted.maker]
    return ItemSearch(item, queries, keys, wanted, past=past)


def _begin_picture(item: Item, known: Mapping[str, Any], past: Sequence[PastSearch]) -> ItemSearch:
    names = PictureNames.of_json(known[NAMES])
    keys = {"gtin": names.gtins, "sku": names.skus}
    queries = {name: ", ".join(some) for name, some in keys.items() if some}
    hashes = tuple(known[HASHES]) if HASHES in known else None
    if hashes is not None:
        queries["image"] = hashes[0]
    queries["fileName"] = item.input["file"]
    return ItemSearch(item, queries, keys, names=names, hashes=hashes, past=past)


async def search_by(
    variant: str, asked: Mapping[int, ItemSearch], org_id: int, source: str | None,
    catalog: CatalogSearch,
) -> Scored:  # fmt: skip
    """What the catalog has for these items by one variant, with scores."""
    match variant:
        case "image":
            return await _by_image(asked, org_id, source, catalog)
        case "fileName":
            return await _by_file_name(asked, org_id, source, catalog)
        case "brandTitle" | "title":
            found = await _by_words(asked, org_id, source, catalog)
        case _:
            keys = {place: one.keys[variant] for place, one in asked.items()}
            found = await catalog.by_key(org_id, variant, _queries(keys), source)
    return {
        place: [ScoredCandidate(one, score(asked[place].wanted, one, variant), variant)
                for one in some]
        for place, some in found.items()
    }  # fmt: skip


def _queries(keys: Mapping[int, Sequence[str]]) -> list[SearchQuery]:
    return [SearchQuery(place, text) for place, some in keys.items() for text in some]


async def _by_words(
    asked: Mapping[int, ItemSearch], org_id: int, source: str | None, catalog: CatalogSearch
) -> Mapping[int, Sequence[CatalogCandidate]]:
    """By all words of the title; where no title has them all, by fewer."""
    words = {
        place: strict_words(one.wanted.title or one.names.file_title)
        for place, one in asked.items()
    }
    strict = {place: [" ".join(some)] for place, some in words.items() if some}
    found = dict(await catalog.by_words(org_id, _queries(strict), source))
    fewer = {
        place: [" ".join(some) for some in relaxed_words(all_words)]
        for place, all_words in words.items()
        if place not in found
    }
    found |= await catalog.by_words(org_id, _queries(fewer), source)
    return found


async def _by_image(
    asked: Mapping[int, ItemSearch], org_id: int, source: str | None, catalog: CatalogSearch
) -> Scored:
    queries = [ImageQuery(place, *one.hashes) for place, one in asked.items() if one.hashes]
    found = await catalog.by_image(org_id, queries, source)
    return {
        place: [ScoredCandidate(one, image_score(one.distance or 0), "image") for one in some]
        for place, some in found.items()
    }


async def _by_file_name(
    asked: Mapping[int, ItemSearch], org_id: int, source: str | None, catalog: CatalogSearch
) -> Scored:
    gtins = {place: one.names.file_gtins for place, one in asked.items()}
    skus = {place: one.names.file_skus for place, one in asked.items()}
    found = {
        "gtin": await catalog.by_key(org_id, "gtin", _queries(gtins), source),
        "sku": await catalog.by_key(org_id, "sku", _queries(skus), source),
        "title": await _by_words(asked, org_id, source, catalog),
    }
    scored: dict[int, list[ScoredCandidate]] = {}
    for kind, by_place in found.items():
        for place, some in by_place.items():
            title = asked[place].names.file_title
            scored.setdefault(place, []).extend(
                ScoredCandidate(one, file_name_score(kind, title, one), "fileName") for one in some
            )
    return scored
