"""Rows to products: extract each one, match them with each other and the catalog, apply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from penstock.catalog.dedupe import Change, completeness, diff, key_of
from penstock.catalog.grid import MATCH, flatten, merged, shown_name
from penstock.catalog.gtin import match_key
from penstock.catalog.normalise import normalise
from penstock.catalog.plan import Plan
from penstock.catalog.row import NormalisedRow, RowProblem
from penstock.catalog.validate import Validator
from penstock.catalog.variants import Member, group
from penstock.model.effects import LONGEST_NAME, Effect, NameRow, UpsertProduct
from penstock.model.errors import ItemError
from penstock.model.outcomes import Advance, Done, Fail, Outcome, Skip
from penstock.model.pipeline import Item, Job
from penstock.model.ports import Context, KnownProduct
from penstock.pipelines.product_plan import plan_of, profile_of

_MOST_CHANGES = 50
_MOST_PROBLEMS = 50
DEFAULT_SOURCE = "file"
GROUP = "variants.group"
# Rows of one product; more are no variants but a column that means something else.
MOST_VARIANTS = 1000
_CROWDED = 0
# What is missing beside a price: the price itself is as it should be.
_MISSING = {"CURRENCY_MISSING": "price.currency", "RATE_MISSING": "price.base.amount"}


def extract(batch: Sequence[Item]) -> Sequence[Outcome]:
    """Map, clean, normalise and validate. Runs in a child process."""
    jobs = {item.job.id: item.job for item in batch}
    compiled = {job_id: plan_of(job) for job_id, job in jobs.items()}
    return [_extracted(item, *compiled[item.job.id]) for item in batch]


def _extracted(item: Item, plan: Plan, validator: Validator) -> Outcome:
    row = normalise(plan, item.input)
    verdict = validator.check(row, item.input)
    product = row.product
    if product:
        source = plan.profile.source or DEFAULT_SOURCE
        product["source"] = source
        if "sourceId" in product:
            product["id"] = f"{source}:{product['sourceId']}"
    result = flatten(product, item.job.context["columns"])
    problems = [_told(one) for one in row.problems[:_MOST_PROBLEMS]]
    if item.noticed:
        problems += _still_unsaid(item.noticed, problems)
    kept: dict[str, Any] = {"product": product, "lineage": row.lineage, "problems": problems}
    if row.group is not None:
        kept["group"] = {"name": row.group, "continues": row.continues}
    seen = _seen(row) if item.job.config.missing else []
    if verdict == "valid":
        return Advance(kept, result, effects=_names(row, plan, seen))
    # Said even if it is nothing: a row that was put right, or worse, no longer has its old names.
    effects = [NameRow(seen)]
    first = next((one for one in row.problems if one.severity == "error"), row.problems[0])
    if verdict == "discarded":
        return Skip(first.message, result, code=first.code, normalized=kept, effects=effects)
    error = ItemError(first.code, first.message, first.column, first.value)
    return Fail(error, result, kept, effects=effects)


def _told(problem: RowProblem) -> dict[str, object]:
    """With the column of the grid it is about, beside the supplier's."""
    shown, field = problem.as_json(), shown_name(_MISSING.get(problem.code, problem.target))
    return shown if field is None else shown | {"field": field}


def _still_unsaid(
    noticed: Sequence[Mapping[str, Any]], problems: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """What the reader saw and the cells themselves do not tell as well, or better."""
    said = {one["code"] for one in problems}
    if "ROW_TOO_LONG" in said:
        said.add("RAGGED_ROW")
    return [dict(one) for one in noticed if one["code"] not in said]


def _seen(row: NormalisedRow) -> list[str]:
    """By which a product of the catalog is known to be in the file, whatever became of the row."""
    product = row.product
    names = product.get("identifiers", {})
    found = [("id", product.get("sourceId")), ("sku", names.get("sku"))]
    if "gtin" in names:
        found.append(("gtin", match_key(names["gtin"])))
    keys = [f"seen:{kind}:{name}"[:LONGEST_NAME] for kind, name in found if name]
    if row.continues:
        keys.append("seen:part")
    return keys


def source_of(job: Job) -> str:
    return profile_of(job).source or DEFAULT_SOURCE


def _names(row: NormalisedRow, plan: Plan, seen: Sequence[str]) -> list[Effect]:
    """By which other rows find this one: as the same product, or as part or parent of theirs."""
    profile = plan.profile
    keys = []
    key = key_of(row.product, profile.key)
    if key is not None and not row.continues:
        keys.append(f"{profile.key}:{key}")
    if row.group is not None:
        keys.append(f"group:{row.group}")
    elif GROUP in plan.targets:
        keys += [f"parent:{name}" for name in _own_names(row.product)]
    named = list(dict.fromkeys((*(one[:LONGEST_NAME] for one in keys), *seen)))
    return [NameRow(named, completeness(row.product))]


def _own_names(product: Mapping[str, Any]) -> list[str]:
    """What variants may call their parent."""
    names = (product.get("identifiers", {}).get("sku"), product.get("sourceId"))
    return list(dict.fromkeys(name for name in names if name))


async def match(batch: Sequence[Item], ctx: Context) -> Sequence[Outcome | None]:
    """Which rows mean the same product, and whether the catalog has it."""
    outcomes: dict[int, Outcome] = {}
    by_job: dict[UUID, list[tuple[int, Item]]] = {}
    for place, item in enumerate(batch):
        by_job.setdefault(item.job.id, []).append((place, item))
    for members in by_job.values():
        job = members[0][1].job
        products, parents = await _with_variants(job, [item for _, item in members], ctx)
        losers = await _duplicates(job, products, ctx)
        kept = {row: product for row, product in products.items() if row not in losers}
        known = await known_products(job, list(kept.values()), ctx)
        for place, item in members:
            outcomes[place] = (
                _part(item, parents[item.row_no])
                if item.row_no in parents
                else _matched(item, products[item.row_no], losers.get(item.row_no), known)
            )
    return [outcomes[place] for place in range(len(batch))]


def _part(item: Item, parent: int) -> Outcome:
    result = flatten((item.normalized or {})["product"], item.job.context["columns"])
    if parent == _CROWDED:
        why = f"More than {MOST_VARIANTS:,} rows name the same parent: map that column otherwise"
        return Fail(ItemError("GROUP_TOO_LARGE", why), result, item.normalized)
    why = f"Part of the product in row {parent}"
    return Skip(why, result | {MATCH: "part"}, code="PART_OF_PRODUCT")


def _matched(item: Item, product: Mapping[str, Any], kept: int | None, known: Known) -> Outcome:
    result = flatten(product, item.job.context["columns"])
    if kept is not None:
        why = f"The same product as in row {kept}, which is kept"
        return Skip(why, result | {MATCH: "duplicate"}, code="DUPLICATE_IN_FILE")
    state, changes, existing = compared(item.job, product, known)
    normalized = _with_match(item.normalized or {}, product, state, changes, existing)
    result[MATCH] = state
    if item.job.config.intent == "check":
        return Done(result, normalized)
    return Advance(normalized, result)


def _with_match(
    normalized: Mapping[str, Any], product: Mapping[str, Any], state: str,
    changes: Sequence[Mapping[str, Any]], existing: KnownProduct | None,
) -> dict[str, Any] | None:  # fmt: skip
    """What is known of a row now; None where that is what was known before. A new one's result says
    all there is to say, and its document need not be written again."""
    if existing is not None:
        told = {"state": state, "productId": str(existing.id), "changes": list(changes)}
        return {**normalized, "product": product, MATCH: told}
    if product is normalized.get("product") and MATCH not in normalized:
        return None
    return {name: one for name, one in normalized.items() if name != MATCH} | {"product": product}


def compared(
    job: Job, product: Mapping[str, Any], known: Known
) -> tuple[str, list[dict[str, Any]], KnownProduct | None]:
    """New, changed or unchanged, in which fields, and which product of the catalog it is."""
    existing = known.of(product)
    before = None if existing is None else existing.data
    state, changes = diff(before, product, blanks_count=job.config.intent == "replace")
    if existing is not None and not existing.published and job.config.missing == "unpublish":
        # It was missing once, and is back.
        state, changes = "changed", [*changes, Change("published", False, True)]
    return state, [change._asdict() for change in changes[:_MOST_CHANGES]], existing


async def _with_variants(
    job: Job, items: Sequence[Item], ctx: Context
) -> tuple[dict[int, Any], dict[int, int]]:
    """The product of each row; and of rows that only add to another one's product, that one."""
    alone = {item.row_no: dict(item.normalized) for item in items if item.normalized}
    if GROUP not in plan_of(job)[0].targets:
        return {row: one["product"] for row, one in alone.items()}, {}
    families = {
        name
        for one in alone.values()
        for name in ([one["group"]["name"]] if "group" in one else _own_names(one["product"]))
    }
    keys = [f"{kind}:{name}"[:LONGEST_NAME] for name in families for kind in ("group", "parent")]
    named = await ctx.catalog.rows_named(job.id, keys, MOST_VARIANTS)
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


async def _duplicates(job: Job, products: Mapping[int, Any], ctx: Context) -> dict[int, int]:
    """Rows that lose to another one of the same key, with the row that is kept."""
    profile = profile_of(job)
    keys = {row: key_of(product, profile.key) for row, product in products.items()}
    wanted = sorted(
        {f"{profile.key}:{key}"[:LONGEST_NAME] for key in keys.values() if key is not None}
    )
    kept = await ctx.catalog.row_to_keep(job.id, wanted, profile.winner)
    losers = {}
    for row, key in keys.items():
        winner = kept.get(f"{profile.key}:{key}"[:LONGEST_NAME], row)
        if key is not None and winner != row:
            losers[row] = winner
    return losers


class Known:
    """Products of the catalog, found by source id, then by SKU, then by GTIN."""

    def __init__(self, source: str, found: Sequence[KnownProduct]) -> None:
        self._by_id = {one.source_id: one for one in found if one.source == source}
        self._by_sku = {one.sku: one for one in found}
        self._by_gtin = {one.gtin: one for one in found}

    def of(self, product: Mapping[str, Any]) -> KnownProduct | None:
        names = product.get("identifiers", {})
        gtin = names.get("gtin")
        found = self._by_id.get(product.get("sourceId", ""))
        if found is None and "sku" in names:
            found = self._by_sku.get(names["sku"])
        if found is None and gtin is not None:
            found = self._by_gtin.get(match_key(gtin))
        return found


async def known_products(job: Job, products: Sequence[Mapping[str, Any]], ctx: Context) -> Known:
    source = source_of(job)
    names = [product.get("identifiers", {}) for product in products]
    found = await ctx.catalog.find(
        job.org_id,
        source,
        [product["sourceId"] for product in products if "sourceId" in product],
        [one["sku"] for one in names if "sku" in one],
        [match_key(one["gtin"]) for one in names if "gtin" in one],
    )
    return Known(source, found)


async def apply(batch: Sequence[Item], ctx: Context) -> Sequence[Outcome | None]:
    """Write what the intent allows, over the catalog as it is now."""
    outcomes: dict[int, Outcome] = {}
    by_job: dict[UUID, list[tuple[int, Item]]] = {}
    for place, item in enumerate(batch):
        by_job.setdefault(item.job.id, []).append((place, item))
    for members in by_job.values():
        job = members[0][1].job
        known = await known_products(
            job, [(item.normalized or {})["product"] for _, item in members], ctx
        )
        for place, item in members:
            outcomes[place] = _applied(item, known)
    return [outcomes[place] for place in range(len(batch))]


def _applied(item: Item, known: Known) -> Outcome:
    intent = item.job.config.intent
    before = item.normalized or {}
    product = before["product"]
    state, changes, existing = compared(item.job, product, known)
    result = flatten(product, item.job.context["columns"]) | {MATCH: state}
    normalized = _with_match(before, product, state, changes, existing)
    if existing is None and intent == "update":
        return Skip("The catalog does not have this product", result, code="NOT_IN_CATALOG")
    if existing is not None and intent in ("create", "ignoreExisting"):
        return Skip("The catalog has this product already", result, code="EXISTS_ALREADY")
    if state == "unchanged":
        return Done(result, normalized)
    if "sourceId" not in product and existing is None:
        message = "Nothing to know the product by: it needs an id, a SKU, a GTIN or an MPN"
        return Fail(ItemError("REQUIRED_MISSING", message, "sourceId"), result, normalized)
    return Done(result, normalized, effects=[_upsert(item, product, before["lineage"], existing)])


def _upsert(
    item: Item, product: Mapping[str, Any], lineage: Mapping[str, Any],
    existing: KnownProduct | None,
) -> UpsertProduct:  # fmt: skip
    data: Mapping[str, Any] = product
    if existing is not None:
        data = {**product, "id": existing.data.get("id"), "source": existing.source,
                "sourceId": existing.source_id}  # fmt: skip
        if item.job.config.intent != "replace":
            data = merged(existing.data, data)
    names = data.get("identifiers", {})
    gtin = names.get("gtin")
    return UpsertProduct(
        source=existing.source if existing else product["source"],
        source_id=existing.source_id if existing else product["sourceId"],
        data=data,
        lineage=lineage,
        sku=names.get("sku"),
        gtin=None if gtin is None else match_key(gtin),
        seen_version=existing.version if existing else None,
        whole=item.job.config.intent == "replace",
    )
