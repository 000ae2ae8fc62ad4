"""The fragments of JSON that columns add to the documents of their rows, for `by_column`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from orjson import dumps

from penstock.catalog.products.grid import CUSTOM, TARGETS, flatten, short_name
from penstock.catalog.products.normalise import normalise
from penstock.catalog.products.plan import CustomColumn, Plan, Step
from penstock.catalog.products.row import MAX_RAW_LENGTH, NormalisedRow, Source, shortened
from penstock.catalog.products.validate import Validator, is_filled
from penstock.catalog.values.readers import read_custom
from penstock.catalog.values.result import build
from penstock.model.text.json_text import to_json

SECTIONS = ("identifiers", "metadata", "specifications", "supplier")
# Confidences are added as whole numbers, so that their order does not matter.
CONFIDENCE_UNIT = 1_000_000
MAX_CACHED = 20_000
# A cell that is empty, as a reader would answer it.
UNREAD = (None, "", 0.0, ())


class Fragment(NamedTuple):
    """What a cell, or a combination of cells, adds to the documents of its row. Each JSON ends with
    a comma."""

    # In the slot of the column; of combinations, what is not given by slot.
    product: bytes
    lineage: bytes
    cells: bytes
    confidence: int
    fields: int
    # Of one column what was read, of prices the amount.
    value: Any = None


EMPTY = Fragment(b"", b"", b"", 0, 0)
# The row is not plain.
NOT_PLAIN = Fragment(b"", b"", b"", 0, -1)

# The fragment of cells that only make sense together, and their parts of the product by slot.
GroupPart = tuple[Fragment, dict[str, bytes]]


class OneColumn:
    """A column whose value goes into the product as it is read."""

    def __init__(self, step: Step, columns: Sequence[str], is_required: bool) -> None:
        self._step = step
        self._slot = step.section or "top"
        self._name = dumps(step.name) + b":"
        shown = short_name(step.target)
        # Every product has a source id, given or derived, which is added once.
        self._is_id = step.target == "sourceId"
        self._shown = dumps(shown) + b":" if shown in columns and not self._is_id else None
        self._head = dumps(step.target) + b":[" + dumps(step.header) + b","
        self._empty = NOT_PLAIN if is_required else EMPTY
        self._ends: dict[tuple[str, float], tuple[bytes, int]] = {}

    def make(self, columns: Sequence[Sequence[str]]) -> tuple[dict[str, list[bytes]], list[Any]]:
        cells = columns[self._step.column]
        distinct = dict.fromkeys(cells)
        fragment = self._fragment
        if len(distinct) * 2 < len(cells):
            known = {cell: fragment(cell) for cell in distinct}
            made = [known[cell] for cell in cells]
        else:
            made = [fragment(cell) for cell in cells]
        return {self._slot: [one[0] for one in made]}, made

    def _fragment(self, raw: str) -> Fragment:
        if not raw:
            return self._empty
        value, rule, confidence, wrong = self._step.read(raw)
        if wrong:
            return NOT_PLAIN
        if value is None:
            return self._empty
        known = self._ends.get((rule, confidence))
        if known is None:
            end = b",%b,%a]," % (dumps(rule), confidence)
            known = self._ends[rule, confidence] = (end, round(confidence * CONFIDENCE_UNIT))
        end, sure = known
        shown = dumps(value)
        if b"\\u0000" in shown:
            return NOT_PLAIN
        text = dumps(shortened(raw)) if value != raw or len(raw) > MAX_RAW_LENGTH else shown
        cells = b""
        if self._shown is not None:
            cells = self._shown + (shown if type(value) is str else _cell(value)) + b","
        product = b"" if self._is_id else self._name + shown + b","
        return build(Fragment, (product, self._head + text + end, cells, sure, 1, value))


def _cell(value: Any) -> bytes:
    return to_json(flatten({"title": value}, ("title",))["title"]).encode()


class ColumnGroup:
    """Columns that only make sense together, read by `normalise` once per combination of cells."""

    def __init__(
        self, plan: Plan, validator: Validator, steps: Sequence[Step], columns: Sequence[str]
    ) -> None:
        self._at = [step.column for step in steps]
        self._blank = [""] * plan.width
        self._plan = replace(
            plan, steps=tuple(steps), custom=(), unknown=(),
            profile=replace(plan.profile, source=""),
            targets=frozenset(step.target for step in steps),
        )  # fmt: skip
        self._required = [one for one in validator.required if one[0] in self._plan.targets]
        self._custom = frozenset(one.name for one in plan.custom)
        self._columns = columns
        self._known: dict[Any, GroupPart] = {}

    def make(self, columns: Sequence[Sequence[str]]) -> tuple[dict[str, list[bytes]], list[Any]]:
        keys: Any = columns[self._at[0]]
        if len(self._at) > 1:
            keys = list(zip(*(columns[at] for at in self._at), strict=True))
        known = self._known
        if len(known) > MAX_CACHED:
            known.clear()
        for key in dict.fromkeys(keys):
            if key not in known:
                known[key] = self._made((key,) if len(self._at) == 1 else key)
        made = [known[key] for key in keys]
        slots = {slot for _, parts in made for slot in parts}
        by_slot = {slot: [parts.get(slot, b"") for _, parts in made] for slot in slots}
        return by_slot, [one for one, _ in made]

    def _made(self, cells: Sequence[str]) -> GroupPart:
        if not any(cells):
            return (NOT_PLAIN if self._required else EMPTY), {}
        row = self._normalised(cells)
        return (NOT_PLAIN, {}) if row is None else self._documents(row, cells)

    def _normalised(self, cells: Sequence[str]) -> NormalisedRow | None:
        """The row of these cells alone; None if it is not plain."""
        given = self._blank.copy()
        for column, cell in zip(self._at, cells, strict=True):
            given[column] = cell
        row = normalise(self._plan, given)
        if row.problems or row.group is not None:
            return None
        filled = all(is_filled(row, target, path) for target, path in self._required)
        return row if filled else None

    def _documents(self, row: NormalisedRow, cells: Sequence[str]) -> GroupPart:
        product, lineage = row.product, row.lineage
        shown = members(flatten(product, self._columns))
        sure = self._confidences(lineage, cells)
        amount = product.get("price", {}).get("amount")
        product.get("metadata", {}).pop("confidence", None)
        own = product.get("specifications", {}).pop("customFields", None)
        if own and not self._custom.isdisjoint(own):
            return NOT_PLAIN, {}
        parts = {"custom": members(own)} if own else {}
        for section in SECTIONS:
            if section in product and (inside := product.pop(section)):
                parts[section] = members(inside)
        if product:
            parts["top"] = members(product)
        return Fragment(b"", members(lineage), shown, sum(sure), len(sure), amount), parts

    def _confidences(self, lineage: Mapping[str, Source], cells: Sequence[str]) -> list[int]:
        """Of the cells that were read, not of what was derived from them."""
        return [
            round(lineage[step.target][3] * CONFIDENCE_UNIT)
            for step, cell in zip(self._plan.steps, cells, strict=True)
            if cell and step.target in lineage and lineage[step.target] is not self._plan.said
        ]


class ImageColumn(ColumnGroup):
    """One column of pictures: mostly one address in a cell, and another one in every row."""

    def __init__(
        self, plan: Plan, validator: Validator, steps: Sequence[Step], columns: Sequence[str]
    ) -> None:
        super().__init__(plan, validator, steps, columns)
        self._step = steps[0]
        self._head = dumps(self._step.target) + b":[" + dumps(self._step.header) + b","
        self._is_shown = self._step.target in columns

    def make(self, columns: Sequence[Sequence[str]]) -> tuple[dict[str, list[bytes]], list[Any]]:
        made = [self._pictures(raw) for raw in columns[self._step.column]]
        return {"top": [one[0] for one in made]}, made

    def _pictures(self, raw: str) -> Fragment:
        value, rule, confidence, wrong = self._step.read(raw) if raw else UNREAD
        if wrong or value is None or list(value) != [raw] or len(raw) > MAX_RAW_LENGTH:
            return self._other(raw)
        text = dumps(raw)
        lineage = self._head + text + b",%b,%a]," % (dumps(rule), confidence)
        shown = b'"images":' + text + b"," if self._is_shown else b""
        product = b'"images":[{"url":' + text + b',"type":"primary"}],'
        sure = round(confidence * CONFIDENCE_UNIT)
        return build(Fragment, (product, lineage, shown, sure, 1, None))

    def _other(self, raw: str) -> Fragment:
        """A cell without a picture, with several, or with a problem."""
        if len(self._known) > MAX_CACHED:
            self._known.clear()
        if raw not in self._known:
            self._known[raw] = self._made((raw,))
        one, parts = self._known[raw]
        return one._replace(product=parts["top"]) if parts else one


class CustomColumns:
    """Columns that are kept as they are."""

    def __init__(self, custom: Sequence[CustomColumn], columns: Sequence[str]) -> None:
        self._columns = []
        for column, name in custom:
            shown = name if name in columns and name not in TARGETS else f"{CUSTOM}.{name}"
            self._columns.append(
                (column, dumps(name) + b":", dumps(shown) + b":", shown in columns)
            )

    def make(self, columns: Sequence[Sequence[str]]) -> tuple[dict[str, list[bytes]], list[Any]]:
        products, grids = [], []
        for column, name, shown, is_shown in self._columns:
            cells = columns[column]
            known = {cell: _custom_json(cell) for cell in dict.fromkeys(cells)}
            texts = [known[cell] for cell in cells]
            products.append([name + text if text else b"" for text in texts])
            if is_shown:
                grids.append([shown + text if text else b"" for text in texts])
        count = len(columns[0])
        shown_cells = together(grids, count)
        made = [Fragment(b"", b"", cells, 0, 0) if cells else EMPTY for cells in shown_cells]
        return {"custom": list(together(products, count))}, made


def _custom_json(cell: str) -> bytes:
    value = read_custom(cell).value if cell else None
    return b"" if value is None else dumps(value) + b","


def members(document: Mapping[str, Any]) -> bytes:
    return to_json(document).encode()[1:-1] + b"," if document else b""


def together(parts: Sequence[Sequence[bytes]], count: int) -> Sequence[bytes]:
    if not parts:
        return [b""] * count
    return parts[0] if len(parts) == 1 else list(map(b"".join, zip(*parts, strict=True)))
