"""Supplier files made by us, always the same: a header and rows of 15 columns."""

from __future__ import annotations

import csv
import random
from pathlib import Path

from benchmarks.payload import SEED, text_of

HEADER = (
    "SKU", "EAN", "Title", "Description", "Brand", "Category", "Price", "Currency", "Availability",
    "Quantity", "Weight", "Material", "Color", "URL", "Image",
)  # fmt: skip


def row(number: int, chance: random.Random) -> list[str]:
    sku = f"SKU-{number:08}"
    return [
        sku,
        f"{4_000_000_000_000 + number * 7}",
        text_of(number, 38).title(),
        text_of(number + 1, 160),
        f"Brand {number % 60}",
        f"Home > Group {number % 25} > Type {number % 125}",
        f"{chance.randrange(100, 90_000) / 100:.2f}",
        chance.choice(("EUR", "USD", "CHF")),
        chance.choice(("in stock", "out of stock", "on order")),
        str(chance.randrange(0, 500)),
        f"{chance.randrange(1, 400) / 10} kg",
        chance.choice(("oak", "steel", "glass", "linen")),
        chance.choice(("red", "blue", "natural", "black")),
        f"https://shop.example/p/{sku.lower()}",
        f"https://shop.example/i/{sku.lower()}.jpg",
    ]


def make_csv(path: Path, rows: int) -> Path:
    chance = random.Random(SEED)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        writer.writerows(row(number, chance) for number in range(rows))
    return path


def read_rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))[1:]
