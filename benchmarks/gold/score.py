"""Compare the products of a file with its truth, cell by cell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from benchmarks.gold.case import Truth

Product = dict[str, Any]


def _at(path: str) -> Callable[[Product], str]:
    def read(product: Product) -> str:
        found: Any = product
        for name in path.split("."):
            found = found.get(name) if isinstance(found, dict) else None
        return _text(found)

    return read


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _measure(product: Product) -> str:
    weight = product.get("specifications", {}).get("weight") or {}
    return f"{_text(weight.get('value'))} {weight.get('unit', '')}".strip()


def _tiers(product: Product) -> str:
    tiers = product.get("price", {}).get("tiers", ())
    return " ".join(f"{one['minQuantity']}:{one['amount']}" for one in tiers)


def _variants(product: Product) -> str:
    return "; ".join(map(_variant, product.get("variants", ())))


def _variant(variant: Product) -> str:
    """`SKU option=value price x stock`, as far as the variant has them."""
    parts = [_at("identifiers.sku")(variant)]
    parts += sorted(f"{name}={value}" for name, value in variant.get("options", {}).items())
    parts.append(_at("price.amount")(variant))
    stock = _at("availability.quantity")(variant)
    return " ".join([part for part in parts if part] + ([f"x{stock}"] if stock else []))


def _sorted_options(text: str) -> str:
    """The truth with the options of each variant in the order of their names."""
    variants = []
    for variant in filter(None, text.split("; ")):
        words = variant.split(" ")
        options = sorted(word for word in words if "=" in word)
        at = next((n for n, word in enumerate(words) if "=" in word), 0)
        rest = [word for word in words if "=" not in word]
        variants.append(" ".join([*rest[:at], *options, *rest[at:]]))
    return "; ".join(variants)


FIELDS: dict[str, Callable[[Product], str]] = {
    "id": _at("sourceId"), "sku": _at("identifiers.sku"), "gtin": _at("identifiers.gtin"),
    "mpn": _at("identifiers.mpn"), "title": _at("title"), "brand": _at("brand"),
    "category": _at("category"), "price": _at("price.amount"), "cur": _at("price.currency"),
    "unit": _at("price.unit"), "tax": _at("price.taxRate"), "gross": _at("price.taxIncluded"),
    "list": _at("price.list"), "rrp": _at("price.recommended"), "was": _at("price.compareAt"),
    "cost": _at("price.cost"), "dgroup": _at("price.discountGroup"), "tiers": _tiers,
    "stock": _at("availability.quantity"), "status": _at("availability.status"),
    "lead": _at("availability.leadTimeDays"), "min": _at("availability.minOrder"),
    "supplier": _at("supplier.name"), "weight": _measure, "url": _at("metadata.url"),
    "image": lambda product: next((one["url"] for one in product.get("images", ())), ""),
    "images": lambda product: str(len(product.get("images", ()))),
    "published": lambda product: "no" if product.get("published") is False else "yes",
    "variants": _variants,
}  # fmt: skip
# Fields by which a product is found, the surest first.
_KEYS = ("sku", "id", "gtin", "title")


class Score(NamedTuple):
    right: int
    cells: int
    misses: tuple[str, ...]


def score(found: Sequence[Product], truth: Truth) -> Score:
    """A cell is right if its text is that of the truth. A product too many counts as many wrong
    cells as a product of the truth has."""
    right = cells = 0
    misses: list[str] = []
    rest = list(found)
    for wanted in truth:
        product = _find(rest, wanted)
        if product is not None:
            rest.remove(product)
        for name, value in wanted.items():
            cells += 1
            got = None if product is None else FIELDS[name](product)
            if got == (_sorted_options(value) if name == "variants" else value):
                right += 1
            else:
                key = wanted.get("sku") or wanted.get("id") or ""
                misses.append(f"{key} {name}: {got!r}, not {value!r}")
    for product in rest:
        cells += len(truth[0])
        misses.append(f"a product too many: {product.get('title')!r} {product.get('sourceId')!r}")
    return Score(right, cells, tuple(misses))


def _find(products: Sequence[Product], wanted: dict[str, str]) -> Product | None:
    for name in _KEYS:
        for product in products:
            if wanted.get(name) and FIELDS[name](product) == wanted[name]:
                return product
    return None
