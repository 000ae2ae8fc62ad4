"""Drafts and hidden products of a file are in the catalog, but not published."""

from __future__ import annotations

import pytest
from tests.extraction.support import run_file
from tests.fixtures import Bench


async def published(bench: Bench, text: str, intent: str = "merge") -> dict[str, bool]:
    """Whether each product of the catalog is published after an import, by its id."""
    await run_file(bench, text.encode(), intent=intent, source="shop")
    async with bench.runtime.db.acquire() as conn:
        rows = await conn.fetch("SELECT source_id, published FROM products")
    return {row["source_id"]: row["published"] for row in rows}


@pytest.mark.parametrize(
    ("head", "shown", "hidden"),
    [("sku,name,price,published", "yes", "no"), ("sku,name,price,aktiv", "ja", "nein"),
     ("sku,nom,prix,publié", "oui", "non"), ("kod,nazwa,cena,aktywny", "tak", "nie"),
     ("sku,name,price,inactive", "false", "true")],
)  # fmt: skip
async def test_hidden_products(bench: Bench, head: str, shown: str, hidden: str) -> None:
    rows = [f"A-1,Lamp one,10.00,{shown}", f"A-2,Lamp two,11.00,{hidden}", f"A-3,Rug,9.00,{shown}"]
    text = "\n".join([head, *rows])
    assert await published(bench, text) == {"A-1": True, "A-2": False, "A-3": True}
    later = text.replace(f"11.00,{hidden}", f"11.00,{shown}")
    assert await published(bench, later) == {"A-1": True, "A-2": True, "A-3": True}
    assert (await published(bench, text))["A-2"] is False


async def test_drafts_with_variants(bench: Bench) -> None:
    head = (
        "Handle,Title,Vendor,Published,Option1 Name,Option1 Value,Variant SKU,Variant Price,"
        "Variant Inventory Qty,Status"
    )
    rows = ["mug,Mug,Keram,true,Size,S,M-S,9.00,1,draft", "mug,,,,,L,M-L,10.00,2,",
            "cup,Cup,Keram,true,Title,Default Title,C-1,4.00,5,active"]  # fmt: skip
    assert await published(bench, "\n".join([head, *rows])) == {"mug": False, "cup": True}
