"""Prices column by column, for `by_column`."""

from __future__ import annotations

import re
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
from penstock.catalog.values.prices import Price
from penstock.catalog.values.result import build

# A number with two decimals, and a currency before or after it: the form of most prices.
_WITH_CENTS = re.compile(
    r"([^\W\d_]{0,3}[^\w\s.,'+()%-]?\.?\s?)([1-9][0-9]{0,6})([.,])([0-9]{2})"
    r"(\s?(?:[^\W\d_]{1,3}\.?|[^\w\s.,'+()%-])?)"
)
# `¥12.00` and `¥12.50` can be two currencies.
_SHARED_SIGN = frozenset(("JPY", "CNY"))
_NO_PARTS: dict[str, bytes] = {}


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
        # Templates by the form of the cell: amounts of the same form are read in the same way.
        self._forms: dict[Any, _PriceTemplate] = {}
        # A saved value stands for one whole cell.
        self._has_saved_values = bool(plan.profile.values.get("price.amount"))

    def make(self, columns: Sequence[Sequence[str]]) -> tuple[dict[str, list[bytes]], list[Any]]:
        keys = list(zip(*(columns[at] for at in self._at), strict=True))
        made = [self._price(key) for key in keys]
        by_slot = {"top": [one[0] or parts.get("top", b"") for one, parts in made]}
        others = {slot for _, parts in made if parts for slot in parts if slot != "top"}
        for slot in others:
            by_slot[slot] = [parts.get(slot, b"") for _, parts in made]
        return by_slot, [one for one, _ in made]

    def _price(self, cells: tuple[str, ...]) -> GroupPart:
        raw, place = cells[self._place], self._place
        match = _WITH_CENTS.fullmatch(raw)
        if match is None:
            return self._read(cells, raw)
        before, whole, mark, cents, after = match.groups()
        form = (before, mark, after, cells[:place], cells[place + 1 :])
        template, amount = self._forms.get(form), f"{whole}.{cents}"
        if template is None:
            return self._read(cells, raw, form, amount)
        return template.filled(amount, raw)

    def _read(
        self, cells: tuple[str, ...], raw: str, form: Any = None, amount: str | None = None
    ) -> GroupPart:
        known = self._known.get(cells)
        if known is not None:
            return known
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
        if form is not None and self._has_form(value, amount):
            if len(self._forms) > MAX_CACHED:
                self._forms.clear()
            self._forms[form] = template
        return template.filled(value.amount, raw)

    def _has_form(self, value: Price, amount: str | None) -> bool:
        """Whether all amounts of this form are read as this one: as they are written."""
        return (
            value.amount == amount
            and places(value.currency) == 2
            and value.currency not in _SHARED_SIGN
            and not self._has_saved_values
        )

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
        return build(Fragment, (product, lineage, cells, *self._sure, amount)), _NO_PARTS
