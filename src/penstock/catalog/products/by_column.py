"""Turn many rows into products, column by column, as JSON.

Most rows are plain: every cell can be read and nothing is wrong. Their documents are joined from
fragments of JSON, made once per distinct cell, or per combination of cells that only make sense
together. Rows that are not plain are left to `normalise`, which gives the same documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from orjson import dumps

from penstock.catalog.products.column_parts import (
    CONFIDENCE_UNIT,
    SECTIONS,
    ColumnGroup,
    CustomColumns,
    Fragment,
    ImageColumn,
    OneColumn,
    together,
)
from penstock.catalog.products.grid import PARTS
from penstock.catalog.products.keys import keys_of
from penstock.catalog.products.matching import Identifiers, maker_key
from penstock.catalog.products.plan import Plan, Step
from penstock.catalog.products.price_columns import PriceColumns
from penstock.catalog.products.validate import Validator
from penstock.catalog.values.gtin import match_key
from penstock.model.effects import ProductKeys

# Columns that are read together: those whose field begins with the same of these.
_TOGETHER = (
    "price.", "specifications.pack", "availability.", "specifications.weight",
    "specifications.dimensions", "images", "metadata.tags", "supplier.certifications", "variants.",
    "published", "unpublished",
)  # fmt: skip
# A price depends on the pack that it is for.
_SAME_GROUP = {"specifications.pack": "price.", "unpublished": "published"}
_PRICE = "price."
_NAMES = ("sku", "gtin", "mpn")
# Parts of a product in which columns write: its top level, its sections, and the custom fields.
_SLOTS = ("top", *SECTIONS, "custom")
# Rows that depend on other rows, and columns that the grid takes from elsewhere.
_UNSUPPORTED = frozenset(("variants", "variants.group", "variants.listed", "variants.attributes"))


class PlainRows(NamedTuple):
    """The plain rows, by their places among the rows given. Documents are JSON; ``results`` are the
    cells of the grid."""

    places: Sequence[int]
    products: Sequence[bytes]
    lineages: Sequence[bytes]
    results: Sequence[bytes]
    identifiers: Sequence[Identifiers]
    # As `product_keys` computes them from the products.
    keys: Sequence[ProductKeys]


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
        self._single: dict[str, OneColumn] = {}
        self._makers: list[_Maker] = []
        self._prices: _Maker | None = None
        if plan.custom:
            self._makers.append(CustomColumns(plan.custom, self._columns))
        for steps in groups.values():
            if steps[0].section != "" and len(steps) == 1 and steps[0].target not in PARTS:
                one = OneColumn(steps[0], self._columns, steps[0].target in required)
                self._single[steps[0].target] = one
                self._makers.append(one)
            elif _is_plain_price(steps):
                self._prices = PriceColumns(plan, validator, steps, self._columns)
                self._makers.append(self._prices)
            elif [step.target for step in steps] == ["images"]:
                self._makers.append(ImageColumn(plan, validator, steps, self._columns))
            else:
                made = ColumnGroup(plan, validator, steps, self._columns)
                self._makers.append(made)
                if steps[0].target.startswith(_PRICE):
                    self._prices = made
        self._unmapped = required - plan.targets - {"sourceId"}

    def rows(self, rows: Sequence[Sequence[str]]) -> PlainRows:
        """The rows among these that are plain."""
        places, rows = self._fitting(rows)
        count = len(rows)
        if not count or self._unmapped:
            return PlainRows((), (), (), (), (), ())
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
        if self._prices is not None:
            values[_PRICE] = single[self._prices]
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
            together(slots[slot], count) for slot in _SLOTS
        )
        ids, id_lineage = self._identity(count, values)
        made_of = list(zip(*fragments, strict=True))
        products, lineages, results, identifiers, keys, good = [], [], [], [], [], []
        join, source, shows_id = b"".join, self._source, self._shows_id
        found_names, found_keys = _identifiers(count, values, ids), _keys(count, values)
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
                keys.append(found_keys[n])
                good.append(places[n])
        return PlainRows(good, products, lineages, results, identifiers, keys)

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


def _is_plain_price(steps: Sequence[Step]) -> bool:
    """Whether nothing but the amount itself depends on the amount of the price."""
    targets = {step.target for step in steps}
    return "price.amount" in targets and "price.sale" not in targets


def _derived(lineage: bytes, name: str) -> bytes:
    """The lineage of a value that is taken from another one: the same cell, another rule."""
    cell, _, end = lineage.rpartition(b',"')
    return cell + f',"from_{name}"'.encode() + end[end.index(b'"') + 1 :]


def _read(values: Mapping[str, list[Fragment]], target: str, count: int) -> Sequence[Any]:
    made = values.get(target)
    return [one.value for one in made] if made else [None] * count


def _keys(count: int, values: Mapping[str, list[Fragment]]) -> list[ProductKeys]:
    targets = ("title", _PRICE, "brand", "identifiers.mpn")
    return list(map(keys_of, *(_read(values, target, count) for target in targets)))


def _identifiers(
    count: int, values: Mapping[str, list[Fragment]], ids: Sequence[str | None]
) -> list[Identifiers]:
    skus, gtins, brands, mpns = (
        _read(values, target, count)
        for target in ("identifiers.sku", "identifiers.gtin", "brand", "identifiers.mpn")
    )
    return [
        Identifiers(
            id_, sku, None if gtin is None else match_key(gtin),
            None if mpn is None else maker_key(brand, mpn),
        )
        for id_, sku, gtin, brand, mpn in zip(ids, skus, gtins, brands, mpns, strict=True)
    ]  # fmt: skip


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
