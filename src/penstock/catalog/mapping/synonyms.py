"""Fields that a header may mean, and what else the header says: unit, currency, tax."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from penstock.catalog.fields import BY_TARGET, TIERS, kind_of
from penstock.catalog.mapping.header_words import (
    canonical,
    path_ends,
    with_number_signs,
    without_brackets,
    without_locale,
)
from penstock.catalog.mapping.price_per import read_price_per
from penstock.catalog.mapping.quantity_steps import read_quantity_step
from penstock.catalog.values import price_words
from penstock.catalog.values.currencies import CODES, TOKEN, currency_of
from penstock.catalog.values.unit_names import KINDS
from penstock.catalog.values.units import unit_of
from penstock.catalog.word_lists import by_word, entries, load, phrases, words

MAX_HEADER_LENGTH = 200
MIN_ABBREVIATION = 5
# Letters of an abbreviated word among others.
MIN_WORD_START = 3

# `P.V.P.` has none.
_NAMESPACE = re.compile(r"^(?:(?:g|s|pim|[pP]roduct|attributes?|meta)[:.]|[cCP]:)(?=[a-zA-Z])")
_SMALL, _LARGE = (
    "".join(char for char in map(chr, range(0x41, 0x530)) if is_case(char))
    for is_case in (str.islower, str.isupper)
)
# `barcodeEan`, `СтавкаНДС`, and `EANCode`.
_CAMEL = re.compile(rf"(?<=[{_SMALL}][{_SMALL}])(?=[{_LARGE}])|(?<=[A-Z][A-Z])(?=[A-Z][a-z][a-z])")
_NOT_WORDS = re.compile(r"[\W_]+")
_DIGIT_EDGE = re.compile(r"(?<=[^\W\d])(?=\d)|(?<=\d)(?=[^\W\d])")
_BRACKETS = re.compile(r"[(\[{]([^()\[\]{}]{1,20})[)\]}]")
_LISTS = load("header_words")
_PLATFORMS = load("platforms")
_PLATFORM_MARKS = load("platform_marks")
_PREFIXES = words(_LISTS["prefixes"])
_JOINING = words(_LISTS["before a unit"])
_SKIPPED_WORDS = words(_LISTS["tax"])
_PRICE_GROUPS = words(_LISTS["groups of prices"])
_PRODUCT_GROUPS = words(_LISTS["groups of product data"])
_GROUPS = words(_LISTS["groups of columns"])
_TOO_GENERAL = words(_LISTS["too general below groups"])
_NOT_BELOW_OTHERS = words(_LISTS["too general below other groups"])
_JOINING_GROUPS = _JOINING | words(_LISTS["joining"]) | {"w", "v", "i", "a", "на", "в", "u", "s"}


_UNMISTAKABLE = words(load("currencies")["unmistakable codes"])
_FINNISH_UNITS = words(_LISTS["columns of units in Finnish"])
_TERMS_OF_DELIVERY = words(_LISTS["terms of delivery"])
_MONEY_WORDS = by_word(_LISTS["currencies"])
# Headers with these words are prices for one piece.
_EACH = words(_LISTS["price of one piece"])

# `Netto €/PE`: the price is for what the columns of units say.
_PER_ANY_UNIT = re.compile(
    rf"(?<=[€$£A-Z])\s?/\s?(?i:{'|'.join(sorted(words(_LISTS['any unit'])))})\.?\s*$"
)
_PARTED = re.compile(r"(?<=[^\W\d_])-\s+(?=[^\W\d_])")

# The confidence of a name by its mark in the word lists.
_STRENGTHS = {"?": 0.75, "~": 0.97, "^": 0.7}


# Confidence factors of partial matches.
_WRITTEN_OUT, _LAST_MEMBER, _WITHOUT_BRACKETS = 0.93, 0.9, 0.9
_BELOW_GROUP = 0.92
_KINDS_OF_TEXT = ("line", "text", "category", "identifier", "gtin", "images", "tags")


class Candidate(NamedTuple):
    target: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Hints:
    """What a header says besides its field: `Preis netto (EUR)`, `Weight [g]`."""

    currency: str | None = None
    unit: str | None = None
    tax_included: bool | None = None

    def for_kind(self, kind: str) -> Hints:
        """The hints that apply to a field of this kind."""
        of_money = kind in _MONEY
        measures = KINDS.get((self.unit or "").rpartition(" ")[2])
        return Hints(
            self.currency if of_money else None,
            self.unit if of_money or measures in _UNITS.get(kind, ()) else None,
            self.tax_included if kind == "price" else None,
        )


_MONEY = ("price", "per_unit", "tiers")
# Kinds of units that a header can give to a kind of field; a price can be per any unit.
_UNITS = {
    "weight": ("mass",), "length": ("length",), "dimensions": ("length",), "lead_time": ("time",),
    "pack": ("mass", "volume", "length", "area"),
}  # fmt: skip


def header_key(header: str) -> str:
    """Equal for headers that differ only in case, accents, punctuation and camel case."""
    text = _NAMESPACE.sub("", unicodedata.normalize("NFKC", header[:MAX_HEADER_LENGTH]).strip())
    text = unicodedata.normalize("NFD", _CAMEL.sub(" ", text).casefold())
    text = "".join(c for c in text if not unicodedata.combining(c))
    return " ".join(_DIGIT_EDGE.sub(" ", _NOT_WORDS.sub(" ", text)).split())


def names_handle(header: str) -> bool:
    """`Handle`, `Product Handle`: a product's name in addresses, which all its rows have."""
    return header_key(header).split()[-1:] == ["handle"]


def names_several_categories(header: str) -> bool:
    """`categories`, `Categories (x,y,z...)`: the name of shop systems for a list of categories."""
    return header_key(header) in ("categories", "categories x y z", "product categories")


def names_finnish_unit(header: str) -> bool:
    """`Yksikkö`, `Yks.`: a column of units in a Finnish list."""
    return not _FINNISH_UNITS.isdisjoint(header_key(header).split())


@cache
def known_names() -> dict[str, dict[str, float]]:
    """The fields that each known name means, with their confidence."""
    index: dict[str, dict[str, float]] = {}
    for target in BY_TARGET:
        if BY_TARGET[target].mapped:
            index.setdefault(header_key(target), {})[target] = 1.0
            last = header_key(target.rsplit(".", 1)[-1])
            if " " in last:  # "minOrder" is clear without its parent, "name" and "id" are not
                index.setdefault(last, {}).setdefault(target, 0.9)
    lists = (
        load("synonyms"),
        load("synonyms_europe"),
        load("synonyms_world"),
        load("synonyms_systems"),
        load("synonyms_logistics"),
        load("synonyms_trades"),
        load("synonyms_databases"),
    )
    for target, names in (pair for one in lists for pair in one.items()):
        for name in phrases(names):
            strength = _STRENGTHS.get(name[-1], 1.0)
            found = index.setdefault(header_key(name), {})
            found[target] = max(found.get(target, 0.0), strength)
    # The common meaning of a word wins over its meaning on one platform.
    common = frozenset(index)
    for platform in _PLATFORMS:
        for key, target in _platform_names(platform):
            if key not in common and target not in (_NO_FIELD, "published"):
                index.setdefault(key, {}).setdefault(target, 0.9)
    return index


@cache
def _canonical_index() -> dict[str, dict[str, float]]:
    """The same index by canonical keys."""
    index: dict[str, dict[str, float]] = {}
    for key, targets in known_names().items():
        found = index.setdefault(canonical(key), {})
        for target, strength in targets.items():
            if (
                target != TIERS
            ):  # `ARTICLE_PRICE` of BMEcat is a list of prices, `art_preis` is not.
                found[target] = max(found.get(target, 0.0), strength)
    index.pop("", None)
    return index


@cache
def keys() -> tuple[str, ...]:
    """All known names that are long enough for fuzzy comparison."""
    return tuple(key for key in known_names() if len(key) >= 5)


@cache
def _platform_keys(platform: str) -> dict[str, str]:
    return dict(_platform_names(platform))


def _platform_names(platform: str) -> Iterator[tuple[str, str]]:
    for target, names in entries(_PLATFORMS[platform]):
        for name in phrases(names):
            yield header_key(name), target
    for name in phrases(_PLATFORM_MARKS.get(platform, "")):
        yield header_key(name), _NO_FIELD


# The target of names that tell a platform but fill no field.
_NO_FIELD = "ignore"


def platform_of(headers: Sequence[str]) -> str | None:
    """The platform that most of these headers come from, if it is clear."""
    found = {header_key(header) for header in headers}
    best, most = None, 5
    for platform in _PLATFORMS:
        hits = len(found & _platform_keys(platform).keys())
        if hits > most and hits * 4 >= len(found):
            best, most = platform, hits
    return best


def platform_fields(platform: str) -> frozenset[str]:
    """The fields that files of the platform may fill."""
    return frozenset(_platform_keys(platform).values())


def fills_no_field(header: str, platform: str) -> bool:
    """Whether the platform has a column of this name that no field is meant for."""
    return _platform_keys(platform).get(header_key(header)) == _NO_FIELD


def is_own_name(header: str, platform: str) -> bool:
    """Whether the platform has a column of this name."""
    return header_key(header) in _platform_keys(platform)


def exact(key: str) -> dict[str, float]:
    """Fields with exactly this name, with their confidence."""
    found = known_names().get(key)
    if found is None and ("ae" in key or "oe" in key or "ue" in key or "aa" in key):
        found = known_names().get(_without_digraphs(key))
        found = found or known_names().get(key.replace("ae", "æ").replace("oe", "ø"))
    return found or {}


def _without_digraphs(key: str) -> str:
    """`lagerstuecke` and `paa lager` as they are without dots and rings: `lagerstucke`."""
    for two, one in (("ae", "a"), ("oe", "o"), ("ue", "u"), ("aa", "a")):
        key = key.replace(two, one)
    return key


def candidates(header: str, platform: str | None = None) -> tuple[list[Candidate], Hints]:
    """Fields that the header may mean, the most likely first, and its hints."""
    hints, bare = read_hints(header)
    best = _fields_named(header_key(header), bare)
    alone = currency_of(header.strip(" ()[]")) if len(header) < 8 else None
    if alone is not None and not best:
        # A column named `EUR` contains prices in that currency.
        best, hints = {"price.amount": 0.8}, Hints(alone.currency)
    elif not best and hints.currency and _says_only_money(bare):
        # So does one named `Netto €` or `EUR/100`.
        best = {"price.amount": 0.85}
    elif not best and _names_terms_of_delivery(bare):
        best = {"price.amount": 0.8}
    if "variants.size" in best and KINDS.get(hints.unit or "") == "length":
        # `Size (mm)` is how large the product is.
        best["specifications.dimensions"] = best.pop("variants.size")
    if path_ends(header) and exact(header_key(header.rpartition(".")[2])).keys() == {
        "price.taxRate"
    }:
        # `PRODUCT_PRICE.TAX` is no price with tax.
        best = {"price.taxRate": _LAST_MEMBER}
    if (step := _step_of_tiers(header)) is not None:
        best = {step.target: step.confidence}
    elif not best:
        best = _partial_match(header)
    if platform is not None:
        own = _platform_keys(platform).get(header_key(header))
        # In a file of a known platform its own names come first.
        best = {target: value * 0.95 for target, value in best.items()}
        if own == _NO_FIELD:
            best = {}
        elif own is not None:
            best[own] = 1.0
    ordered = sorted(best.items(), key=lambda pair: -pair[1])
    return [Candidate(target, round(value, 3)) for target, value in ordered], hints


def _says_only_money(bare: str) -> bool:
    return all(word in _SKIPPED_WORDS or word.upper() in CODES for word in bare.split())


def _names_terms_of_delivery(bare: str) -> bool:
    """`FOB Ningbo`: terms of delivery, with a place."""
    first, *place = bare.split()[:4] or [""]
    return first in _TERMS_OF_DELIVERY and len(place) < 3


def _fields_named(key: str, bare: str) -> dict[str, float]:
    """Targets for each reading of a key; canonical keys only if nothing else matches."""
    best: dict[str, float] = {}
    ways = _readings(key, bare)
    for one, factor in ways:
        for target, strength in exact(one).items():
            best[target] = max(best.get(target, 0.0), strength * factor)
        numbered = _numbered_field(one)
        if numbered is not None:
            best[numbered.target] = max(
                best.get(numbered.target, 0.0), numbered.confidence * factor
            )
    if not best:
        for one, factor in ways:
            if (whole := canonical(one)) == one:
                continue  # Nothing was expanded: `Sales` is not the word for it elsewhere.
            for target, strength in _canonical_index().get(whole, {}).items():
                best[target] = max(best.get(target, 0.0), strength * factor * _WRITTEN_OUT)
    return best


def _step_of_tiers(header: str) -> Candidate | None:
    """`Preis ab 10 Stk.`, `100+`, `Price (from 50)`: the price from a quantity up."""
    step = read_quantity_step(header[:MAX_HEADER_LENGTH])
    if step is None or not step.says_from:
        return None
    if step.is_discount:
        return Candidate(f"{TIERS}.{step.low}.discount", 0.95)
    return Candidate(f"{TIERS}.{step.low}" if step.low > 1 else "price.amount", 0.95)


def _partial_match(header: str) -> dict[str, float]:
    """`Levertijd (dagen)`, `ARTICLE_DETAILS.EAN`, `Item #`: a shorter or longer form is known."""
    parts = [(end, _LAST_MEMBER) for end in path_ends(header)]
    if (rest := without_brackets(header)) is not None:
        parts.append((rest, _WITHOUT_BRACKETS))
    if "#" in header:
        parts.append((with_number_signs(header), 1.0))
    if "- " in header or "-\n" in header:
        # A word that was hyphenated at the end of a line.
        parts.append((_PARTED.sub("", header), 1.0))
    if (whole := _written_out(header) or _words_written_out(header)) is not None:
        parts.append((whole, _WITHOUT_BRACKETS))
    if (stem := without_locale(header)) is not None:
        parts.append((stem, _WITHOUT_BRACKETS))
    for part, factor in parts:
        if best := _fields_named(header_key(part), read_hints(part)[1]):
            return {target: value * factor for target, value in best.items()}
    return _below_group(header) or _alternatives(header)


def _alternatives(header: str) -> dict[str, float]:
    """`Material/Bezug`, `Marke / Hersteller`: the field of texts that the first name means, if the
    second does not mean another one. `Preis/Einheit` is none of these."""
    names = [name for name in header.split("/") if name.strip()]
    if len(names) != 2 or header.count("/") != 1:
        return {}
    best, other = (exact(header_key(name)) for name in names)
    if other and other.keys().isdisjoint(best):
        return {}
    return {
        target: value * _LAST_MEMBER
        for target, value in best.items()
        if kind_of(target) in _KINDS_OF_TEXT
    }


def _written_out(header: str) -> str | None:
    """`Lagerbest.` as the shortest known name that begins so; None if they mean several fields."""
    if not header.rstrip().endswith("."):
        return None
    start = header_key(header)
    if len(start) < MIN_ABBREVIATION:
        return None
    known = sorted((key for key in known_names() if key.startswith(start)), key=len)
    if len({tuple(sorted(known_names()[key])) for key in known}) != 1:
        return None
    return known[0]


_WORD_AND_DOT = re.compile(r"([^\W\d_]+)(\.?)")


def _words_written_out(header: str) -> str | None:
    """`Frei verw. Bestand` as the known name whose words begin so; None if several fields do."""
    parts = [(header_key(word), dot) for word, dot in _WORD_AND_DOT.findall(header)]
    if len(parts) < 2 or not any(dot and len(word) >= MIN_WORD_START for word, dot in parts):
        return None
    found = [
        key
        for key in known_names()
        if len(names := key.split()) == len(parts)
        and all(
            name == word or (dot and len(word) >= MIN_WORD_START and name.startswith(word))
            for name, (word, dot) in zip(names, parts, strict=True)
        )
    ]
    same = len({tuple(sorted(known_names()[key])) for key in found}) == 1
    return found[0] if same else None


def _below_group(header: str) -> dict[str, float]:
    """`Preise in EUR / VK netto`: the name below the name of a group of columns."""
    names = header_key(header).split()
    about_prices, about_product = False, True
    for at, name in enumerate(names[:-1], start=1):
        of_prices, of_product = name in _PRICE_GROUPS, name in _PRODUCT_GROUPS
        about_prices = about_prices or of_prices
        about_product = about_product and of_product
        helps = name in _JOINING_GROUPS or name.upper() in CODES or name in _MONEY_WORDS
        is_group = of_prices or of_product or name in _GROUPS
        if not (is_group or (at > 1 and (helps or name in _SKIPPED_WORDS))):
            return {}
        rest = " ".join(names[at:])
        if name in _JOINING_GROUPS or (
            not about_product and not _TOO_GENERAL.isdisjoint((rest, canonical(rest)))
        ):
            continue
        if not (about_product or about_prices) and canonical(rest) in _NOT_BELOW_OTHERS:
            continue
        if about_prices and all(word in _SKIPPED_WORDS for word in names[at:]):
            return {"price.amount": _BELOW_GROUP}
        if best := _fields_named(rest, read_hints(rest)[1]):
            return {
                target: value * _BELOW_GROUP
                for target, value in best.items()
                # `Price Stock` is the price of what is in stock.
                if about_product or not about_prices or target.startswith("price.")
            }
    return {}


def _readings(key: str, bare: str) -> list[tuple[str, float]]:
    ways = [(key, 1.0)]
    if bare and bare != key:
        ways.append((bare, 0.98))
    for text, factor in tuple(ways):
        first, _, rest = text.partition(" ")
        if rest and (first in _PREFIXES or (first in _SKIPPED_WORDS and " " in rest)):
            ways.append((rest, factor * 0.95))
    return ways


def _numbered_field(key: str) -> Candidate | None:
    """`image 2`, `additional image 3 url`: further columns of a field that takes several."""
    words = key.split()
    places = [i for i, word in enumerate(words) if word.isdecimal() and len(word) < 3]
    if len(places) != 1 or len(words) < 2:
        return None
    number = int(words[places[0]])
    rest = " ".join(word for i, word in enumerate(words) if i != places[0])
    for target, strength in exact(rest).items():
        if target in BY_TARGET and BY_TARGET[target].many:
            return Candidate(target if number <= 1 else f"{target}.{number}", strength * 0.97)
    return None


def read_hints(header: str) -> tuple[Hints, str]:
    """Unit, currency and tax in a header, and its key without them."""
    text = unicodedata.normalize("NFKC", header[:MAX_HEADER_LENGTH])
    per = read_price_per(text)
    text = per.rest if per is not None else _PER_ANY_UNIT.sub(" ", text)
    tax: bool | None = None
    if price_words.TAX_EXCLUDED.search(text):
        tax = False
    elif price_words.TAX_INCLUDED.search(text):
        tax = True
    symbol = TOKEN.search(text) if any(c in text for c in "€$£¥") else None
    found = currency_of(symbol.group()) if symbol else None
    currency = found.currency if found else None
    unit = per.unit if per is not None else None
    for inside in _BRACKETS.findall(text):
        unit = unit or _measure_unit(inside)
        sign = currency_of(inside.strip()) if currency is None and len(inside) < 6 else None
        # `Harga (Rp)`
        currency = sign.currency if sign is not None and unit is None else currency
    words = _without_zero_rate(header_key(text).split())
    if len(words) > 1 and text.lstrip()[:3] in _UNMISTAKABLE and words[0].upper() in CODES:
        # `USD Unit Price`
        currency, words = currency or words[0].upper(), words[1:]
    kept = words[:1] + [word for word in words[1:] if word not in _SKIPPED_WORDS]
    codes = [word.upper() for word in kept[per is None :] if word.upper() in CODES]
    codes += [_MONEY_WORDS[word] for word in kept[1:] if word in _MONEY_WORDS]
    if codes and currency is None:
        currency = codes[0]
    said = {currency, *(word for word, code in _MONEY_WORDS.items() if code == currency)}
    kept = [w for i, w in enumerate(kept) if i == 0 or (w.upper() not in said and w not in said)]
    if words[-1:] == ["in"] and len(words) > 1:
        # "in" at the end means inches.
        unit = unit or "in"
    if per is None:
        unit = _remove_unit(kept, unit)
    while per is not None and len(kept) > 1 and kept[-1] in _JOINING:
        kept.pop()
    if unit is None and (_EACH.intersection(words) or words[:2] == ["unit", "price"]):
        unit = "piece"
    return Hints(currency, unit, tax), " ".join(kept)


def _without_zero_rate(names: list[str]) -> list[str]:
    """`Nettohinta alv 0 %` without the rate of the tax."""
    return [
        name
        for index, name in enumerate(names)
        if name != "0" or not index or names[index - 1] not in _SKIPPED_WORDS
    ]


def _remove_unit(kept: list[str], unit: str | None) -> str | None:
    """Remove the unit at the end of a header with its preposition: `Gewicht in g`, `je 100 g`.
    A header of single letters is left as it is."""
    if len(kept) == 1:
        return unit or _measure_unit(kept[0])
    while len(kept) > 1 and (len(kept) > 2 or len(kept[0]) > 1):
        found = None if kept[-1] in _JOINING else _measure_unit(kept[-1])
        if found is not None and unit in (None, found):
            unit = found
        elif unit is not None and kept[-1].isdecimal() and kept[-1] != "1":
            unit = f"{kept[-1]} {unit}"
        elif kept[-1] not in _JOINING and kept[-1] != "1":
            break
        kept.pop()
    return unit


def _measure_unit(word: str) -> str | None:
    """The unit of measure; `St` and `pack` in a header are part of its name."""
    unit = unit_of(word)
    return unit if unit is not None and KINDS[unit] not in ("count", "package") else None
