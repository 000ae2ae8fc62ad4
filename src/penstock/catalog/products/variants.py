"""Group rows that are variants of one product, by handle or parent SKU."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from penstock.catalog.fields import SIZE_COLUMN
from penstock.catalog.products.plan import Plan
from penstock.catalog.products.row import NormalisedRow
from penstock.catalog.values.gtin import read_gtin, read_identifier
from penstock.catalog.values.readers import Reader
from penstock.catalog.values.result import Problem, problem

# Fields of a variant; all others belong to the product.
_OWN = ("identifiers", "price", "availability", "sourceId")
_IMAGES = 50
_OPTIONS = (
    *((f"variants.option{n}.name", f"variants.option{n}.value", f"option {n}") for n in (1, 2, 3)),
    ("", "variants.color", "color"),
    ("", "variants.size", "size"),
)
# Attributes in a cell of names and values that are fields of the product.
_ATTRIBUTES = {"manufacturer": "brand", "brand": "brand", "marke": "brand", "marque": "brand"}
_IDENTIFIERS = {
    **dict.fromkeys(("gtin", "ean", "upc", "barcode"), ("gtin", read_gtin)),
    "mpn": ("mpn", read_identifier),
}


def use_attributes(plan: Plan, row: NormalisedRow, parts: dict[str, Any]) -> None:
    """Names and values in one cell: the brand, options of a variant, and custom fields."""
    found: dict[str, str] = dict(parts.get("variants.attributes") or {})
    for name in list(found):
        target = _ATTRIBUTES.get(name.casefold())
        if target is not None and target not in row.product:
            row.product[target] = found.pop(name)
            row.lineage[target] = row.lineage["variants.attributes"]
        name_and_reader = _IDENTIFIERS.get(name.casefold())
        if name_and_reader is not None:
            _add_identifier(row, *name_and_reader, found, name)
    if found:
        specifications = row.product.setdefault("specifications", {})
        specifications["customFields"] = specifications.get("customFields", {}) | found


def _add_identifier(
    row: NormalisedRow, identifier: str, read: Reader, found: dict[str, str], name: str
) -> None:
    """An attribute that is an identifier and can be read as one; others stay attributes."""
    value = read(found[name]).value
    identifiers = row.product.get("identifiers", {})
    if value is not None and identifier not in identifiers:
        row.product["identifiers"] = {**identifiers, identifier: value}
        row.lineage[f"identifiers.{identifier}"] = row.lineage["variants.attributes"]
        del found[name]


def add_variant(plan: Plan, row: NormalisedRow, parts: dict[str, Any]) -> None:
    """Set the row's group and, if the row has options, its variant."""
    if "variants.listed" in parts:
        # The variants are rows of their own, and this row is their parent.
        row.product["variants"] = [
            {"options": options, "identifiers": {"sku": sku}}
            for sku, options in parts["variants.listed"]
        ]
        return
    options = _options(parts)
    if _add_sizes(row, parts, options):
        return
    group = parts.get("variants.group")
    # Some shops write 0 where there is no parent.
    if group in (None, "0") and "variants.listed" in plan.targets:
        # Another row may list this one as its variant.
        group = row.product.get("identifiers", {}).get("sku")
    if group is None or group == "0":
        if options:
            specifications = row.product.setdefault("specifications", {})
            specifications["customFields"] = specifications.get("customFields", {}) | options
        return
    row.group = str(group).removeprefix("id:")
    if "identifiers.sku" not in plan.targets and not plan.is_grouped_by_handle:
        # The variants have no SKU of their own.
        row.product["identifiers"] = {"sku": row.group, **row.product.get("identifiers", {})}
        row.lineage.setdefault("identifiers.sku", row.lineage["variants.group"])
    row.continues = "title" in plan.targets and "title" not in row.product
    if options and options != {"Title": "Default Title"}:
        row.product["variants"] = [_variant(row.product, options)]


def _options(parts: dict[str, Any]) -> dict[str, str]:
    options: dict[str, str] = {}
    for name_part, value_part, name in _OPTIONS:
        value = parts.get(value_part)
        if value is not None:
            options.setdefault(parts.get(name_part) or name, value)
    names: Sequence[str] = parts.get("variants.names") or ()
    values: Sequence[str] = parts.get("variants.values") or ()
    if len(names) == len(values):
        options |= dict(zip(names, values, strict=True))
    return options


def _add_sizes(row: NormalisedRow, parts: dict[str, Any], options: dict[str, str]) -> bool:
    """One variant for each size that has a stock in its own column."""
    counts = {
        found["size"]: count
        for target, count in parts.items()
        if (found := SIZE_COLUMN.fullmatch(target)) and isinstance(count, int)
    }
    if not counts:
        return False
    price = row.product.get("price")
    variants = []
    for size, count in counts.items():
        status = "in_stock" if count else "out_of_stock"
        variant: dict[str, Any] = {"options": {**options, "size": size}}
        if price is not None:
            variant["price"] = dict(price)
        variants.append({**variant, "availability": {"status": status, "quantity": count}})
    row.product["variants"] = variants
    if "quantity" not in row.product.get("availability", {}):
        _add_up_stock(row.product, variants, least=1)
    return True


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

    A row without a group whose SKU or id others name as their group is their parent, and so is a
    row that lists their SKUs as its variants.
    """
    taken = list(members)
    named = {member.group for member in taken if member.group is not None}
    parents = {
        sku: f"p{member.row}"
        for member in taken
        if member.group is None
        for sku in listed_skus(member.product)
        if sku in named
    }
    families: dict[str, list[VariantRow]] = {}
    for member in taken:
        families.setdefault(_group_key(member, named, parents), []).append(member)
    return [_grouped(rows) for rows in families.values()]


def listed_skus(product: Mapping[str, Any]) -> list[str]:
    """The SKUs of a product's variants."""
    skus = (one.get("identifiers", {}).get("sku") for one in product.get("variants", ()))
    return [sku for sku in skus if sku]


def _group_key(member: VariantRow, named: set[str], parents: dict[str, str]) -> str:
    if member.group is not None:
        return parents.get(member.group, "g" + member.group)
    own_variants = (parents[sku] for sku in listed_skus(member.product) if sku in parents)
    if (own := next(own_variants, None)) is not None:
        return own
    for name in (member.product.get("identifiers", {}).get("sku"), member.product.get("sourceId")):
        if name in named:
            return "g" + str(name)
    return f"r{member.row}"


def _grouped(rows: list[VariantRow]) -> GroupedProduct:
    if len(rows) == 1 and not rows[0].continues:
        return GroupedProduct((rows[0].row,), rows[0].product)
    parent = next(
        (m for m in rows if m.group is None), next((m for m in rows if not m.continues), rows[0])
    )
    product = dict(parent.product)
    variants: list[dict[str, Any]] = [dict(one) for one in product.get("variants", ())]
    images: list[dict[str, Any]] = [dict(image) for image in product.get("images", ())]
    for member in rows:
        if member is parent:
            continue
        own = member.product
        if not _complete_listed(variants, own):
            if "variants" in own:
                # A row that the file has twice is one variant.
                variants += [one for one in own["variants"] if one not in variants]
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
        _take_price(product, variants)
    if images:
        images[0]["type"] = "primary"
        product["images"] = images[:_IMAGES]
    order = (parent.row, *(m.row for m in rows if m is not parent))
    if "title" not in product:
        name = next((m.group for m in rows if m.group is not None), "")
        return GroupedProduct(order, product, (problem("VARIANT_WITHOUT_PARENT", value=name),))
    return GroupedProduct(order, product)


def _complete_listed(variants: list[dict[str, Any]], own: dict[str, Any]) -> bool:
    """Add the fields of a row to the variant that its parent lists with the same SKU."""
    sku = own.get("identifiers", {}).get("sku")
    for variant in variants if sku else ():
        if variant.get("identifiers") == {"sku": sku} and "price" not in variant:
            variant |= _variant(own, variant["options"])
            return True
    return False


def _take_price(product: dict[str, Any], variants: Sequence[dict[str, Any]]) -> None:
    """A parent without a price, or with 0, has the price of its first variant that has one."""
    if product.get("price", {}).get("amount", "0").strip("0.") or "onRequest" in product.get(
        "price", {}
    ):
        return
    price = next((one["price"] for one in variants if one.get("price", {}).get("amount")), None)
    if price is not None:
        product["price"] = {**product.get("price", {}), **price}


def _inherit_names(variants: list[dict[str, Any]]) -> None:
    """Shops name the options in the first row of a product only."""
    names = list(variants[0]["options"])
    for variant in variants[1:]:
        variant["options"] = {
            names[place] if name == f"option {place + 1}" and place < len(names) else name: value
            for place, (name, value) in enumerate(variant["options"].items())
        }


def _add_up_stock(
    product: dict[str, Any], variants: Sequence[dict[str, Any]], least: int = 2
) -> None:
    """The stock of the product is that of all its variants, where each says its own."""
    stocks = [variant.get("availability") or {} for variant in variants]
    counts = [stock.get("quantity") for stock in stocks]
    if len(variants) < least or not all(isinstance(count, int) for count in counts):
        return
    best = next((stock for stock in stocks if stock.get("status") == "in_stock"), stocks[0])
    product["availability"] = {**best, "quantity": sum(counts)}
