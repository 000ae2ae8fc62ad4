"""Products of a file: which rows mean the same one, whether the catalog has it, what is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from penstock.catalog.products.duplicates import same_key
from penstock.catalog.products.grid import MATCH, flatten
from penstock.catalog.products.matching import Names, names_of
from penstock.catalog.products.variants import Member, group
from penstock.model.effects import MAX_NAME_LENGTH, UpsertProduct
from penstock.model.errors import ItemError
from penstock.model.outcomes import Added, Advance, Done, Fail, Outcome, Skip
from penstock.model.pipeline import Item, Job
from penstock.model.ports import Context
from penstock.model.text.json_text import from_json
from penstock.pipelines.extraction.plan import plan_of, profile_of
from penstock.pipelines.extraction.rows import GROUP, own_names
from penstock.pipelines.extraction.verdict import (
    Judged,
    find_candidates,
    judge,
    source_of,
    written_over,
)

# Rows of one product; more are no variants but a column that means something else.
MAX_VARIANTS = 1000
_CROWDED = 0
UNNAMED = "Nothing to know the product by: it needs an id, a SKU, a GTIN or an MPN"


async def match(batch: Sequence[Item], ctx: Context) -> Sequence[Outcome | None]:
    """Which rows mean the same product, and whether the catalog has it."""
    outcomes: dict[int, Outcome] = {}
    for job, members in _by_job(batch):
        items = [item for _, item in members]
        grouped = GROUP in plan_of(job)[0].targets
        judge = _match_families if grouped else _match_rows
        found = await judge(job, items, ctx)
        outcomes |= {place: found[item.row_no] for place, item in members}
    return [outcomes[place] for place in range(len(batch))]


def _by_job(batch: Sequence[Item]) -> list[tuple[Job, list[tuple[int, Item]]]]:
    by_job: dict[UUID, list[tuple[int, Item]]] = {}
    for place, item in enumerate(batch):
        by_job.setdefault(item.job.id, []).append((place, item))
    return [(members[0][1].job, members) for members in by_job.values()]


async def _match_rows(job: Job, items: Sequence[Item], ctx: Context) -> dict[int, Outcome]:
    """Each row is a product. What its checkpoint holds in brief says enough, unless the catalog has
    the product."""
    documents = _AtHand(job, items, ctx)
    names = await _names(items, documents)
    waited = {item.row_no: names[item.row_no] for item in items if item.passed_on is None}
    losers = await _duplicates(job, waited, ctx) if waited else {}
    kept = {row: one for row, one in names.items() if row not in losers}
    judged = await _judged(job, kept, documents, ctx)
    return {
        item.row_no: _duplicate(losers[item.row_no])
        if item.row_no in losers
        else _passed(job, judged[item.row_no], judged[item.row_no].shown())
        for item in items
    }


class _AtHand:
    """What the first stage made of rows: as it has just said, or as it was stored. Each is read
    only when someone asks for it."""

    def __init__(self, job: Job, items: Sequence[Item], ctx: Context) -> None:
        self._job = job
        self._ctx = ctx
        self._said: dict[int, Any] = {
            item.row_no: item.normalized for item in items if item.passed_on is not None
        }
        self.read: dict[int, Mapping[str, Any]] = {}

    async def need(self, rows: Sequence[int]) -> None:
        unread = [row for row in rows if row not in self.read]
        stored = [row for row in unread if row not in self._said]
        self.read |= {row: from_json(self._said[row]) for row in unread if row in self._said}
        if stored:
            self.read |= await self._ctx.catalog.documents(self._job.id, stored)


async def _names(items: Sequence[Item], documents: _AtHand) -> dict[int, Names]:
    """By which rows are known; of those that do not say it in brief, by their documents."""
    await documents.need([i.row_no for i in items if i.passed_on is None and i.normalized is None])
    names = {}
    for item in items:
        if item.passed_on is not None:
            names[item.row_no] = item.passed_on
        elif item.normalized is None:
            names[item.row_no] = names_of(documents.read[item.row_no]["product"])
        else:
            names[item.row_no] = Names(**item.normalized)
    return names


async def _judged(
    job: Job, names: Mapping[int, Names], documents: _AtHand, ctx: Context
) -> dict[int, Judged]:
    """Against the catalog as it is now. Documents are read where there is something to compare, or
    a link to note."""
    candidates = await find_candidates(job, list(names.values()), ctx)
    matches = {row: candidates.match(one) for row, one in names.items()}
    links = {row: candidates.links(one, matches[row]) for row, one in names.items()}
    await documents.need([row for row in names if matches[row].product or links[row]])
    judged = {}
    for row, one in names.items():
        document = documents.read.get(row)
        if document is None:
            judged[row] = Judged(one)
        else:
            judged[row] = judge(job, one, matches[row], links[row], document)
    return judged


def _duplicate(kept: int, result: Mapping[str, Any] | None = None) -> Outcome:
    shown = {MATCH: "duplicate"}
    why = f"The same product as in row {kept}, which is kept"
    return Skip(why, Added(shown) if result is None else {**result, **shown},
                code="DUPLICATE_IN_FILE")  # fmt: skip


def _passed(job: Job, judged: Judged, result: Any) -> Outcome:
    if job.config.intent == "check":
        return Done(result, judged.normalized())
    return Advance(judged.normalized(), result, pass_on=judged)


async def _match_families(job: Job, items: Sequence[Item], ctx: Context) -> dict[int, Outcome]:
    """Rows may be parts of one product: the first of a family stands for it."""
    columns = job.context["columns"]
    alone = dict(await ctx.catalog.documents(job.id, [item.row_no for item in items]))
    products, parents = await _with_variants(job, alone, ctx)
    names = {row: names_of(product) for row, product in products.items()}
    losers = await _duplicates(job, names, ctx)
    documents = _AtHand(job, (), ctx)
    documents.read = {row: {**alone[row], "product": one} for row, one in products.items()}
    kept = {row: one for row, one in names.items() if row not in losers}
    judged = await _judged(job, kept, documents, ctx)
    for row, one in judged.items():
        as_before = products[row] is alone[row]["product"] and MATCH not in alone[row]
        if one.existing is None and not one.links and as_before:
            judged[row] = Judged(one.names)
    outcomes: dict[int, Outcome] = {}
    for item in items:
        row = item.row_no
        if row in parents:
            outcomes[row] = _part(alone[row], parents[row], columns)
            continue
        result = flatten(products[row], columns)
        outcomes[row] = (
            _duplicate(losers[row], result)
            if row in losers
            else _passed(job, judged[row], {**result, **judged[row].shown().cells})
        )
    return outcomes


def _part(document: Mapping[str, Any], parent: int, columns: Sequence[str]) -> Outcome:
    result = flatten(document["product"], columns)
    if parent == _CROWDED:
        why = f"More than {MAX_VARIANTS:,} rows name the same parent: map that column otherwise"
        return Fail(ItemError("GROUP_TOO_LARGE", why), result)
    why = f"Part of the product in row {parent}"
    return Skip(why, result | {MATCH: "part"}, code="PART_OF_PRODUCT")


async def _with_variants(
    job: Job, alone: Mapping[int, Mapping[str, Any]], ctx: Context
) -> tuple[dict[int, Any], dict[int, int]]:
    """The product of each row; and of rows that only add to another one's product, that one."""
    families = {
        name
        for one in alone.values()
        for name in ([one["group"]["name"]] if "group" in one else own_names(one["product"]))
    }
    keys = [f"{kind}:{name}"[:MAX_NAME_LENGTH] for name in families for kind in ("group", "parent")]
    named = await ctx.catalog.rows_named(job.id, keys, MAX_VARIANTS)
    rows = {row for members in named.values() for row in members}
    # Rows of the same family may be in other slices: their documents are read, not changed.
    others = await ctx.catalog.documents(job.id, sorted(rows - set(alone)))
    documents = {**others, **alone}
    members = [
        Member(row, one["product"], one.get("group", {}).get("name"),
               one.get("group", {}).get("continues", False))
        for row, one in sorted(documents.items())
    ]  # fmt: skip
    products: dict[int, Any] = {}
    parents: dict[int, int] = {}
    for grouped in group(members):
        parent = grouped.rows[0]
        if parent in alone:
            products[parent] = grouped.product
        for row in grouped.rows[1:]:
            if row in alone:
                parents[row] = parent if row in rows else _CROWDED
    return products, parents


async def _duplicates(job: Job, names: Mapping[int, Names], ctx: Context) -> dict[int, int]:
    """Rows that lose to another one of the same key, with the row that is kept."""
    profile = profile_of(job)
    keyed = {row: same_key(one.by(profile.key), profile.key) for row, one in names.items()}
    keys = {row: f"{profile.key}:{key}"[:MAX_NAME_LENGTH] for row, key in keyed.items() if key}
    kept = await ctx.catalog.row_to_keep(job.id, sorted(set(keys.values())), profile.winner)
    return {row: kept[key] for row, key in keys.items() if kept.get(key, row) != row}


async def apply(batch: Sequence[Item], ctx: Context) -> Sequence[Outcome | None]:
    """Write what the intent allows, over the catalog as the match has just seen it; rows that had
    to wait since are compared anew."""
    outcomes: dict[int, Outcome] = {}
    for job, members in _by_job(batch):
        waited = [item for _, item in members if item.passed_on is None]
        judged: dict[int, Judged] = {}
        if waited:
            documents = _AtHand(job, waited, ctx)
            names = await _names(waited, documents)
            judged = await _judged(job, names, documents, ctx)
        source = source_of(job)
        for place, item in members:
            known = item.passed_on or judged[item.row_no]
            # What the match has just said is shown already.
            shown = known.shown() if item.passed_on is None else Added({})
            outcomes[place] = _applied(job, source, known, shown)
    return [outcomes[place] for place in range(len(batch))]


def _applied(job: Job, source: str, judged: Judged, result: Added) -> Outcome:
    intent, existing = job.config.intent, judged.existing
    normalized = judged.normalized()
    if existing is None and intent == "update":
        return Skip("The catalog does not have this product", result, code="NOT_IN_CATALOG")
    if existing is not None and intent in ("create", "ignoreExisting"):
        return Skip("The catalog has this product already", result, code="EXISTS_ALREADY")
    if judged.state == "unchanged":
        return Done(result, normalized)
    if judged.held is not None:
        held = judged.held
        return Skip(held.message, result, held.code, normalized, held.column, {**held.details})
    if judged.names.id is None and existing is None:
        return Fail(ItemError("REQUIRED_MISSING", UNNAMED, "sourceId"), result, normalized)
    return Done(result, normalized, effects=[_upsert(job, source, judged)])


def _upsert(job: Job, source: str, judged: Judged) -> UpsertProduct:
    existing, document = judged.existing, judged.document
    if document is None:
        names = judged.names
        assert names.id is not None
        return UpsertProduct(source, names.id, None, sku=names.sku, gtin=names.gtin)
    data: Mapping[str, Any] = document["product"]
    if existing is not None:
        data = written_over(job, existing, data)
    names = names_of(data)
    return UpsertProduct(
        source=existing.source if existing else data["source"],
        source_id=existing.source_id if existing else data["sourceId"],
        data=data,
        lineage=document["lineage"],
        sku=names.sku,
        gtin=names.gtin,
        seen_version=existing.version if existing else None,
        whole=job.config.intent == "replace",
    )
