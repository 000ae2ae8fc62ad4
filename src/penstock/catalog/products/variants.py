"""Group rows that are variants of one product, by handle or parent SKU."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from penstock.catalog.products.plan import Plan
from penstock.catalog.products.row import NormalisedRow
from penstock.catalog.values.result import Problem, problem

# Fields of a variant; all others belong to the product.
_OWN = ("identifiers", "price", "availability", "sourceId")
_IMAGES = 50
_OPTIONS = (
    *((f"variants.option{n}.name", f"variants.option{n}.value", f"option {n}") for n in (1, 2, 3)),
    ("", "variants.color", "color"),
    ("", "variants.size", "size"),
)


def add_variant(plan: Plan, row: NormalisedRow, parts: dict[str, Any]) -> None:
    """Set the row's group and, if the row has options, its variant."""
    group = parts.get("variants.group")
    options = _options(parts)
    # Some shops write 0 where there is no parent.
    if group is None or group == "0":
        if options:
            specifications = row.product.setdefault("specifications", {})
            specifications["customFields"] = specifications.get("customFields", {}) | options
        return
    row.group = str(group).removeprefix("id:")
    row.continues = "title" in plan.targets and "title" not in row.product
    if options and options != {"Title": "Default Title"}:
        row.product["variants"] = [_variant(row.product, options)]


def _options(parts: dict[str, Any]) -> dict[str, str]:
    options: dict[str, str] = {}
    for name_part, value_part, name in _OPTIONS:
        value = parts.get(value_part)
        if value is not None:
            options.setdefault(parts.get(name_part) or name, value)
    return options


def _variant(product: dict[str, Any], options: dict[str, str]) -> dict[str, Any]:
    variant: dict[str, Any] = {"options": options}
    for name in _OWN:
        if name in product:
            variant[name] = product[name]
    return variant


class VariantRow(NamedTuple):
    """A row to be grouped."""

    row: int
    product: dict[str, Any]
    group: str | None
    continues: bool = False


class GroupedProduct(NamedTuple):
    """A product made of ``rows``; the first is the parent."""

    rows: tuple[int, ...]
    product: dict[str, Any]
    problems: tuple[Problem, ...] = ()


def group(members: Iterable[VariantRow]) -> list[GroupedProduct]:
    """One product per group, in the order of first rows; a row without a group is a product itself.

    A row without a group whose SKU or id others name as their group is their parent.
    """
    taken = list(members)
    named = {member.group for member in taken if member.group is not None}
    families: dict[str, list[VariantRow]] = {}
    for member in taken:
        families.setdefault(_group_key(member, named), []).append(member)
    return [_grouped(rows) for rows in families.values()]


def _group_key(member: VariantRow, named: set[str]) -> str:
    if member.group is not None:
        return "g" + member.group
    for own in (member.product.get("identifiers", {}).get("sku"), member.product.get("sourceId")):
        if own in named:
            return "g" + str(own)
    return f"r{member.row}"


def _grouped(rows: list[VariantRow]) -> GroupedProduct:
    if len(rows) == 1 and not rows[0].continues:
        return GroupedProduct((rows[0].row,), rows[0].product)
    parent = next(
        (m for m in rows if m.group is None), next((m for m in rows if not m.continues), rows[0])
    )
    product = dict(parent.product)
    variants: list[dict[str, Any]] = list(product.get("variants", ()))
    images: list[dict[str, Any]] = [dict(image) for image in product.get("images", ())]
    for member in rows:
        if member is parent:
            continue
        own = member.product
        if "variants" in own:
            variants += own["variants"]
        elif any(name in own for name in ("identifiers", "price")):
            variants.append(_variant(own, {}))
        seen = {image["url"] for image in images}
        images += [
            {**i, "type": "secondary"} for i in own.get("images", ()) if i["url"] not in seen
        ]
    if variants:
        _inherit_names(variants)
        product["variants"] = variants
        _add_up_stock(product, variants)
    if images:
        images[0]["type"] = "primary"
        product["images"] = images[:_IMAGES]
    order = (parent.row, *(m.row for m in rows if m is not parent))
    if "title" not in product:
        name = next((m.group for m in rows if m.group is not None), "")
        return GroupedProduct(order, product, (problem("VARIANT_WITHOUT_PARENT", value=name),))
    return GroupedProduct(order, product)


def _inherit_names(variants: list[dict[str, Any]]) -> None:
    """Shops name the options in the first row of a product only."""
    names = list(variants[0]["options"])
    for variant in variants[1:]:
        variant["options"] = {
            names[place] if name == f"option {place + 1}" and place < len(names) else name: value
            for place, (name, value) in enumerate(variant["options"].items())
        }


def _add_up_stock(product: dict[str, Any], variants: list[dict[str, Any]]) -> None:
    """The stock of the product is that of all its variants, where each says its own."""
    stocks = [variant.get("availability") or {} for variant in variants]
    counts = [stock.get("quantity") for stock in stocks]
    if len(variants) < 2 or not all(isinstance(count, int) for count in counts):
        return
    best = next((stock for stock in stocks if stock.get("status") == "in_stock"), stocks[0])
    product["availability"] = {**best, "quantity": sum(counts)}
