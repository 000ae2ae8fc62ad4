"""How fast rows become products: mapping, normalising and validating on one core, no database."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from benchmarks.entry import Entry, Line, Scale, at_least, reported
from benchmarks.lab import Lab
from penstock.catalog.mapping.column_decisions import decide
from penstock.catalog.mapping.column_stats import add_rows, new_stats
from penstock.catalog.mapping.proposal import propose
from penstock.catalog.products.normalise import normalise
from penstock.catalog.products.plan import Plan, compile_plan
from penstock.catalog.products.validate import compile_validator
from penstock.catalog.profiles.profile import from_proposal
from penstock.catalog.values.currencies import rates_on
from penstock.catalog.values.gtin import check_digit

HEADER = [
    "Artikelnr", "Bezeichnung", "Beschreibung", "Warengruppe", "Hersteller", "EAN", "Preis netto",
    "Währung", "Einheit", "Verfügbarkeit", "Lagerbestand", "Gewicht (kg)", "Bild", "Link", "Farbe",
]  # fmt: skip
_DAY = date(2026, 11, 1)
_BATCH = 1_000


def make_rows(count: int) -> list[list[str]]:
    """A German price list: nearly all prices differ, a quarter of the descriptions are HTML."""
    chance = random.Random(1)
    return [make_row(number, chance) for number in range(count)]


def make_row(number: int, chance: random.Random) -> list[str]:
    body = f"400638{number:06d}"
    cents = f"{chance.randint(0, 99):02d}"
    price = f"{chance.randint(1, 2000)},{cents} €"
    if number % 3 == 0:
        price = f"{chance.randint(1, 9)}.{chance.randint(100, 999)},{cents}"
    text = f"Eine gute Schraube aus Stahl, Artikel {number}, für den Außenbereich geeignet."
    if number % 4 == 0:
        text = f"<p>Gute Schraube &amp; mehr, Artikel {number}</p>"
    stock = chance.randint(0, 500)
    return [
        f"A-{number:06d}",
        f"Schraube M{chance.randint(2, 20)}x{chance.randint(10, 90)} verzinkt Nr {number}",
        text,
        chance.choice(["Eisenwaren > Schrauben", "Eisenwaren > Muttern", "Garten/Zaun"]),
        chance.choice(["Würth", "Fischer", "Spax"]),
        body + check_digit(body),
        price,
        "EUR",
        chance.choice(["St", "kg", "Pkg"]),
        "auf Lager" if stock else "nicht lieferbar",
        str(stock),
        f"{chance.randint(0, 9)},{chance.randint(1, 999):03d}",
        f"https://cdn.example.com/img/{number}.jpg",
        f"https://shop.example.com/p/{number}",
        chance.choice(["rot", "blau", "grün"]),
    ]


def learn(rows: Sequence[Sequence[str]]) -> tuple[Plan, float]:
    """The plan of a file, and how long gathering its statistics took."""
    began = time.process_time()
    stats = new_stats(len(HEADER))
    for start in range(0, len(rows), _BATCH):
        add_rows(stats, rows[start : start + _BATCH])
    seconds = time.process_time() - began
    profile = from_proposal("bench", propose(HEADER, [c.samples for c in stats]), source="bench")
    rates = rates_on(_DAY, "USD", [(_DAY, "EUR", Decimal("1.0832"))])
    return compile_plan(HEADER, profile, decide(stats), rates), seconds


def work(plan: Plan, rows: Sequence[Sequence[str]]) -> float:
    validator = compile_validator(plan)
    began = time.process_time()
    for cells in rows:
        if validator.check(normalise(plan, cells), cells) != "valid":
            raise RuntimeError("a row that was made valid is not")
    return time.process_time() - began


async def run(lab: Lab, scale: Scale) -> Sequence[Line]:
    rows = make_rows(scale.of(50_000, 5_000))
    gathered, normalised = [], []
    for _ in range(scale.repetitions):
        plan, seconds = learn(rows)
        gathered.append(len(rows) / seconds)
        normalised.append(len(rows) / work(plan, rows))
    return [
        at_least("15 columns: map, normalise, validate", "rows/s", normalised, 25_000),
        reported("15 columns: statistics while reading", "rows/s", gathered),
    ]


ENTRY = Entry(
    "normalising",
    run,
    "Rows to products",
    "One process, processor time, rows in memory: no reading, no database. Nearly every price "
    "differs, a quarter of the descriptions are HTML.",
)
