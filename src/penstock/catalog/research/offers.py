"""An offer of a source as deduplication sees it: identifiers, words and measures of its title."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any

from penstock.catalog.values.gtin import is_in_store, match_key
from penstock.catalog.word_lists import by_word, load
from penstock.catalog.word_lists import words as words_in

_WORD = re.compile(r"[^\W_]+")
_CODE = re.compile(r"[^a-z0-9]")
_UNIT = (
    r"(mm2|mm|cm|m2|m|km|ml|cl|l|mg|g|kg|w|kw|v|a|ah|mah|wh|hz|k|gb|tb|mb|pcs|pc|pieces|piece|stk"
    r"|pack|er)(?![a-z0-9])"
)
# `250ml` is written as `250 ml`, so that `4x40mm` and `4 x 40 mm` have the same parts.
_GLUED = re.compile(rf"(?<=\d){_UNIT}")
# `1,5 l`, `250 ml`, `12-pack`.
_MEASURE = re.compile(rf"(?<![a-z0-9.,])(\d{{1,12}}(?:[.,]\d{{1,12}})?) {{0,3}}-? {{0,3}}{_UNIT}")
_TIMES = re.compile(r"(?<=\d) {0,3}[x×*] {0,3}(?=\d)")
_NUMBER = re.compile(r"(?<![a-z0-9.,])[a-z]{0,2}\d+(?:[.,/]\d+)?(?:x\d+(?:[.,]\d+)?)*(?![a-z0-9])")
# Factors to one unit of each kind of measure.
_UNITS: dict[str, tuple[str, Decimal]] = {
    "mm": ("mm", Decimal(1)), "cm": ("mm", Decimal(10)), "m": ("mm", Decimal(1000)),
    "km": ("mm", Decimal(1_000_000)), "ml": ("ml", Decimal(1)), "cl": ("ml", Decimal(10)),
    "l": ("ml", Decimal(1000)), "mg": ("mg", Decimal(1)), "g": ("mg", Decimal(1000)),
    "kg": ("mg", Decimal(1_000_000)), "w": ("w", Decimal(1)), "kw": ("w", Decimal(1000)),
    "mm2": ("mm2", Decimal(1)), "m2": ("mm2", Decimal(1_000_000)), "k": ("k", Decimal(1)),
    "v": ("v", Decimal(1)), "a": ("a", Decimal(1)), "mah": ("mah", Decimal(1)),
    "ah": ("mah", Decimal(1000)), "wh": ("wh", Decimal(1)), "hz": ("hz", Decimal(1)),
    "mb": ("mb", Decimal(1)), "gb": ("mb", Decimal(1024)), "tb": ("mb", Decimal(1024 * 1024)),
    **dict.fromkeys(("pcs", "pc", "pieces", "piece", "stk", "pack", "er"), ("pcs", Decimal(1))),
}  # fmt: skip
# Words that tell variants of one product apart, by what they say.
_WORDS = load("attributes")
_COLOURS, _MATERIALS = by_word(_WORDS["colours"]), by_word(_WORDS["materials"])
_SIZES, _STOP = words_in(_WORDS["sizes"]), words_in(_WORDS["stop words"])


@dataclass(frozen=True, slots=True)
class OfferKeys:
    """What offers are compared by. ``index`` is the position in the list that was given."""

    index: int
    source: str
    gtin: str | None
    brand: str
    mpn: str
    words: frozenset[str]
    text: str
    measures: frozenset[tuple[str, Decimal]]
    numbers: frozenset[str]
    colours: frozenset[str]
    materials: frozenset[str]
    sizes: frozenset[str]
    price: Decimal | None


def all_keys(products: Sequence[Mapping[str, Any]]) -> list[OfferKeys]:
    """The keys of offers. An offer without a brand has the one that its title names, if another
    offer of the list is of that brand."""
    brands = {code(str(one.get("brand") or "")) for one in products} - {""}
    return [keys_of(index, product, brands) for index, product in enumerate(products)]


def keys_of(index: int, product: Mapping[str, Any], brands: Collection[str] = ()) -> OfferKeys:
    names = product.get("identifiers", {})
    gtin = names.get("gtin")
    plain = folded(str(product.get("title") or "")).replace("²", "2")
    measured = _GLUED.sub(r" \1", _TIMES.sub("x", plain))
    words = _words(measured)
    brand = code(str(product.get("brand") or "")) or next(
        (code(word) for word in words if len(word) > 2 and code(word) in brands), ""
    )
    kept = [_meaning(word) for word in words if word not in _STOP and code(word) != brand]
    return OfferKeys(
        index,
        str(product.get("source") or ""),
        None if gtin is None or is_in_store(gtin) else match_key(gtin),
        brand,
        code(str(names.get("mpn") or "")),
        frozenset(kept),
        " ".join(kept),
        _measures(measured),
        frozenset(_NUMBER.findall(_MEASURE.sub(" ", measured).replace(",", "."))),
        frozenset(_COLOURS[word] for word in words if word in _COLOURS),
        frozenset(_MATERIALS[word] for word in words if word in _MATERIALS),
        frozenset(word for word in words if word in _SIZES),
        _price(product),
    )


def _meaning(word: str) -> str:
    """The same word for the same colour or material."""
    return _COLOURS.get(word) or _MATERIALS.get(word) or word


@lru_cache(maxsize=20_000)
def folded(text: str) -> str:
    """Small letters without accents: `Größe` and `GROSSE` are the same."""
    split = unicodedata.normalize("NFKD", text[:400].casefold())
    return "".join(one for one in split if not unicodedata.combining(one))


@lru_cache(maxsize=20_000)
def code(text: str) -> str:
    """Letters and digits alone: `AB-12/3` and `ab 123` are the same."""
    return _CODE.sub("", folded(text))


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(_WORD.findall(text.replace("-", " "))))


def _measures(text: str) -> frozenset[tuple[str, Decimal]]:
    found = set()
    for amount, unit in _MEASURE.findall(text):
        kind, factor = _UNITS[unit]
        found.add((kind, (Decimal(amount.replace(",", ".")) * factor).normalize()))
    return frozenset(found)


def _price(product: Mapping[str, Any]) -> Decimal | None:
    """In the base currency, so that prices can be compared."""
    price = product.get("price", {})
    told = price.get("base", {}).get("amount")
    try:
        return None if told is None else Decimal(told)
    except InvalidOperation:
        return None
