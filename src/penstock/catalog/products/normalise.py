"""Turn one row of cells into a product, with the lineage of each value and its problems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.catalog.products.assemble import assemble
from penstock.catalog.products.plan import Plan
from penstock.catalog.products.row import MAX_RAW_LENGTH, NormalisedRow, RowProblem, Source
from penstock.catalog.values.readers import read_custom
from penstock.catalog.values.result import problem


def normalise(plan: Plan, cells: Sequence[str]) -> NormalisedRow:
    """Never raises: a cell that cannot be read becomes a problem of the row."""
    product: dict[str, Any] = {}
    lineage: dict[str, Source] = {}
    row = NormalisedRow(product, lineage, [])
    parts: dict[str, Any] = {}
    have = len(cells)
    if have < plan.width:
        cells = (*cells, *("",) * (plan.width - have))
    sure = 0.0
    for column, header, target, section, name, read in plan.steps:
        raw = cells[column]
        if not raw:
            continue
        value, rule, confidence, wrong = read(raw)
        if wrong:
            row.add(header, raw, target, wrong)
        if value is None:
            continue
        shown = raw if len(raw) <= MAX_RAW_LENGTH else raw[:MAX_RAW_LENGTH] + "…"
        lineage[target] = (header, shown, rule, confidence)
        sure += confidence
        if section is None:
            product[name] = value
        elif not section:
            parts[target] = value
        elif section in product:
            product[section][name] = value
        else:
            product[section] = {name: value}
    read_fields = len(lineage)
    if read_fields:
        assemble(plan, row, parts)
        # Rounded twice, so that the order in which confidences are added does not matter.
        mean = round(round(sure, 6) / read_fields, 2)
        product.setdefault("metadata", {})["confidence"] = mean
    if plan.custom:
        _add_custom(plan, cells, product)
    if have > plan.width:
        _check_width(plan, cells, row)
    return row


def _check_width(plan: Plan, cells: Sequence[str], row: NormalisedRow) -> None:
    if any(cells[plan.width :]):
        wide = problem("ROW_TOO_LONG", cells=len(cells), columns=plan.width)
        row.problems.append(RowProblem(None, None, *wide))


def _add_custom(plan: Plan, cells: Sequence[str], product: dict[str, Any]) -> None:
    fields: dict[str, Any] = {}
    for column, name in plan.custom:
        raw = cells[column]
        if raw:
            value = read_custom(raw).value
            if value is not None:
                fields[name] = value
    if fields:
        specifications = product.setdefault("specifications", {})
        specifications["customFields"] = fields | specifications.get("customFields", {})
