"""Turn many rows into products, column by column, as JSON.

Most rows are plain: every cell can be read and nothing is wrong. Their documents are joined from
fragments of JSON, made once per distinct cell, or per combination of cells that only make sense
together. Rows that are not plain are left to `normalise`, which gives the same documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

from orjson import dumps

from penstock.catalog.products.grid import CUSTOM, TARGETS, flatten, short_name
from penstock.catalog.products.matching import Identifiers, maker_key
from penstock.catalog.products.normalise import normalise
from penstock.catalog.products.plan import CustomColumn, Plan, Step
from penstock.catalog.products.row import MAX_RAW_LENGTH, shortened
from penstock.catalog.products.validate import Validator, is_filled
from penstock.catalog.values.gtin import match_key
from penstock.catalog.values.readers import read_custom
from penstock.model.text.json_text import to_json

# Columns that are read together: those whose field begins with the same of these.
_TOGETHER = (
    "price.", "specifications.pack", "availability.", "specifications.weight",
    "specifications.dimensions", "images", "metadata.tags", "supplier.certifications", "variants.",
)  # fmt: skip
# A price depends on the pack that it is for.
_SAME_GROUP = {"specifications.pack": "price."}
_NAMES = ("sku", "gtin", "mpn")
_SECTIONS = ("identifiers", "metadata", "specifications", "supplier")
# Parts of a product in which columns write: its top level, its sections, and the custom fields.
_SLOTS = ("top", *_SECTIONS, "custom")
# Rows that depend on other rows, and columns that the grid takes from elsewhere.
_UNSUPPORTED = frozenset(("variants", "variants.group"))
_MAX_CACHED = 20_000
# Confidences are added as whole numbers, so that their order does not matter.
CONFIDENCE_UNIT = 1_000_000


class PlainRows(NamedTuple):
    """The plain rows, by their places among the rows given. Documents are JSON; ``results`` are the
    cells of the grid."""

    places: Sequence[int]
    products: Sequence[bytes]
    lineages: Sequence[bytes]
    results: Sequence[bytes]
    identifiers: Sequence[Identifiers]


class Fragment(NamedTuple):
    """What a cell, or a combination of cells, adds to the documents of its row. Each JSON ends with
    a comma."""

    # In the slot of the column, or by slot for combinations.
    product: bytes
    lineage: bytes
    cells: bytes
    confidence: int
    fields: int
    value: Any = None


_EMPTY = Fragment(b"", b"", b"", 0, 0)
# The row is not plain.
_BAD = Fragment(b"", b"", b"", 0, -1)


class _Maker(Protocol):
    """Makes the fragments of one or several columns."""

    def make(self, columns: Sequence[Sequence[str]]) -> tuple[dict[str, list[bytes]], list[Any]]:
        """Fragments of the product by slot, and the whole fragments, one a row."""
        ...


class ColumnNormaliser:
    """Compiled once per plan."""

    def __init__(
        self, plan: Plan, validator: Validator, columns: Sequence[str], source: str
    ) -> None:
        self._width = plan.width
        self._columns = tuple(columns)
        self._source = dumps(source)[1:-1]
        self._shows_id = "sourceId" in columns
        required = {target for target, _ in validator.required}
        groups: dict[str, list[Step]] = {}
        for step in plan.steps:
            start = next((one for one in _TOGETHER if step.target.startswith(one)), step.target)
            groups.setdefault(_SAME_GROUP.get(start, start), []).append(step)
        self._single: dict[str, _OneColumn] = {}
        self._makers: list[_Maker] = []
        if plan.custom:
            self._makers.append(_CustomColumns(plan.custom, self._columns))
        for steps in groups.values():
            if steps[0].section != "" and len(steps) == 1:
                one = _OneColumn(steps[0], self._columns, steps[0].target in required)
                self._single[steps[0].target] = one
                self._makers.append(one)
            else:
                self._makers.append(_ColumnGroup(plan, validator, steps, self._columns))
        self._unmapped = required - plan.targets - {"sourceId"}

    def rows(self, rows: Sequence[Sequence[str]]) -> PlainRows:
        """The rows among these that are plain."""
        places, rows = self._fitting(rows)
        count = len(rows)
        if not count or self._unmapped:
            return PlainRows((), (), (), (), ())
        columns = list(zip(*rows, strict=True))
        slots: dict[str, list[Sequence[bytes]]] = {slot: [] for slot in _SLOTS}
        fragments: list[list[Fragment]] = []
        single: dict[_Maker, list[Fragment]] = {}
        for maker in self._makers:
            by_slot, made = maker.make(columns)
            for slot, part in by_slot.items():
                slots[slot].append(part)
            fragments.append(made)
            single[maker] = made
        values = {target: single[maker] for target, maker in self._single.items()}
        return self._joined(places, count, slots, fragments, values)

    def _fitting(
        self, rows: Sequence[Sequence[str]]
    ) -> tuple[Sequence[int], Sequence[Sequence[str]]]:
        """Rows with as many cells as the header; short ones are filled up, long ones are left
        out."""
        width = self._width
        if all(len(row) == width for row in rows):
            return range(len(rows)), rows
        fitting = [(n, row) for n, row in enumerate(rows) if len(row) <= width]
        filled = [(*row, *("",) * (width - len(row))) for _, row in fitting]
        return [n for n, _ in fitting], filled

    def _joined(
        self, places: Sequence[int], count: int, slots: Mapping[str, list[Sequence[bytes]]],
        fragments: list[list[Fragment]], values: Mapping[str, list[Fragment]],
    ) -> PlainRows:  # fmt: skip
        top, names, meta, specs, supplier, custom = (
            _together(slots[slot], count) for slot in _SLOTS
        )
        ids, id_lineage = self._identity(count, values)
        made_of = list(zip(*fragments, strict=True))
        products, lineages, results, identifiers, good = [], [], [], [], []
        join, source, shows_id = b"".join, self._source, self._shows_id
        found_names = _identifiers(count, values, ids)
        for n, parts in enumerate(made_of):
            id_ = ids[n]
            fields = 0
            for one in parts:
                if one[4] < 0:
                    break
                fields += one[4]
            else:
                if id_ is None or not fields:
                    continue
                sure = round(sum([one[3] for one in parts]) / CONFIDENCE_UNIT / fields, 2)
                id_json = dumps(id_)[1:-1]
                inside = specs[n]
                if custom[n]:
                    inside += b'"customFields":{' + custom[n][:-1] + b"},"
                products.append(join((
                    b"{", top[n],
                    b'"identifiers":{' + names[n][:-1] + b"}," if names[n] else b"",
                    b'"specifications":{' + inside[:-1] + b"}," if inside else b"",
                    b'"supplier":{' + supplier[n][:-1] + b"}," if supplier[n] else b"",
                    b'"metadata":{', meta[n], b'"confidence":%a},' % sure,
                    b'"sourceId":"', id_json, b'","source":"', source, b'","id":"', source, b":",
                    id_json, b'"}',
                )))  # fmt: skip
                lineages.append(join((b"{", *[one[1] for one in parts], id_lineage[n]))[:-1] + b"}")
                cells = join([one[2] for one in parts])
                if shows_id:
                    cells += b'"sourceId":"' + id_json + b'",'
                results.append(b"{" + cells[:-1] + b"}")
                identifiers.append(found_names[n])
                good.append(places[n])
        return PlainRows(good, products, lineages, results, identifiers)

    def _identity(
        self, count: int, values: Mapping[str, list[Fragment]]
    ) -> tuple[Sequence[str | None], Sequence[bytes]]:
        """The source id of each row, and its lineage where it is derived from another
        identifier."""
        given = values.get("sourceId")
        ids: list[str | None] = [one.value for one in given] if given else [None] * count
        lineage = [b""] * count
        for name in _NAMES:
            target = f"identifiers.{name}"
            made = values.get(target)
            if made is None or None not in ids:
                continue
            start = len(f'"{target}":')
            for n, one in enumerate(made):
                if ids[n] is None and one.value is not None:
                    ids[n] = one.value
                    lineage[n] = b'"sourceId":' + _derived(one.lineage[start:], name)
        return ids, lineage


def _derived(lineage: bytes, name: str) -> bytes:
    """The lineage of a value that is taken from another one: the same cell, another rule."""
    cell, _, end = lineage.rpartition(b',"')
    return cell + f',"from_{name}"'.encode() + end[end.index(b'"') + 1 :]


def _identifiers(
    count: int, values: Mapping[str, list[Fragment]], ids: Sequence[str | None]
) -> list[Identifiers]:
    def column(target: str) -> Sequence[Any]:
        made = values.get(target)
        return [one.value for one in made] if made else [None] * count

    skus, gtins = column("identifiers.sku"), column("identifiers.gtin")
    brands, mpns = column("brand"), column("identifiers.mpn")
    return [
        Identifiers(
            id_, sku, None if gtin is None else match_key(gtin),
            None if mpn is None else maker_key(brand, mpn),
        )
        for id_, sku, gtin, brand, mpn in zip(ids, skus, gtins, brands, mpns, strict=True)
    ]  # fmt: skip


def _together(parts: Sequence[Sequence[bytes]], count: int) -> Sequence[bytes]:
    if not parts:
        return [b""] * count
    return parts[0] if len(parts) == 1 else list(map(b"".join, zip(*parts, strict=True)))


class _OneColumn:
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
        self._empty = _BAD if is_required else _EMPTY
        self._ends: dict[tuple[str, float], bytes] = {}

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
            return _BAD
        if value is None:
            return self._empty
        end = self._ends.get((rule, confidence))
        if end is None:
            end = self._ends[rule, confidence] = b",%b,%a]," % (dumps(rule), confidence)
        shown = dumps(value)
        if b"\\u0000" in shown:
            return _BAD
        text = dumps(shortened(raw)) if value != raw or len(raw) > MAX_RAW_LENGTH else shown
        cells = b""
        if self._shown is not None:
            cells = self._shown + (shown if type(value) is str else _cell(value)) + b","
        product = b"" if self._is_id else self._name + shown + b","
        sure = round(confidence * CONFIDENCE_UNIT)
        return Fragment(product, self._head + text + end, cells, sure, 1, value)


def _cell(value: Any) -> bytes:
    return to_json(flatten({"title": value}, ("title",))["title"]).encode()


class _ColumnGroup:
    """Columns that only make sense together, read by `normalise` once per combination of cells."""

    def __init__(
        self, plan: Plan, validator: Validator, steps: Sequence[Step], columns: Sequence[str]
    ) -> None:
        self._at = [step.column for step in steps]
        self._width = plan.width
        self._plan = replace(
            plan, steps=tuple(steps), custom=(), unknown=(),
            profile=replace(plan.profile, source=""),
            targets=frozenset(step.target for step in steps),
        )  # fmt: skip
        self._required = [one for one in validator.required if one[0] in self._plan.targets]
        self._custom = frozenset(one.name for one in plan.custom)
        self._columns = columns
        self._known: dict[Any, tuple[Fragment, dict[str, bytes]]] = {}

    def make(self, columns: Sequence[Sequence[str]]) -> tuple[dict[str, list[bytes]], list[Any]]:
        keys: Any = columns[self._at[0]]
        if len(self._at) > 1:
            keys = list(zip(*(columns[at] for at in self._at), strict=True))
        known = self._known
        if len(known) > _MAX_CACHED:
            known.clear()
        for key in dict.fromkeys(keys):
            if key not in known:
                known[key] = self._made((key,) if len(self._at) == 1 else key)
        made = [known[key] for key in keys]
        slots = {slot for _, parts in made for slot in parts}
        by_slot = {slot: [parts.get(slot, b"") for _, parts in made] for slot in slots}
        return by_slot, [one for one, _ in made]

    def _made(self, cells: Sequence[str]) -> tuple[Fragment, dict[str, bytes]]:
        if not any(cells):
            return (_BAD if self._required else _EMPTY), {}
        given = [""] * self._width
        for column, cell in zip(self._at, cells, strict=True):
            given[column] = cell
        row = normalise(self._plan, given)
        product = row.product
        if row.problems or row.group is not None:
            return _BAD, {}
        if not all(is_filled(row, target, path) for target, path in self._required):
            return _BAD, {}
        read = [step.read(given[step.column]) for step in self._plan.steps if given[step.column]]
        sure = [round(one.confidence * CONFIDENCE_UNIT) for one in read if one.value is not None]
        cells_shown = _members(flatten(product, self._columns))
        product.get("metadata", {}).pop("confidence", None)
        own = product.get("specifications", {}).pop("customFields", {})
        if not self._custom.isdisjoint(own):
            return _BAD, {}
        parts = {"custom": _members(own)}
        for section in _SECTIONS:
            parts[section] = _members(product.pop(section, {}))
        parts["top"] = _members(product)
        filled = {slot: part for slot, part in parts.items() if part}
        fragment = Fragment(b"", _members(row.lineage), cells_shown, sum(sure), len(sure))
        return fragment, filled


class _CustomColumns:
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
        shown_cells = _together(grids, count)
        made = [Fragment(b"", b"", cells, 0, 0) if cells else _EMPTY for cells in shown_cells]
        return {"custom": list(_together(products, count))}, made


def _custom_json(cell: str) -> bytes:
    value = read_custom(cell).value if cell else None
    return b"" if value is None else dumps(value) + b","


def _members(document: Mapping[str, Any]) -> bytes:
    return to_json(document).encode()[1:-1] + b"," if document else b""


def column_normaliser(
    plan: Plan, validator: Validator, columns: Sequence[str], source: str
) -> ColumnNormaliser | None:
    """None if the plan contains something that concerns whole rows: rules, variants, columns that
    the profile does not know, a choice by completeness."""
    targets = [step.target for step in plan.steps]
    if (
        validator.rules is not None
        or plan.unknown
        or len(set(targets)) < len(targets)
        or not _UNSUPPORTED.isdisjoint(targets)
        or plan.profile.winner == "most_complete"
        or not {"id", "source"}.isdisjoint(columns)
    ):
        return None
    return ColumnNormaliser(plan, validator, columns, source)
