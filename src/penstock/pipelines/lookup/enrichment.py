"""Enrichment: products of a job are looked up like rows, and what they lack becomes a proposal.

Nothing is written before a person accepts the proposal; then the product is written like any other
change of a job, with a before-image, so that it can be undone.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any
from uuid import UUID

from penstock.catalog.lookup.gaps import Proposal, filled, gaps_of, value_of
from penstock.catalog.lookup.queries import queries_of, wanted_of
from penstock.catalog.lookup.scoring import ScoredCandidate, same_product
from penstock.catalog.products.grid import MATCH
from penstock.catalog.products.matching import identifiers_of
from penstock.model.effects import RecordSearch, UpsertProduct
from penstock.model.errors import ItemError
from penstock.model.held_rows import ACCEPTED, PROPOSED
from penstock.model.lookup import CATALOG, CatalogProduct, CatalogSearch
from penstock.model.outcomes import AddedCells, Advance, Done, Fail, Outcome, Skip
from penstock.model.pipeline import Item, Job, Row, RowBatch
from penstock.model.ports import Context
from penstock.pipelines.lookup.rows import WANTED

PRODUCT_ID = "productId"
OWN, GAPS, PROPOSAL, ACCEPTED_FIELDS = "own", "gaps", "proposal", "acceptedFields"
REFUSED, FILLED_ALREADY, NO_GAPS = "PROPOSAL_REFUSED", "FILLED_ALREADY", "NO_GAPS"
COLUMNS = (
    *(PRODUCT_ID, "source", "sourceId", "sku", "title", MATCH, "confidence", "provider"),
    *("missing", "proposed", "tried"),
)
_RULE = "enrichment"
_MAX_SHOWN = 300


async def product_batches(
    job: Job, ctx: Context, cursor: Mapping[str, Any] | None
) -> AsyncGenerator[RowBatch, None]:
    """An item for each product of the other job that lacks one of the fields."""
    enrich, catalog = job.config.enrich, ctx.port(CatalogSearch)
    after = UUID(cursor["after"]) if cursor else None
    while True:
        most = ctx.batch_rows
        found = await catalog.written_by(job.org_id, enrich.job_id, after, most)
        after = found[-1].id if found else after
        rows = [
            Row({PRODUCT_ID: str(one.id), "title": one.data.get("title"), "sku": one.sku},
                f"product:{one.id}")
            for one in found
            if gaps_of(one.data, enrich.fields)
        ]  # fmt: skip
        yield RowBatch(rows, {"after": str(after or UUID(int=0)), "products": True})
        if len(found) < most:
            return


async def read_products(batch: Sequence[Item], ctx: Context) -> Sequence[Outcome | None]:
    """What each product lacks, and what it can be looked up by."""
    if not batch:
        return ()
    job = batch[0].job
    ids = [UUID(item.input[PRODUCT_ID]) for item in batch]
    products = await ctx.port(CatalogSearch).whole_products(job.org_id, ids)
    return [_read(item, products.get(place)) for item, place in zip(batch, ids, strict=True)]


def _read(item: Item, product: CatalogProduct | None) -> Outcome:
    if product is None:
        return Fail(ItemError("RESOURCE_NOT_FOUND", "The product was deleted"))
    gaps = gaps_of(product.data, item.job.config.enrich.fields)
    cells = {
        PRODUCT_ID: str(product.id), "source": product.source, "sourceId": product.source_id,
        "sku": product.sku, "title": product.data.get("title"), "missing": ", ".join(gaps),
    }  # fmt: skip
    shown = {name: value for name, value in cells.items() if value}
    wanted = wanted_of(product.data)
    if not gaps:
        return Skip("The product lacks none of the fields", shown, NO_GAPS)
    if not queries_of(wanted):
        return Fail(ItemError("NOTHING_TO_LOOK_UP", "The product has nothing to look it up by"))
    own = {"id": str(product.id), "source": product.source}
    return Advance({WANTED: wanted.as_json(), OWN: own, GAPS: gaps}, shown)


def proposals_of(
    gaps: Sequence[str], ranked: Sequence[ScoredCandidate],
    products: Mapping[UUID, Mapping[str, Any]], providers: Mapping[UUID, str],
) -> list[Proposal]:  # fmt: skip
    """Values for the gaps, from the match and from other offers of the same product."""
    found: dict[str, Proposal] = {}
    for one in same_product(ranked):
        product = products.get(one.candidate.id)
        for field in gaps if product is not None else ():
            value = value_of(product or {}, field)
            if value is not None and field not in found:
                provider = providers.get(one.candidate.id, CATALOG)
                origin = f"{one.candidate.source}:{one.candidate.source_id}"
                found[field] = Proposal(field, value, origin, provider, one.score)
    return [found[field] for field in gaps if field in found]


def proposed_outcome(
    checkpoint: Mapping[str, Any], proposals: Sequence[Proposal], effects: Sequence[RecordSearch]
) -> Outcome:
    told = [one.as_json() for one in proposals]
    cells = {
        MATCH: "proposed",
        "confidence": min(one.confidence for one in proposals),
        "provider": ", ".join(dict.fromkeys(one.provider for one in proposals)),
        "proposed": "; ".join(f"{one.field}: {_short(one.value)}" for one in proposals),
    }
    fields = ", ".join(one.field for one in proposals)
    return Skip(
        f"{fields} can be filled. Accept or refuse it.", AddedCells(cells), PROPOSED,
        {**checkpoint, PROPOSAL: told}, details={"changes": told}, effects=effects,
    )  # fmt: skip


def _short(value: Any) -> str:
    if isinstance(value, list):
        value = " ".join(
            str(one.get("url", one) if isinstance(one, dict) else one) for one in value
        )
    text = " ".join(str(value).split())
    return text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 1] + "…"


def is_decided(item: Item) -> bool:
    """Whether a person has accepted or refused the proposal."""
    known = item.normalized or {}
    return PROPOSAL in known and ACCEPTED in known


def decided_outcome(item: Item, products: Mapping[UUID, CatalogProduct]) -> Outcome:
    """Write what was accepted into fields that the product still lacks."""
    known = item.normalized or {}
    product = products.get(UUID(known[OWN]["id"]))
    if product is None:
        return Fail(ItemError("RESOURCE_NOT_FOUND", "The product was deleted"))
    if not known[ACCEPTED]:
        return Skip("A person refused the proposal", AddedCells({MATCH: "refused"}), REFUSED)
    wanted = known.get(ACCEPTED_FIELDS)
    taken = [
        one
        for one in known[PROPOSAL]
        if (wanted is None or one["field"] in wanted)
        and value_of(product.data, one["field"]) is None
    ]
    if not taken:
        why = "The product has these values by now"
        return Skip(why, AddedCells({MATCH: "unchanged"}), FILLED_ALREADY)
    data = filled(product.data, {one["field"]: one["after"] for one in taken})
    names = identifiers_of(data)
    lineage = {
        one["field"]: (one["origin"], _short(one["after"]), _RULE, one["confidence"])
        for one in taken
    }
    write = UpsertProduct(
        product.source, product.source_id, data, lineage, names.sku, names.gtin,
        product.published, product.version,
    )  # fmt: skip
    cells = {MATCH: "enriched", "proposed": ", ".join(one["field"] for one in taken)}
    return Done(AddedCells(cells), {**known, "written": [one["field"] for one in taken]},
                effects=[write])  # fmt: skip


def own_product(item: Item) -> UUID | None:
    own = (item.normalized or {}).get(OWN)
    return None if own is None else UUID(own["id"])
