"""The stage `extract`: map, clean, normalise and validate each row by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.catalog.products.comparison import completeness, same_key
from penstock.catalog.products.grid import flatten, shown_name
from penstock.catalog.products.matching import Identifiers, identifiers_of
from penstock.catalog.products.normalise import normalise
from penstock.catalog.products.plan import Plan
from penstock.catalog.products.row import NormalisedRow, RowProblem
from penstock.catalog.products.validate import Validator
from penstock.catalog.products.variants import listed_skus
from penstock.formats.structure.layout import is_sum
from penstock.model.effects import MAX_NAME_LENGTH, NameRow
from penstock.model.errors import ItemError
from penstock.model.outcomes import Advance, Fail, Outcome, Skip
from penstock.model.pipeline import Item
from penstock.pipelines.extraction.continued_rows import continues_rows
from penstock.pipelines.extraction.headings import count_filled, heading_of
from penstock.pipelines.extraction.plan import DEFAULT_SOURCE, plan_of

_MAX_PROBLEMS = 50
# The part of a row's checkpoint that the next stages always need.
BRIEF = "brief"
# Columns by which rows are variants of one product.
GROUPS = frozenset(("variants.group", "variants.listed"))
# In rows with at least so many cells, a single text is a heading.
MIN_ROW_CELLS = 4
# Problems reported at the price that concern another field.
_MISSING = {"CURRENCY_MISSING": "price.currency", "RATE_MISSING": "price.base.amount"}


def extract(batch: Sequence[Item]) -> Sequence[Outcome]:
    """Map, clean, normalise and validate. Runs in a child process."""
    jobs = {item.job.id: item.job for item in batch}
    compiled = {job_id: plan_of(job) for job_id, job in jobs.items()}
    return [extract_row(item, *compiled[item.job.id]) for item in batch]


def extract_row(item: Item, plan: Plan, validator: Validator) -> Outcome:
    row = normalise(plan, item.input)
    verdict = validator.check(row, item.input)
    product = row.product
    if product:
        source = plan.profile.source or DEFAULT_SOURCE
        product["source"] = source
        if "sourceId" in product:
            product["id"] = f"{source}:{product['sourceId']}"
    result = flatten(product, item.job.context["columns"])
    problems = [_problem_json(one) for one in row.problems[:_MAX_PROBLEMS]]
    if item.noticed:
        problems += _reader_problems(item.noticed, problems)
    kept: dict[str, Any] = {"product": product, "lineage": row.lineage, "problems": problems}
    if row.group is not None:
        kept["group"] = {"name": row.group, "continues": row.continues}
    names = identifiers_of(product)
    seen: list[str] = []
    if item.job.config.missing:
        seen = [*seen_names(names), *(["seen:part"] if row.continues else [])]
    if verdict == "valid":
        kept[BRIEF] = names.brief()
        return Advance(kept, result, effects=(_name_row(row, names, plan, seen),))
    # Written even if empty, to replace the names of an earlier run.
    effects = [NameRow(seen)]
    first = next((one for one in row.problems if one.severity == "error"), row.problems[0])
    between = _not_a_product(item.input, plan) if first.code == "REQUIRED_MISSING" else None
    if between is not None:
        told = kept | {"problems": []}
        code, why = between
        return Skip(why, result, code=code, normalized=told, effects=effects)
    if verdict == "discarded":
        return Skip(first.message, result, code=first.code, normalized=kept, effects=effects)
    error = ItemError(first.code, first.message, first.column, first.value)
    return Fail(error, result, kept, effects=effects)


def _not_a_product(cells: Sequence[str], plan: Plan) -> tuple[str, str] | None:
    """Code and reason for a row that is a heading, a total or part of a product."""
    if not count_filled(cells) and continues_rows(plan.header):
        return "PART_OF_PRODUCT", "Part of the product above"
    if is_heading(cells):
        return "HEADING", "A heading between the rows, no product"
    if is_sum(cells):
        return "TOTAL", "A total between the rows, no product"
    return None


def is_heading(cells: Sequence[str]) -> bool:
    """A row with a single text such as `Werkzeuge`."""
    return len(cells) >= MIN_ROW_CELLS and heading_of(cells) is not None


def _problem_json(problem: RowProblem) -> dict[str, object]:
    """The problem with the grid column it concerns, besides the supplier's column."""
    shown, field = problem.as_json(), shown_name(_MISSING.get(problem.code, problem.target))
    return shown if field is None else shown | {"field": field}


def _reader_problems(
    noticed: Sequence[Mapping[str, Any]], problems: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Problems found by the reader that the row's own problems do not cover."""
    said = {one["code"] for one in problems}
    if "ROW_TOO_LONG" in said:
        said.add("RAGGED_ROW")
    return [dict(one) for one in noticed if one["code"] not in said]


def seen_names(names: Identifiers) -> list[str]:
    """Names that show that a catalog product is in the file, even if the row is invalid."""
    known = (("id", names.id), ("sku", names.sku), ("gtin", names.gtin))
    return [f"seen:{kind}:{name}"[:MAX_NAME_LENGTH] for kind, name in known if name]


def _name_row(row: NormalisedRow, names: Identifiers, plan: Plan, seen: Sequence[str]) -> NameRow:
    """Names by which other rows find this one: as a duplicate, a variant or a parent."""
    profile = plan.profile
    keys = []
    key = same_key(names.by(profile.key), profile.key)
    if key is not None and not row.continues:
        keys.append(f"{profile.key}:{key}")
    if row.group is not None:
        keys.append(f"group:{row.group}")
    elif not GROUPS.isdisjoint(plan.targets):
        keys += [f"parent:{name}" for name in own_names(row.product)]
    named = list(dict.fromkeys((*(one[:MAX_NAME_LENGTH] for one in keys), *seen)))
    filled = completeness(row.product) if profile.winner == "most_complete" else 0
    return NameRow(named, filled)


def own_names(product: Mapping[str, Any]) -> list[str]:
    """Names by which variants may refer to this product as their parent, and the SKUs that it
    lists as its variants."""
    names = (
        product.get("identifiers", {}).get("sku"), product.get("sourceId"), *listed_skus(product)
    )  # fmt: skip
    return list(dict.fromkeys(name for name in names if name))
