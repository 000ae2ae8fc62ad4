"""Keys that products come with are those that the database computes, whoever writes a product."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures import Bench
from tests.lookup.test_words import TITLES, made_titles

import penstock.store
from penstock.catalog.products.keys import product_keys
from penstock.store.database import to_json

KEYS = ("title_key", "price_key", "maker", "words")
AMOUNTS = [
    None,
    "12.40",
    "-3",
    "0",
    "1e5",
    "12,5",
    "",
    "1" * 16,
    "9" * 15,
    "0.12345678901",
    " 1",
    "1\n",
]


def made_products(count: int) -> list[dict[str, Any]]:
    chance = random.Random(2)
    titles = [None, "x" * 30, "Ärmel" * 100, *TITLES, *made_titles(count)]
    products: list[dict[str, Any]] = []
    for title in titles:
        brand, mpn = (chance.choice([None, "", "Würth", "BOSCH", "İ" * 120]) for _ in range(2))
        product = {
            "title": title, "brand": brand, "price": {"amount": chance.choice(AMOUNTS)},
            "identifiers": {"mpn": mpn},
        }  # fmt: skip
        products.append({name: one for name, one in product.items() if one is not None})
    return [*products, {}, {"price": {}, "identifiers": {}}]


@pytest.mark.slow
async def test_keys_are_those_of_the_database(bench: Bench) -> None:
    products = made_products(2000)
    async with bench.runtime.db.acquire() as conn:
        rows = await conn.fetch(
            "SELECT title_key(d->>'title') AS title, price_key(d->'price'->>'amount') AS price,"
            " maker_key(d) AS maker, title_words(d->>'title') AS words"
            " FROM unnest($1::jsonb[]) AS n (d)",
            [to_json(one) for one in products],
        )
    assert len(rows) == len(products)
    for row, product in zip(rows, products, strict=True):
        assert tuple(row) == tuple(product_keys(product)), product


def test_every_statement_that_writes_a_document_writes_its_keys() -> None:
    folder = Path(penstock.store.__file__).parent / "sql"
    statements = [
        one for file in folder.rglob("*.sql") for one in file.read_text().split("-- name: ")
    ]
    writes = re.compile(r"(INSERT INTO|UPDATE) products\b(.|\n)*\bdata\b")
    writing = [one for one in statements if writes.search(one)]
    assert len(writing) >= 4
    for statement in writing:
        for key in (*KEYS, "row_digest"):
            assert re.search(rf"\b{key}\b", statement), statement
