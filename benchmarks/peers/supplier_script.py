"""The script one would write instead: pandas to read, pydantic to validate, `executemany` to
upsert, with psycopg2, which most scripts use, or with asyncpg, which is the fastest.

It reads, maps, parses prices, checks GTINs, drops double articles, validates and upserts. It keeps
neither the rows nor where values come from, and begins again after a crash. The mapping, the
encoding and the delimiter, which Penstock finds itself, are written into it.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import resource
import sys
import time
from decimal import Decimal
from typing import Any

import asyncpg
import pandas
import psycopg2
from pydantic import BaseModel, ValidationError, field_validator

from benchmarks.peers.shape import POSTGRES_DSN

COLUMNS = {
    "Artikelnr": "sku", "Bezeichnung": "title", "Beschreibung": "description",
    "Warengruppe": "category", "Hersteller": "brand", "EAN": "gtin", "Preis netto": "price",
    "Währung": "currency", "Einheit": "unit", "Verfügbarkeit": "availability",
    "Lagerbestand": "quantity", "Gewicht (kg)": "weight", "Bild": "image", "Link": "url",
    "Farbe": "color",
}  # fmt: skip
AVAILABILITY = {"auf Lager": "in_stock", "nicht lieferbar": "out_of_stock"}
TAG = re.compile(r"<[^>]+>")
TABLE = """
DROP TABLE IF EXISTS script_products;
CREATE TABLE script_products (
    sku text PRIMARY KEY, title text NOT NULL, gtin text, price numeric, currency text,
    data jsonb NOT NULL, updated_at timestamptz NOT NULL DEFAULT now());
CREATE INDEX ON script_products (gtin);
"""
UPSERT = """
INSERT INTO script_products (sku, title, gtin, price, currency, data)
VALUES ({}, {}, {}, {}, {}, {}::jsonb)
ON CONFLICT (sku) DO UPDATE SET title = excluded.title, gtin = excluded.gtin,
    price = excluded.price, currency = excluded.currency, data = excluded.data, updated_at = now()
"""


class Product(BaseModel):
    sku: str
    title: str
    description: str
    category: list[str]
    brand: str
    gtin: str
    price: Decimal | None
    currency: str
    unit: str
    availability: str | None
    quantity: int
    weight: Decimal
    image: str
    url: str
    color: str

    @field_validator("title")
    @classmethod
    def _filled(cls, title: str) -> str:
        if not title:
            raise ValueError("no title")
        return title

    @field_validator("gtin")
    @classmethod
    def _check_digit(cls, gtin: str) -> str:
        digits = [int(one) for one in gtin]
        if sum(digits[-1::-2]) % 10 != (-3 * sum(digits[-2::-2])) % 10:
            raise ValueError("wrong check digit")
        return gtin


def number(text: str) -> Decimal | None:
    text = text.replace("€", "").replace(".", "").replace(",", ".").strip()
    try:
        return Decimal(text)
    except ArithmeticError:
        return None


def read(path: str) -> list[dict[str, Any]]:
    options: dict[str, Any] = {"dtype": str, "keep_default_na": False}
    if path.endswith(".csv"):
        table = pandas.read_csv(path, sep=";", encoding="cp1252", **options)
    else:
        table = pandas.read_excel(path, engine="calamine", **options)
    table = table.rename(columns=COLUMNS).drop_duplicates("sku")
    table["description"] = table["description"].str.replace(TAG, "", regex=True)
    table["price"] = table["price"].map(number)
    table["weight"] = table["weight"].map(number)
    table["category"] = table["category"].str.split(" > ")
    table["availability"] = table["availability"].map(AVAILABILITY)
    found: list[dict[str, Any]] = table.to_dict("records")
    return found


def products(path: str) -> tuple[list[tuple[Any, ...]], int]:
    rows, invalid = [], 0
    for record in read(path):
        try:
            one = Product.model_validate(record)
        except ValidationError:
            invalid += 1
            continue
        rows.append((one.sku, one.title, one.gtin, one.price, one.currency, one.model_dump_json()))
    return rows, invalid


async def with_asyncpg(path: str) -> tuple[float, int, int]:
    conn = await asyncpg.connect(os.environ[POSTGRES_DSN])
    await conn.execute(TABLE)
    began = time.perf_counter()
    rows, invalid = products(path)
    await conn.executemany(UPSERT.format(*(f"${n}" for n in range(1, 7))), rows)
    seconds = time.perf_counter() - began
    await conn.close()
    return seconds, len(rows), invalid


def with_psycopg2(path: str) -> tuple[float, int, int]:
    conn = psycopg2.connect(os.environ[POSTGRES_DSN])
    with conn.cursor() as cursor:
        cursor.execute(TABLE)
        conn.commit()
        began = time.perf_counter()
        rows, invalid = products(path)
        cursor.executemany(UPSERT.format(*["%s"] * 6), rows)
        conn.commit()
        seconds = time.perf_counter() - began
    conn.close()
    return seconds, len(rows), invalid


if __name__ == "__main__":
    _, file, driver = sys.argv
    found = with_psycopg2(file) if driver == "psycopg2" else asyncio.run(with_asyncpg(file))
    took, written, refused = found
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": took, "written": written, "invalid": refused, "peak_mb": peak}))
