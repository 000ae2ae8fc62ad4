"""Lookups over HTTP: lists as files, searches of a row, and choices."""

from __future__ import annotations

import httpx2
import pytest
from tests.api.conftest import file_of, refused, shaped
from tests.fixtures import Bench
from tests.lookup.support import TOOLS, Catalog

from penstock.api.jobs.control_schemas import Reprocessed
from penstock.api.jobs.schemas import FullJob, ItemPage, Receipt
from penstock.api.lookup.schemas import SearchPage

pytestmark = pytest.mark.slow

LIST = "Artikel;EAN;Bezeichnung\nT-2;;\n;4006381333931;Hammer\n;;Akkuschrauber 18V Ü\n".encode()


@pytest.fixture
async def catalog(bench: Bench) -> Catalog:
    made = Catalog(bench)
    await made.add(TOOLS)
    return made


async def looked_up(client: httpx2.AsyncClient, bench: Bench, content: bytes = LIST) -> str:
    form = {"pipeline": "lookup"}
    made = await client.post("/api/jobs", files=file_of(content), data=form)
    receipt = shaped(Receipt, made, 202)
    await bench.work()
    return str(receipt.job_id)


async def test_a_list_is_looked_up_and_exported(
    client: httpx2.AsyncClient, catalog: Catalog
) -> None:
    job = await looked_up(client, catalog.bench)
    shown = shaped(FullJob, await client.get(f"/api/jobs/{job}"))
    assert (shown.state, shown.counters.done, shown.counters.not_found) == ("done", 2, 1)
    assert shown.columns is not None
    assert shown.columns[:5] == ["Artikel", "EAN", "Bezeichnung", "match", "confidence"]
    page = shaped(ItemPage, await client.get(f"/api/jobs/{job}/items"))
    titles = [(one.result or {}).get("title") for one in page.items]
    assert titles == ["Round nose pliers 160 mm", "Claw hammer 16 oz fibreglass", None]
    sheet = await client.post(f"/api/jobs/{job}/export", params={"format": "csv"})
    lines = sheet.text.splitlines()
    assert lines[0].startswith("Artikel,EAN,Bezeichnung,match,confidence")
    assert lines[3].startswith(",,Akkuschrauber 18V Ü,notFound")


async def test_searches_of_a_row_page_by_page(client: httpx2.AsyncClient, catalog: Catalog) -> None:
    job = await looked_up(client, catalog.bench)
    whole = shaped(SearchPage, await client.get(f"/api/jobs/{job}/items/2/searches"))
    assert [(one.provider, one.variant, one.outcome) for one in whole.searches] == [
        ("catalog", "gtin", "found")
    ]
    assert whole.searches[0].score == 1.0
    assert whole.searches[0].attempt == 1
    path = f"/api/jobs/{job}/items/{job}:3/searches"
    first = shaped(SearchPage, await client.get(path, params={"pageSize": 1}))
    assert first.next is None
    assert first.searches[0].query == "Akkuschrauber 18V Ü"
    refused(await client.get(f"/api/jobs/{job}/items/9/searches"), 404, "NOT_FOUND")


async def test_a_candidate_is_chosen(client: httpx2.AsyncClient, catalog: Catalog) -> None:
    await catalog.add(TOOLS[1:2], source="other")
    changed = "UPDATE products SET data = data - 'brand' - 'identifiers' WHERE source = 'other'"
    async with catalog.bench.runtime.db.transaction() as conn:
        await conn.execute(changed)
    job = await looked_up(client, catalog.bench, b"SKU\nT-2\n")
    page = shaped(ItemPage, await client.get(f"/api/jobs/{job}/items"))
    [item] = page.items
    assert (item.status, item.shown) == ("SKIPPED", "Ambiguous")
    assert item.normalized is not None
    key = item.normalized["candidates"][1]["key"]
    path = f"/api/jobs/{job}/items/1/choose"
    refused(await client.post(path, json={"candidate": "x"}), 422, "INVALID_PARAMETERS")
    again = shaped(Reprocessed, await client.post(path, json={"candidate": key}))
    assert again.reprocessed == 1
    await catalog.bench.work()
    page = shaped(ItemPage, await client.get(f"/api/jobs/{job}/items"))
    assert (page.items[0].result or {})["productId"] == key


async def test_a_cell_is_fixed_and_looked_up_again(
    client: httpx2.AsyncClient, catalog: Catalog
) -> None:
    job = await looked_up(client, catalog.bench)
    cells = {"Artikel": "B-820", "Bezeichnung": ""}
    fixed = await client.patch(f"/api/jobs/{job}/items/3", json={"input": cells})
    assert fixed.status_code == 200, fixed.text
    await catalog.bench.work()
    page = shaped(ItemPage, await client.get(f"/api/jobs/{job}/items"))
    assert (page.items[2].result or {})["sourceId"] == "T-3"


async def test_columns_of_a_list_are_mapped_anew(
    client: httpx2.AsyncClient, catalog: Catalog
) -> None:
    job = await looked_up(client, catalog.bench, b"Code;Remark\nT-2;x\nB-820;y\n")
    asked = {"config": {"mapping": {"Code": "mpn", "Remark": "ignore"}}}
    again = await client.post(f"/api/jobs/{job}/remap", json=asked)
    assert again.status_code == 200, again.text
    await catalog.bench.work()
    assert shaped(FullJob, await client.get(f"/api/jobs/{job}")).counters.done == 0
    asked = {"config": {"mapping": {"Code": "sku", "Remark": "ignore"}}}
    await client.post(f"/api/jobs/{job}/remap", json=asked)
    await catalog.bench.work()
    assert shaped(FullJob, await client.get(f"/api/jobs/{job}")).counters.done == 2
    wrong = {"config": {"delimiter": "|"}}
    refused(await client.post(f"/api/jobs/{job}/remap", json=wrong), 422, "INVALID_PARAMETERS")
