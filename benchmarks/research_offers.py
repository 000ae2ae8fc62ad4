"""Offers of several sources with known truth: the same products, written as suppliers write them.

The generator knows nothing of the deduplication. It makes products of a few ranges, with variants
that differ in one attribute only, and writes each of them for some of the sources with the noise
that real feeds have: other word orders, abbreviations, typos, other units, missing or wrong
identifiers, brands in capitals or left out.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

_SOURCES = ("alpha", "bravo", "charlie", "delta", "echo")
_BRANDS = ("Würth", "Bosch", "Fischer", "Makita", "Hettich", "Knipex", "Wera", "Festool", "Osram")
_RANGES: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("Hex bolt DIN 933", ("M6 x 20", "M6 x 30", "M8 x 40", "M8 x 60", "M10 x 50"),
     ("stainless A2", "zinc plated", "stainless A4")),
    ("Wood screw countersunk TX20", ("4 x 40 mm", "4 x 50 mm", "5 x 60 mm", "6 x 80 mm"),
     ("zinc plated", "stainless A2", "brass")),
    ("Cordless drill", ("12 V", "18 V"), ("2.0 Ah", "4.0 Ah", "5.0 Ah")),
    ("LED lamp E27", ("7 W", "9 W", "11 W"), ("2700 K", "4000 K", "6500 K")),
    ("Cable H07RN-F", ("3 x 1.5 mm2 10 m", "3 x 2.5 mm2 25 m", "5 x 1.5 mm2 50 m"),
     ("black", "orange")),
    ("Combination pliers", ("160 mm", "180 mm", "200 mm"), ("insulated", "chrome")),
    ("Acrylic sealant", ("300 ml", "310 ml", "600 ml"), ("white", "grey", "black")),
    ("Work gloves nitrile", ("S", "M", "L", "XL"), ("blue", "black")),
    ("Packing tape", ("50 mm x 66 m", "48 mm x 66 m"), ("brown", "transparent")),
)  # fmt: skip
_SHORT = {
    "stainless": ("stainless", "inox", "stainl.", "edelstahl"), "zinc plated": (
        "zinc plated", "galvanised", "verzinkt", "zinc-plated"),
    "black": ("black", "schwarz", "BLK"), "white": ("white", "weiß"), "grey": ("grey", "gray"),
    "Cordless drill": ("Cordless drill", "Drill, cordless", "Cordless drill driver"),
    "Work gloves": ("Work gloves", "Gloves work", "Working gloves"),
    "Packing tape": ("Packing tape", "Parcel tape packing", "Tape packing"),
    "LED lamp": ("LED lamp", "LED bulb lamp", "Lamp LED"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class MadeProduct:
    number: int
    brand: str
    kind: str
    size: str
    finish: str
    gtin: str
    mpn: str
    price: float


@dataclass(frozen=True, slots=True)
class MadeOffer:
    """An offer as a normalised product, and the number of the product that it is."""

    product: dict[str, Any]
    truth: int


def _gtin(number: int) -> str:
    body = f"40063{number:07}"
    total = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(body))
    return body + str(-total % 10)


def products(count: int, seed: int) -> list[MadeProduct]:
    """Variants of one range are neighbours: the hardest to tell apart."""
    chance = random.Random(seed)
    made: list[MadeProduct] = []
    combinations = [
        (brand, kind, size, finish)
        for kind, sizes, finishes in _RANGES
        for brand in chance.sample(_BRANDS, 4)
        for size in sizes
        for finish in finishes
    ]
    chance.shuffle(combinations)
    for number, (brand, kind, size, finish) in enumerate(sorted(combinations[:count]), 1):
        mpn = f"{brand[:2].upper()}{chance.randint(100, 999)}-{number:04}"
        price = round(chance.uniform(2, 180), 2)
        made.append(MadeProduct(number, brand, kind, size, finish, _gtin(number), mpn, price))
    return made


def offers(count: int = 130, seed: int = 7) -> list[MadeOffer]:
    """Each product at one to five sources, in random order."""
    chance = random.Random(f"offers {seed}")
    found: list[MadeOffer] = []
    for product in products(count, seed):
        for source in chance.sample(_SOURCES, chance.choice((1, 2, 3, 3, 4, 5))):
            found.append(MadeOffer(_written(product, source, chance), product.number))
    chance.shuffle(found)
    return found


def _written(one: MadeProduct, source: str, chance: random.Random) -> dict[str, Any]:
    identifiers: dict[str, str] = {"sku": f"{source[:1].upper()}{chance.randint(10_000, 99_999)}"}
    if chance.random() < 0.6:
        identifiers["gtin"] = one.gtin
    if chance.random() < 0.5:
        identifiers["mpn"] = _spelled_code(one.mpn, chance)
    price = round(one.price * chance.uniform(0.85, 1.25), 2)
    product: dict[str, Any] = {
        "source": source,
        "sourceId": identifiers["sku"],
        "title": _title(one, chance),
        "identifiers": identifiers,
        "price": {"amount": f"{price:.2f}", "currency": "EUR",
                  "base": {"amount": f"{price * 1.1:.2f}", "currency": "USD"}},
    }  # fmt: skip
    if chance.random() < 0.85:
        product["brand"] = chance.choice((one.brand, one.brand.upper(), one.brand.lower()))
    return product


def _spelled_code(mpn: str, chance: random.Random) -> str:
    return chance.choice((mpn, mpn.replace("-", ""), mpn.lower(), mpn.replace("-", " ")))


def _title(one: MadeProduct, chance: random.Random) -> str:
    kind, size, finish = (_reworded(part, chance) for part in (one.kind, one.size, one.finish))
    size = _spelled_size(size, chance)
    parts = [kind, size, finish]
    order = chance.random()
    if order < 0.25:
        parts = [kind, finish, size]
    elif order < 0.4:
        parts = [finish, kind, size]
    if chance.random() < 0.35:
        parts.insert(0, one.brand)
    title = chance.choice((" ", ", ", " ", " - ")).join(parts)
    if chance.random() < 0.12:
        title = _with_typo(title, chance)
    case = chance.random()
    return title.upper() if case < 0.12 else title.lower() if case < 0.2 else title


def _reworded(text: str, chance: random.Random) -> str:
    for words, ways in _SHORT.items():
        if words in text and chance.random() < 0.45:
            text = text.replace(words, chance.choice(ways))
    return text


def _spelled_size(size: str, chance: random.Random) -> str:
    way = chance.random()
    if way < 0.35:
        size = size.replace(" x ", "x")
    if 0.3 < way < 0.6:
        size = size.replace(" mm", "mm").replace(" V", "V").replace(" ml", "ml").replace(" W", "W")
    if way > 0.9:
        size = size.replace(".", ",")
    return size


def _with_typo(title: str, chance: random.Random) -> str:
    """Two letters change places; digits stay as they are."""
    places = [n for n in range(len(title) - 1) if title[n].isalpha() and title[n + 1].isalpha()]
    if not places:
        return title
    at = chance.choice(places)
    return title[:at] + title[at + 1] + title[at] + title[at + 2 :]
