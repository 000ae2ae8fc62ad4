"""How a row's product compares with the catalog, and whether a person must look before it is
written. Pure: the stages and the preview judge alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from penstock.catalog.products.duplicates import Change, diff
from penstock.catalog.products.grid import LINKS, MATCH, merged
from penstock.catalog.products.matching import Candidates, Link, Match, Names
from penstock.catalog.products.price_guard import suspicious_change
from penstock.model.held_rows import ACCEPTED, GTIN_HELD, PRICE_HELD
from penstock.model.outcomes import Added
from penstock.model.pipeline import Job
from penstock.model.ports import Context
from penstock.model.products import KnownProduct
from penstock.pipelines.extraction.plan import DEFAULT_SOURCE, profile_of
from penstock.pipelines.extraction.rows import BRIEF

HELD = "held"
_MAX_CHANGES = 50
# Intents that leave a known product alone, so that nothing of it can be held back.
_WRITES_NEW_ONLY = frozenset(("create", "ignoreExisting"))


class Held(NamedTuple):
    """Why a row waits for a person."""

    code: str
    message: str
    # The supplier's column that the new value is from.
    column: str | None
    details: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        return {**self.details, "code": self.code, "message": self.message, "column": self.column}


class Judged(NamedTuple):
    """How a row's product compares with the catalog. ``document`` is None where the item's own
    checkpoint stands as it is: a product that is new and whole needs no second look."""

    names: Names
    state: str = "new"
    changes: Sequence[Mapping[str, Any]] = ()
    match: Match = Match()
    document: Mapping[str, Any] | None = None
    links: Sequence[Link] = ()
    held: Held | None = None

    @property
    def existing(self) -> KnownProduct | None:
        return self.match.product

    def shown(self) -> Added:
        cells: dict[str, Any] = {MATCH: self.state}
        if self.links:
            cells[LINKS] = len(self.links)
        elif self.document is not None and LINKS in (self.document.get(MATCH) or {}):
            # Those of an earlier run are no more.
            cells[LINKS] = None
        return Added(cells)

    def normalized(self) -> Mapping[str, Any] | None:
        """What is known of the row now; None where that is what was known before."""
        if self.document is None:
            return None
        # Without the brief, the next stage reads the whole document.
        kept = {name: one for name, one in self.document.items() if name not in (MATCH, BRIEF)}
        if self.existing is None and not self.links:
            return kept
        return {**kept, MATCH: self.match_json()}

    def match_json(self) -> dict[str, Any]:
        told: dict[str, Any] = {"state": self.state, "changes": list(self.changes)}
        if self.existing is not None:
            told |= {"productId": str(self.existing.id), "by": self.match.by}
        if self.links:
            told[LINKS] = [link.as_json() for link in self.links]
        if self.held is not None:
            told[HELD] = self.held.as_json()
        return told


def source_of(job: Job) -> str:
    return profile_of(job).source or DEFAULT_SOURCE


async def find_candidates(job: Job, names: Sequence[Names], ctx: Context) -> Candidates:
    """Two lookups for a batch: what its rows may mean, and what they may be linked to."""
    source = source_of(job)
    ids = [one.id for one in names if one.id is not None]
    skus = [one.sku for one in names if one.sku is not None]
    gtins = [one.gtin for one in names if one.gtin is not None]
    makers = [one.maker for one in names if one.maker is not None]
    found = await ctx.catalog.find(job.org_id, source, ids, skus, gtins)
    links = await ctx.catalog.link_candidates(job.org_id, source, gtins, makers)
    return Candidates(source, found.products, found.catalog_key, links)


def judge(
    job: Job, names: Names, match: Match, links: Sequence[Link], document: Mapping[str, Any]
) -> Judged:
    existing = match.product
    state, changes = compared(job, document["product"], existing)
    held = None
    if existing is not None and state == "changed":
        held = held_back(job, document, match, changes)
    shown = [change._asdict() for change in changes[:_MAX_CHANGES]]
    return Judged(names, HELD if held else state, shown, match, document, links, held)


def compared(
    job: Job, product: Mapping[str, Any], existing: KnownProduct | None
) -> tuple[str, list[Change]]:
    """New, changed or unchanged, and in which fields."""
    before = None if existing is None else existing.data
    state, changes = diff(before, product, blanks_count=job.config.intent == "replace")
    if existing is not None and not existing.published and job.config.missing == "unpublish":
        # It was missing once, and is back.
        return "changed", [*changes, Change("published", False, True)]
    return state, changes


def held_back(
    job: Job, document: Mapping[str, Any], match: Match, changes: Sequence[Change]
) -> Held | None:
    """What a person must confirm before the row is written; None: nothing."""
    existing, product = match.product, document["product"]
    if existing is None or document.get(ACCEPTED) or job.config.intent in _WRITES_NEW_ONLY:
        return None
    if match.contradicts:
        before = existing.data.get("identifiers", {}).get("gtin", existing.gtin)
        after = product["identifiers"]["gtin"]
        message = (
            f"The supplier's id {existing.source_id!r} had the GTIN {before} and now has {after}: "
            "it may be another product"
        )
        details = {"field": "identifiers.gtin", "before": before, "after": after}
        return Held(GTIN_HELD, message, _column(document, "identifiers.gtin"), details)
    if not any(change.field.startswith(("price.", "variants")) for change in changes):
        return None
    if existing.job_id == job.id:
        # A person corrects what this job wrote before: a cell was fixed, or the file mapped anew.
        return None
    limit = profile_of(job).price_guard
    change = suspicious_change(existing.data, written_over(job, existing, product), limit)
    if change is None:
        return None
    column = _column(document, change.field) or _column(document, "price.amount")
    return Held(PRICE_HELD, change.message(), column, change.as_json())


def written_over(job: Job, existing: KnownProduct, product: Mapping[str, Any]) -> Mapping[str, Any]:
    """What an existing product becomes. It keeps its id, source and source id."""
    data = {**product, "id": existing.data.get("id"), "source": existing.source,
            "sourceId": existing.source_id}  # fmt: skip
    return data if job.config.intent == "replace" else merged(existing.data, data)


def _column(document: Mapping[str, Any], field: str) -> str | None:
    """Of a value's lineage, the supplier's column."""
    kept = document.get("lineage", {}).get(field)
    if isinstance(kept, Mapping):
        kept = [kept.get("column")]
    return kept[0] if isinstance(kept, Sequence) and kept else None
