"""Prices column by column, for `by_column`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from orjson import dumps

from penstock.catalog.products.assemble import NAMES_CURRENCY
from penstock.catalog.products.column_parts import (
    MAX_CACHED,
    UNREAD,
    ColumnGroup,
    Fragment,
    GroupPart,
    members,
)
from penstock.catalog.products.grid import flatten, short_name
from penstock.catalog.products.plan import Plan, Step
from penstock.catalog.products.row import MAX_RAW_LENGTH, Source
from penstock.catalog.products.validate import Validator
from penstock.catalog.values.currencies import format_amount, places


class PriceColumns(ColumnGroup):
    """A price with its currency, unit and tax. The amount differs from row to row, the rest hardly:
    rows that differ in their amounts only share a template."""

    def __init__(
        self, plan: Plan, validator: Validator, steps: Sequence[Step], columns: Sequence[str]
    ) -> None:
        super().__init__(plan, validator, steps, columns)
        self._place, self._amount = next(
            (n, step) for n, step in enumerate(steps) if step.target == "price.amount"
        )
        self._templates: dict[Any, _PriceTemplate | None] = {}

    def make(self, columns: Sequence[Sequence[str]]) -> tuple[dict[str, list[bytes]], list[Any]]:
        keys = list(zip(*(columns[at] for at in self._at), strict=True))
        made = [self._price(key) for key in keys]
        slots = {slot for _, parts in made for slot in parts}
        by_slot = {slot: [parts.get(slot, b"") for _, parts in made] for slot in slots}
        return by_slot, [one for one, _ in made]

    def _price(self, cells: tuple[str, ...]) -> GroupPart:
        known = self._known.get(cells)
        if known is not None:
            return known
        raw = cells[self._place]
        value, rule, confidence, wrong = self._amount.read(raw) if raw else UNREAD
        if wrong or value is None or value.amount is None or len(raw) > MAX_RAW_LENGTH:
            return self._cached(cells)
        beside = cells[: self._place] + cells[self._place + 1 :]
        shape = (beside, value[1:], rule, confidence, bool(NAMES_CURRENCY.search(raw)))
        if shape not in self._templates:
            if len(self._templates) > MAX_CACHED:
                self._templates.clear()
            self._templates[shape] = self._template(cells, value.currency)
        template = self._templates[shape]
        if template is None:
            return self._cached(cells)
        return template.filled(value.amount, raw)

    def _cached(self, cells: tuple[str, ...]) -> GroupPart:
        if len(self._known) > MAX_CACHED:
            self._known.clear()
        made = self._known[cells] = self._made(cells)
        return made

    def _template(self, cells: Sequence[str], in_cell: str | None) -> _PriceTemplate | None:
        """None if more than the amount itself depends on the amount."""
        row = self._normalised(cells)
        if row is None or set(row.product) - {"metadata", "price"}:
            return None
        price = row.product["price"]
        currency, base = price.get("currency"), price.get("base")
        is_same = base is None or base == {"amount": price["amount"], "currency": currency}
        if not is_same or not _FIXED_PRICE.issuperset(price):
            return None
        sure = self._confidences(row.lineage, cells)
        decimals = None if currency == in_cell else places(currency)
        shown = flatten(row.product, self._columns)
        return _PriceTemplate(price, row.lineage, shown, (sum(sure), len(sure)), decimals)


_FIXED_PRICE = frozenset(("amount", "currency", "unit", "taxIncluded", "base"))
# Columns of the grid that show the amount, and lineage that quotes its cell.
_AMOUNT_COLUMNS = frozenset((short_name("price.amount"), short_name("price.base.amount")))
_AMOUNT_LINEAGE = ("price.amount", "price.base")


class _PriceTemplate:
    def __init__(
        self, price: Mapping[str, Any], lineage: Mapping[str, Source], shown: Mapping[str, Any],
        sure: tuple[int, int], decimals: int | None,
    ) -> None:  # fmt: skip
        rest = {name: one for name, one in price.items() if name not in ("amount", "base")}
        self._rest = b'"' + (b"," + members(rest)[:-1] if rest else b"") + b"},"
        base = price.get("base")
        self._base = None if base is None else b'","currency":' + dumps(base["currency"]) + b"}"
        told = [(name, lineage[name]) for name in _AMOUNT_LINEAGE if name in lineage]
        self._lineage = [
            (dumps(name) + b":[" + dumps(one[0]) + b",", b",%b,%a]," % (dumps(one[2]), one[3]))
            for name, one in told
        ]
        others = {name: one for name, one in lineage.items() if name not in _AMOUNT_LINEAGE}
        self._others = members(others)
        self._columns = [dumps(name) + b":" for name in shown if name in _AMOUNT_COLUMNS]
        self._shown = members({k: v for k, v in shown.items() if k not in _AMOUNT_COLUMNS})
        self._sure = sure
        self._decimals = decimals

    def filled(self, amount: str, raw: str) -> GroupPart:
        if self._decimals is not None:
            amount = format_amount(amount, self._decimals)
        told, text = amount.encode(), dumps(raw)
        product = b'"price":{"amount":"' + told
        if self._base is not None:
            product += b'","base":{"amount":"' + told + self._base
            product += self._rest[1:]
        else:
            product += self._rest
        lineage = b"".join([head + text + end for head, end in self._lineage]) + self._others
        cells = b"".join([name + b'"' + told + b'",' for name in self._columns]) + self._shown
        return Fragment(b"", lineage, cells, *self._sure), {"top": product}
