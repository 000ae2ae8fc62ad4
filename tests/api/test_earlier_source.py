"""An update of a supplier's list under another name would create all its products a second time."""

from __future__ import annotations

import json

import httpx2
import pytest
from tests.api.conftest import file_of, shaped
from tests.api.test_products import applied
from tests.fixtures import Bench

from penstock.api.jobs.schemas import Preview, SourceMatch

# A list of each of three countries without GTINs, and the same list with other prices.
GERMAN = (
    "Artikelnr;Bezeichnung;Preis\n"
    "N-4711;Hammer 300 g;9,90\nN-4712;Säge, fein;19,90\nN-4713;Leiter;99,00\n",
    "Artikelnr;Bezeichnung;Preis\n"
    "N-4711;Hammer 300 g;9,50\nN-4713;Leiter;95,00\nN-4720;Beil;29,00\n",
)
POLISH = (
    "Kod;Nazwa;Cena\nPL1;Młotek;39,90\nPL2;Piła ręczna;59,00\n",
    "Kod;Nazwa;Cena\nPL1;Młotek;41,90\nPL2;Piła ręczna;57,00\n",
)
# Products that are named by handles; their variants have the SKUs.
SHOPIFY = (
    "Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Price\n"
    "shirt,Linen shirt,Size,S,SH-S,20.00\nshirt,,,M,SH-M,20.00\n"
    "cap,Wool cap,Title,Default Title,CAP,9.00\n",
    "Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Price\n"
    "shirt,Linen shirt,Size,S,SH-S,22.00\nshirt,,,M,SH-M,22.00\n"
    "cap,Wool cap,Title,Default Title,CAP,8.00\n",
)
# The numbers of another supplier, for other goods.
OTHER = (
    "Artikelnr;Bezeichnung;Preis\nN-4711;Blumentopf;3,90\nN-4712;Gießkanne;9,00\nN-4713;Erde;4,00\n"
)


async def preview(client: httpx2.AsyncClient, content: str, source: str) -> Preview:
    config = {"config": json.dumps({"intent": "merge", "source": source, "currency": "EUR"})}
    answer = await client.post("/api/jobs/preview", files=file_of(content.encode()), data=config)
    return shaped(Preview, answer)


@pytest.mark.parametrize(
    ("lists", "rows"), [(GERMAN, 2), (POLISH, 2), (SHOPIFY, 2)], ids=["german", "polish", "shopify"]
)
async def test_an_update_under_another_name_is_asked_about(
    client: httpx2.AsyncClient, bench: Bench, lists: tuple[str, str], rows: int
) -> None:
    first, update = lists
    await applied(client, bench, first.encode(), source="acme", currency="EUR")
    found = await preview(client, update, "acme-november")
    assert found.earlier_source == SourceMatch(source="acme", rows=rows)
    right = await preview(client, update, "acme")
    assert right.earlier_source is None
    assert right.summary["changed"] == rows


async def test_other_goods_under_the_same_numbers_are_not(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    await applied(client, bench, GERMAN[0].encode(), source="acme", currency="EUR")
    assert (await preview(client, OTHER, "bolt")).earlier_source is None


async def test_a_source_that_has_products_of_the_file_is_right(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    for source in ("acme", "bolt"):
        await applied(client, bench, GERMAN[0].encode(), source=source, currency="EUR")
    assert (await preview(client, GERMAN[1], "bolt")).earlier_source is None


async def test_one_row_of_many_is_chance(client: httpx2.AsyncClient, bench: Bench) -> None:
    await applied(client, bench, GERMAN[0].encode(), source="acme", currency="EUR")
    others = "".join(f"B-{n};Schraube {n};1,00\n" for n in range(10))
    content = f"Artikelnr;Bezeichnung;Preis\nN-4711;Hammer 300 g;9,50\n{others}"
    assert (await preview(client, content, "bolt")).earlier_source is None


async def test_products_of_shops_are_sent_by_the_shop(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    await applied(client, bench, GERMAN[0].encode(), source="acme", currency="EUR")
    async with bench.runtime.db.acquire() as conn:
        await conn.execute("UPDATE products SET source = 'shopify:acme.example'")
    assert (await preview(client, GERMAN[1], "bolt")).earlier_source is None


async def test_products_of_other_orgs_are_not_looked_at(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    await applied(client, bench, GERMAN[0].encode(), source="acme", currency="EUR")
    async with bench.runtime.db.acquire() as conn:
        org = await conn.fetchval("INSERT INTO orgs (name) VALUES ('zeta') RETURNING id")
        await conn.execute("UPDATE products SET org_id = $1", org)
    assert (await preview(client, GERMAN[1], "bolt")).earlier_source is None
