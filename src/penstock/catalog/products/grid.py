"""Products as rows of the grid, and merging a product into an existing one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from penstock.catalog.fields import FIELDS, full_target

CUSTOM = "specifications.customFields"
_OWN = tuple(CUSTOM.split("."))
MATCH = "match"
# Number of products of other sources that may be the same; shown with the match.
LINKS = "links"
# Derived fields that are shown as soon as any field of their section is.
_COMPANIONS = {
    "price": ("price.amount", "price.currency", "price.unit"),
    # A status such as `12 pieces` tells the quantity, too.
    "availability": ("availability.status", "availability.quantity"),
    "identifiers": ("sourceId",),
}
_OPTIONS = ("variants.color", "variants.size")
_FIRST = ("sourceId", "identifiers.sku", "identifiers.gtin", "title")
_OUTPUT = tuple(field.target for field in FIELDS if field.output)
# Fields with several values have a column for each: the column's name, and the value's.
_SIDES = {
    "length": "length", "width": "width", "height": "height", "depth": "depth",
    "diameter": "diameter", "dimensionUnit": "unit",
}  # fmt: skip
PARTS: dict[str, dict[str, str]] = {
    "price.perUnit": {"perUnit": "amount", "perUnitOf": "unit"},
    "specifications.dimensions": _SIDES,
    "specifications.weight": {"weight": "value", "weightUnit": "unit"},
    "specifications.pack": {
        "packCount": "count", "packSize": "size", "packUnit": "unit", "packTotal": "total",
        "packTotalUnit": "totalUnit",
    },
}  # fmt: skip
# Columns with amounts of money, which products keep as decimal text.
_MONEY = ("price", "money")


def short_name(target: str) -> str:
    """The short name of a field: `sku`, `price`; the whole path if that is ambiguous."""
    for name in (target.partition(".")[0], target.rpartition(".")[2]):
        if full_target(name) == target:
            return name
    return target


def _names(target: str) -> list[str]:
    """The columns of a field."""
    return list(PARTS.get(target, ())) or [short_name(target)]


TARGETS = {short_name(target): target for target in _OUTPUT if target not in PARTS} | {
    name: f"{target}.{part}" for target, parts in PARTS.items() for name, part in parts.items()
}
AMOUNTS = frozenset(
    ["perUnit", *(short_name(one.target) for one in FIELDS if one.output and one.kind in _MONEY)]
)


# Columns for the whole catalog, where a product may have any field: as cells and as documents.
ALL_COLUMNS = [
    *("id", "source"),
    *(short_name(target) for target in _FIRST),
    *(
        name
        for target in _OUTPUT
        if target not in (*_FIRST, "id", "source")
        for name in _names(target)
    ),
]
SECTIONS = list(dict.fromkeys(target.partition(".")[0] for target in _OUTPUT))


def grid_columns(
    targets: Sequence[str], custom: Sequence[str], *, converts: bool = False
) -> list[str]:
    """The columns of a job's results: identity first, then the mapped fields in the standard order,
    then custom columns, then the comparison with the catalog."""
    wanted = set()
    for target in targets:
        wanted.add(_shown(target))
        wanted.update(_COMPANIONS.get(target.partition(".")[0], ()))
    if "price.unit.count" in targets and "price.amount" in wanted:
        # A price for 100 pieces is compared by what one of them costs.
        wanted.add("price.perUnit")
    if converts and "price.amount" in wanted:
        wanted.update(("price.base.amount", "price.base.currency"))
    # Without grouping, variant options are ordinary columns.
    told = [target.rpartition(".")[2] for target in _OPTIONS if target in targets]
    custom = [*told, *custom]
    ordered = [*_FIRST, *(target for target in _OUTPUT if target not in _FIRST)]
    sides = _sides_of(targets)
    names = [
        name
        for target in ordered
        if target in wanted
        for name in _names(target)
        if name not in _SIDES or name in sides
    ]
    taken = {*TARGETS, MATCH, LINKS}
    own = [f"{CUSTOM}.{name}" if name in taken else name for name in custom]
    return [*names, *own, MATCH]


def _sides_of(targets: Sequence[str]) -> frozenset[str]:
    """The columns of sides that a file has: all of them if it has dimensions in one column."""
    if "specifications.dimensions" in targets:
        return frozenset(_SIDES)
    start = "specifications.dimensions."
    own = {target.removeprefix(start) for target in targets if target.startswith(start)}
    return frozenset({*own, "dimensionUnit"})


def _shown(target: str) -> str:
    """The field that a column adds to: `images` for `images.2`."""
    while target not in _OUTPUT and "." in target:
        target = target.rpartition(".")[0]
    return target


def shown_name(target: str | None) -> str | None:
    """The grid column that shows a field; the first one if it has several."""
    if target is None:
        return None
    shown = _shown(target)
    part = target.removeprefix(shown + ".")
    names = PARTS.get(shown, {})
    return next((name for name, one in names.items() if one == part), _names(shown)[0])


def flatten(product: Mapping[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    """The cells of the grid by column; empty ones are left out."""
    flat: dict[str, Any] = {}
    for parents, wanted in _places(tuple(columns)):
        place: Any = product
        for part in parents:
            place = place.get(part)
            if type(place) is not dict:
                break
        else:
            for column, name in wanted:
                value = place.get(name)
                if value is not None:
                    flat[column] = value if type(value) is str else _cell(value)
    return flat


_Place = tuple[tuple[str, ...], tuple[tuple[str, str], ...]]


@lru_cache(maxsize=64)
def _places(columns: tuple[str, ...]) -> tuple[_Place, ...]:
    """Where the values of columns are in a product: the path of a section, and the columns that
    show its fields."""
    by_parents: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for column in columns:
        target = TARGETS.get(column)
        *parents, name = target.split(".") if target else (*_OWN, column.removeprefix(f"{CUSTOM}."))
        by_parents.setdefault(tuple(parents), []).append((column, name))
    return tuple((parents, tuple(wanted)) for parents, wanted in by_parents.items())


def _cell(value: Any) -> Any:
    if type(value) is int or type(value) is float:
        return value
    if isinstance(value, list):
        if all(isinstance(one, str) for one in value):
            return ", ".join(value)
        if all(isinstance(one, dict) and "url" in one for one in value):
            return " ".join(one["url"] for one in value)
    if isinstance(value, dict | list):
        return _as_text(value)
    return value


def _as_text(value: Any) -> str:
    """A list or document for a cell: `1+: 9.90; 10+: 8.50` for tiers, names and values else."""
    if isinstance(value, list):
        return "; ".join(_as_text(one) for one in value)
    if not isinstance(value, dict):
        return str(value)
    if "options" in value:
        return variant_text(value)
    if set(value) == {"minQuantity", "amount"}:
        return f"{value['minQuantity']}+: {value['amount']}"
    parts = [
        f"({_as_text(one)})" if isinstance(one, dict | list) else f"{name}: {one}"
        for name, one in value.items()
        if one not in (None, "", [], {})
    ]
    return ", ".join(parts)


def variant_text(variant: Mapping[str, Any]) -> str:
    """`SH-1-RS, Color: Red, Size: S, 22.00 EUR, quantity: 4`."""
    identifiers, price, availability = (
        found if isinstance(found := variant.get(name), Mapping) else {}
        for name in ("identifiers", "price", "availability")
    )
    options = variant.get("options")
    told = options.items() if isinstance(options, Mapping) else ()
    amount, currency = price.get("amount"), price.get("currency")
    quantity = availability.get("quantity")
    parts = (
        identifiers.get("sku") or variant.get("sku"),
        *(f"{name}: {value}" for name, value in told),
        f"{amount} {currency}" if amount and currency else amount,
        None if quantity is None else f"quantity: {quantity}",
    )
    return ", ".join(str(one) for one in parts if one)


def merged(existing: Mapping[str, Any], product: Mapping[str, Any]) -> dict[str, Any]:
    """The existing product updated with the file's fields; blank fields keep their old value."""
    result = dict(existing)
    for name, value in product.items():
        old = result.get(name)
        if isinstance(old, Mapping) and isinstance(value, Mapping):
            result[name] = merged(old, value)
        elif value is not None:
            result[name] = value
    return result
