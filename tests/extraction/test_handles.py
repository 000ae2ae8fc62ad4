"""Files that name a product by its handle: rows without a SKU, and one SKU in two products."""

from __future__ import annotations

from typing import Any

import pytest
from tests.extraction.support import run_file
from tests.fixtures import Bench

from penstock.store.database import from_json

HEAD = "Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Price,Variant Inventory Qty"


async def imported(bench: Bench, text: str) -> list[dict[str, Any]]:
    """The products of the catalog after an import, by title."""
    await run_file(bench, text.encode(), intent="merge", source="shop")
    async with bench.runtime.db.acquire() as conn:
        rows = await conn.fetch("SELECT data FROM products ORDER BY data->>'title'")
    return [from_json(row["data"]) for row in rows]


@pytest.mark.parametrize(
    ("titles", "option"),
    [(("Lampe A", "Lampe B"), "Größe"), (("Lampa A", "Lampa B"), "Rozmiar"),
     (("Lampe bleue", "Lampe rouge"), "Taille")],
)  # fmt: skip
async def test_rows_without_a_sku(bench: Bench, titles: tuple[str, str], option: str) -> None:
    """The handle is the id; the second row has the option's name of the first."""
    rows = [f"a,{titles[0]},{option},6,,39.00,1", "a,,,7,,39.00,2",
            f"b,{titles[1]},Title,Default Title,,99.00,3"]  # fmt: skip
    products = await imported(bench, "\n".join([HEAD, *rows]))
    assert [(one["sourceId"], one["title"]) for one in products] == [
        ("a", titles[0]),
        ("b", titles[1]),
    ]
    first: dict[str, Any] = products[0]
    assert [one["options"] for one in first["variants"]] == [{option: "6"}, {option: "7"}]
    assert first["availability"] == {"status": "in_stock", "quantity": 3}


async def test_one_sku_in_two_products(bench: Bench) -> None:
    rows = ["lamp,Lamp,Size,S,K-1,10.00,1", "lamp,,,M,K-2,10.00,1",
            "vase,Vase,Size,S,K-1,27.00,1", "vase,,,M,K-3,27.00,1",
            "vase,,,L,K-4,27.00,1"]  # fmt: skip
    text = "\n".join([HEAD, *rows])
    for _ in range(2):
        products = await imported(bench, text)
        assert [(one["title"], len(one["variants"])) for one in products] == [
            ("Lamp", 2),
            ("Vase", 3),
        ]
