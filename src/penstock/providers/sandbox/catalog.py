"""Generated products. Each follows from the seed, the shop and its number, so that nothing has to
be stored and every run gives the same."""

from __future__ import annotations

import hashlib
import random
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import lru_cache

_FIRST_DAY = datetime(2026, 1, 1, tzinfo=UTC)
_SIZE_IN_NAME = re.compile(r"-p(\d{1,6})(?:-i(\d{1,2}))?$")
_MATERIALS = ("Linen", "Oak", "Steel", "Cotton", "Ceramic", "Glass", "Wool", "Bamboo", "Copper")
_KINDS = (
    ("Mug", "Kitchen"), ("Chair", "Furniture"), ("Jacket", "Clothing"), ("Lamp", "Lighting"),
    ("Notebook", "Stationery"), ("Bottle", "Kitchen"), ("Backpack", "Bags"), ("Clock", "Decor"),
    ("Blanket", "Textiles"), ("Teapot", "Kitchen"), ("Desk", "Furniture"), ("Scarf", "Clothing"),
)  # fmt: skip
_MOODS = ("Classic", "Compact", "Everyday", "Fine", "Grand", "Modern", "Rustic", "Simple", "Studio")
_VENDORS = ("Northwind", "Acme", "Larch & Co", "Fjord", "Umbra", "Tiller", "Harbour")
_COLORS = ("Red", "Green", "Blue", "Black", "White", "Sand", "Olive")
_SIZES = ("S", "M", "L", "XL")
_ROASTS = ("Whole Bean", "Ground", "Pods")
# Most products have a few pictures; some have none, few have many.
_PICTURES = (0, 1, 1, 2, 2, 3, 3, 3, 4, 4, 5, 6, 8, 12, 20)
_VARIANTS = (1, 1, 1, 2, 3, 4, 6, 14)


@dataclass(frozen=True, slots=True)
class MadeVariant:
    number: int
    color: str
    size: str
    sku: str
    barcode: str
    price: Decimal
    was: Decimal | None
    stock: int
    grams: int


@dataclass(frozen=True, slots=True)
class MadeProduct:
    """``pictures`` are names of pictures; products may share one."""

    number: int
    title: str
    description: str
    vendor: str
    kind: str
    category: str
    tags: tuple[str, ...]
    status: str
    variants: tuple[MadeVariant, ...]
    pictures: tuple[str, ...]
    created_at: datetime
    updated_at: datetime

    @property
    def has_options(self) -> bool:
        return len(self.variants) > 1


@dataclass(frozen=True, slots=True)
class Catalog:
    """The products of one shop, numbered from 1."""

    seed: int
    shop: str
    size: int
    # Of one product, at most.
    pictures: int = _PICTURES[-1]

    def product(self, number: int) -> MadeProduct:
        return _product(self.seed, self.shop, number, self.pictures)


def catalog_of(seed: int, shop: str, size: int) -> Catalog:
    """A shop whose name ends in `-p12` has 12 products, whatever the default is; one whose name
    ends in `-p12-i3` has at most 3 pictures of each."""
    told = _SIZE_IN_NAME.search(shop)
    if told is None:
        return Catalog(seed, shop, size)
    return Catalog(seed, shop, int(told[1]), int(told[2] or _PICTURES[-1]))


@lru_cache(maxsize=20_000)
def _product(seed: int, shop: str, number: int, pictures: int) -> MadeProduct:
    chance = random.Random(f"{seed}:{shop}:{number}")
    mood, material = chance.choice(_MOODS), chance.choice(_MATERIALS)
    kind, category = chance.choice(_KINDS)
    title = f"{mood} {material} {kind} {number}"
    created = _FIRST_DAY + timedelta(minutes=number)
    return MadeProduct(
        number=number,
        title=title,
        description=f"<p>{title}: made of {material.lower()}, for every day.</p>",
        vendor=chance.choice(_VENDORS),
        kind=kind,
        category=category,
        tags=tuple(sorted({mood.lower(), material.lower()})),
        status=chance.choices(("active", "draft", "archived"), (94, 4, 2))[0],
        variants=_variants(chance, shop, number),
        pictures=_picture_names(chance, shop, number, pictures),
        created_at=created,
        updated_at=created + timedelta(hours=chance.randrange(1, 2000)),
    )


def _variants(chance: random.Random, shop: str, number: int) -> tuple[MadeVariant, ...]:
    price = Decimal(chance.randrange(300, 25_000)) / 100
    count = chance.choice(_VARIANTS)
    pairs = [(color, size) for color in _COLORS for size in _SIZES][:count]
    prefix = hashlib.sha256(shop.encode()).hexdigest()[:4].upper()
    return tuple(
        MadeVariant(
            number=number * 100 + place,
            color=color,
            size=size,
            sku=f"{prefix}-{number:05}-{place:02}",
            barcode=ean13(int(prefix, 16), number * 100 + place),
            price=price + place,
            was=price + place + 5 if chance.random() < 0.2 else None,
            stock=chance.choice((0, 3, 12, 80)),
            grams=chance.randrange(50, 9000),
        )
        for place, (color, size) in enumerate(pairs)
    )


def _picture_names(chance: random.Random, shop: str, number: int, most: int) -> tuple[str, ...]:
    count = min(chance.choice(_PICTURES), most)
    names = [f"{shop}/{number}-{place}.jpg" for place in range(1, count + 1)]
    if names and number % 10 == 0:
        # The same address as a picture of another product.
        names[-1] = f"{shop}/shared.jpg"
    elif names and number % 10 == 5:
        # Another address of the same content.
        names[-1] = f"{shop}/copy-of-shared-{number}.jpg"
    return tuple(names)


def ean13(company: int, article: int) -> str:
    """With the prefix that GS1 reserves for demonstrations, so that no real product has it."""
    digits = f"952{company % 100:02}{article % 10_000_000:07}"
    total = sum(int(d) * (3 if place % 2 else 1) for place, d in enumerate(digits))
    return f"{digits}{-total % 10}"


def changed(product: MadeProduct, at: datetime) -> MadeProduct:
    """The product after a change of its prices."""
    dearer = tuple(replace(one, price=one.price + Decimal("1.00")) for one in product.variants)
    return replace(product, variants=dearer, updated_at=at)


def roast_of(variant: MadeVariant) -> str:
    return _ROASTS[variant.number % len(_ROASTS)]
