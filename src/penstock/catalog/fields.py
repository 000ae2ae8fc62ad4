"""The fields of the normalised product, and its JSON Schema."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal[
    "line", "text", "identifier", "gtin", "category", "price", "per_unit", "currency", "unit",
    "pack", "tiers", "step", "percent", "tax_rate", "boolean", "availability", "count", "quantity",
    "lead_time", "date", "datetime", "rating",
    "weight", "length", "dimensions", "url", "images", "tags", "money", "custom", "variants",
    "score", "published", "attributes", "listed_variants", "option_names", "option_values",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Field:
    """``target``: the path in the product, and the name a mapping uses. ``mapped``: a column may
    fill it. ``many``: further columns may add to it, as `images.2`, `images.3` and so on."""

    target: str
    kind: Kind
    description: str
    mapped: bool = True
    many: bool = False
    required: bool = False
    output: bool = True


FIELDS: tuple[Field, ...] = (
    Field("id", "line", "Unique across all sources: source and sourceId joined", mapped=False),
    Field(
        "sourceId", "identifier", "The supplier's own id; else the SKU, GTIN or MPN", required=True
    ),
    Field("source", "line", "Where the product comes from", mapped=False),
    Field("title", "line", "Name of the product", required=True),
    Field("description", "text", "Description as plain text, lines kept"),
    Field("category", "category", "Path of the category, levels joined by ` > `"),
    Field("category.otherwise", "category", "Category of rows without another", output=False),
    Field("brand", "line", "Brand or maker"),
    Field("price.amount", "price", "Price in its original currency, as decimal text"),
    Field("price.currency", "currency", "Original currency, ISO 4217"),
    Field("price.unit", "unit", "What the price is for: piece, kg, 100 g …"),
    Field("price.unit.count", "count", "How many of its unit a price is for", output=False),
    Field("price.base.amount", "money", "Price in the base currency", mapped=False),
    Field("price.base.currency", "currency", "The base currency", mapped=False),
    Field("price.base.rate", "money", "Rate used: base per unit of currency", mapped=False),
    Field("price.base.rateDate", "date", "Day that rate is from", mapped=False),
    Field("price.perUnit", "per_unit", "Price per kg, l, m, m2 or piece"),
    Field("price.tiers", "tiers", "Prices from a quantity up"),
    Field("price.taxIncluded", "boolean", "Whether tax is in the price"),
    Field("price.taxRate", "tax_rate", "Rate of the tax in percent"),
    Field("price.list", "price", "List price, before discounts"),
    Field("price.recommended", "price", "Retail price that the maker recommends: RRP, MSRP, UVP"),
    Field("price.compareAt", "price", "Former price that is shown struck out"),
    Field("price.cost", "price", "What the product costs the shop itself"),
    Field("price.sale", "price", "Reduced price; the usual one is then compareAt", output=False),
    Field("price.salePeriod", "line", "When the reduced price applies", output=False),
    Field("price.discount", "percent", "Discount on the list price in percent"),
    Field("price.discountGroup", "line", "Discount group of the product"),
    Field("price.maxAmount", "money", "Upper end, where the source gave a range", mapped=False),
    Field(
        "price.onRequest",
        "boolean",
        "True where the source names no price on purpose",
        mapped=False,
    ),
    Field("availability.status", "availability", "One of five states"),
    Field("availability.quantity", "quantity", "Pieces in stock"),
    Field("availability.leadTimeDays", "lead_time", "Days until it is delivered"),
    Field("availability.minOrder", "count", "Least quantity one can order"),
    Field("availability.deliveryDate", "date", "Day, month or week from which it is delivered"),
    Field("supplier.id", "identifier", "The supplier's number"),
    Field("supplier.name", "line", "The supplier's name"),
    Field("supplier.rating", "rating", "Stars, 0 to 5"),
    Field("supplier.location", "line", "Where the supplier is"),
    Field("supplier.certifications", "tags", "Certificates the supplier holds", many=True),
    Field("specifications.dimensions", "dimensions", "Sides and their unit"),
    Field("specifications.dimensions.length", "length", "Length alone", output=False),
    Field("specifications.dimensions.width", "length", "Width alone", output=False),
    Field("specifications.dimensions.height", "length", "Height alone", output=False),
    Field("specifications.dimensions.depth", "length", "Depth alone", output=False),
    Field("specifications.dimensions.unit", "unit", "Unit of the sides", output=False),
    Field("specifications.weight", "weight", "Weight and its unit"),
    Field("specifications.weight.unit", "unit", "Unit of the weight", output=False),
    Field("specifications.material", "line", "What it is made of"),
    Field("specifications.pack", "pack", "How many of what size are sold together"),
    Field("specifications.customFields", "custom", "Columns no field is meant for", mapped=False),
    Field("images", "images", "Pictures, the first is primary", many=True),
    Field("images.alt", "line", "Text for those who cannot see the picture", output=False),
    Field("identifiers.sku", "identifier", "Stock keeping unit"),
    Field("identifiers.gtin", "gtin", "GTIN, EAN, UPC or ISBN-13, check digit verified"),
    Field("identifiers.mpn", "identifier", "The maker's part number"),
    Field("variants", "variants", "Variants of the product"),
    Field("variants.group", "identifier", "Handle or parent SKU that variants share", output=False),
    Field(
        "variants.listed",
        "listed_variants",
        "SKUs and options of the variants in other rows",
        output=False,
    ),
    Field(
        "variants.attributes", "attributes", "Names and values: `color=red,size=M`", output=False
    ),
    Field("variants.names", "option_names", "Names of all options of the variant", output=False),
    Field("variants.values", "option_values", "Values of all options of the variant", output=False),
    Field("variants.color", "line", "Colour of the variant", output=False),
    Field("variants.size", "line", "Size of the variant", output=False),
    *(
        Field(f"variants.option{n}.{part}", "line", f"Option {n} of the variant", output=False)
        for n in (1, 2, 3)
        for part in ("name", "value")
    ),
    Field("published", "published", "Whether customers may see the product", many=True),
    Field("unpublished", "published", "Yes for a product that is hidden", output=False),
    Field("metadata.url", "url", "The product's page"),
    Field("metadata.lastUpdated", "datetime", "When the source last changed it"),
    Field("metadata.confidence", "score", "How sure the values are, 0 to 1", mapped=False),
    Field("metadata.tags", "tags", "Key words", many=True),
)

BY_TARGET: dict[str, Field] = {field.target: field for field in FIELDS}
MAPPED: tuple[str, ...] = tuple(field.target for field in FIELDS if field.mapped)
REQUIRED: tuple[str, ...] = tuple(field.target for field in FIELDS if field.required)

_SHORT = {target.rsplit(".", 1)[-1]: target for target in reversed(MAPPED)} | {
    "price": "price.amount", "availability": "availability.status", "supplier": "supplier.name",
    "image": "images", "currency": "price.currency", "unit": "price.unit",
}  # fmt: skip


def full_target(name: str) -> str | None:
    """The target for `sku`, `price`, `images.2` or a whole path; None if unknown."""
    base, _, number = name.rpartition(".")
    if number.isdecimal() and base in BY_TARGET and BY_TARGET[base].many:
        return name
    if TIER_COLUMN.fullmatch(name) or SIZE_COLUMN.fullmatch(name):
        return name
    if name in BY_TARGET:
        return name if BY_TARGET[name].mapped else None
    return _SHORT.get(name)


TIERS = "price.tiers"
# Tiers in separate columns: `price.tiers.10` is the price from ten up, and
# `price.tiers.10.discount` the discount. `price.tiers.step2.quantity` is the quantity
# from which `price.tiers.step2.amount`, or the discount of the step, applies.
TIER_COLUMN = re.compile(
    r"price\.tiers\.(?:(?P<quantity>[0-9]{1,7})(?P<off>\.discount)?"
    r"|step(?P<step>[0-9]{1,3})\.(?P<part>quantity|amount|discount))"
)


# The stock of one size: `variants.sizes.XL`.
SIZE_COLUMN = re.compile(r"variants\.sizes\.(?P<size>[^\s.][^\s]{0,9})")


def kind_of(target: str) -> Kind:
    """The kind of value that a column of this target contains."""
    if SIZE_COLUMN.fullmatch(target):
        return "quantity"
    if not target.startswith(TIERS + "."):
        return field_of(target).kind
    match target.rpartition(".")[2]:
        case "quantity":
            return "step"
        case "discount":
            return "percent"
    return "price"


def field_of(target: str) -> Field:
    """The field that a target adds to: `images` for `images.3`. KeyError if there is none."""
    while target not in BY_TARGET and "." in target:
        target = target.rpartition(".")[0]
    return BY_TARGET[target]


AVAILABILITY_STATES = ("in_stock", "out_of_stock", "limited", "preorder", "backorder")
_AMOUNT = {"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]+)?$"}
_DAY = {"type": "string", "pattern": r"^[0-9]{4}-([0-9]{2}(-[0-9]{2})?|W[0-9]{2})$"}
_SIDE = {"type": "number", "minimum": 0}
_FRAGMENTS: dict[str, dict[str, Any]] = {
    "line": {"type": "string"},
    "text": {"type": "string"},
    "category": {"type": "string"},
    "identifier": {"type": "string"},
    "gtin": {"type": "string", "pattern": "^([0-9]{8}|[0-9]{12,14})$"},
    "price": _AMOUNT,
    "money": _AMOUNT,
    "currency": {"type": "string", "pattern": "^[A-Z]{3}$"},
    "unit": {"type": "string"},
    "per_unit": {
        "type": "object",
        "properties": {"amount": _AMOUNT, "unit": {"type": "string"}},
        "required": ["amount", "unit"],
    },
    "tiers": {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"minQuantity": {"type": "integer", "minimum": 0}, "amount": _AMOUNT},
            "required": ["minQuantity", "amount"],
        },
    },
    "pack": {
        "type": "object",
        "properties": {
            "count": {"type": "integer", "minimum": 1},
            "size": {"type": "number"},
            "unit": {"type": "string"},
            "total": {"type": "number"},
            "totalUnit": {"type": "string"},
        },
        "required": ["count", "unit", "total", "totalUnit"],
    },
    "tax_rate": {"type": "number", "minimum": 0, "maximum": 100},
    "percent": {"type": "number", "minimum": 0, "maximum": 100},
    "boolean": {"type": "boolean"},
    "published": {"type": "boolean"},
    "availability": {"enum": list(AVAILABILITY_STATES)},
    "count": {"type": "integer", "minimum": 0},
    "quantity": {"type": "integer", "minimum": 0},
    "lead_time": {"type": "integer", "minimum": 0},
    "date": _DAY,
    "datetime": {"type": "string"},
    "rating": {"type": "number", "minimum": 0, "maximum": 5},
    "score": {"type": "number", "minimum": 0, "maximum": 1},
    "weight": {
        "type": "object",
        "properties": {"value": _SIDE, "unit": {"type": "string"}},
        "required": ["value"],
    },
    "dimensions": {
        "type": "object",
        "properties": {
            **dict.fromkeys(("length", "width", "height", "depth", "diameter"), _SIDE),
            "unit": {"type": "string"},
        },
        "additionalProperties": False,
    },
    "url": {"type": "string", "format": "uri"},
    "images": {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "url": {"type": "string", "format": "uri"},
                "type": {"enum": ["primary", "secondary"]},
                "alt": {"type": "string"},
            },
            "required": ["url", "type"],
        },
    },
    "tags": {"type": "array", "items": {"type": "string"}},
    "custom": {"type": "object"},
    "variants": {"type": "array", "items": {"type": "object"}},
}


def json_schema() -> dict[str, Any]:
    """JSON Schema of the normalised product."""
    root: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Product",
        "type": "object",
        "properties": {},
        "required": list(REQUIRED),
        "additionalProperties": False,
    }
    for field in FIELDS:
        if not field.output:
            continue
        *parents, name = field.target.split(".")
        level = root
        for parent in parents:
            level = level["properties"].setdefault(
                parent, {"type": "object", "properties": {}, "additionalProperties": False}
            )
        level["properties"][name] = {**_FRAGMENTS[field.kind], "description": field.description}
    return root
