"""Rows that were checked and corrected are imported, without sending the file again."""

from __future__ import annotations

import httpx2
from tests.api.conftest import file_of
from tests.fixtures import Bench


async def test_checked_rows_are_imported_with_their_corrections(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    rows = [f"C-{n};Can {n};{n},50" for n in range(1, 301)]
    rows[249] = "C-250;Can 250;12,3,4"
    content = ("sku;title;price\n" + "\n".join(rows) + "\n").encode()
    answer = await client.post("/api/jobs", files=file_of(content))
    job = answer.json()["jobId"]
    await bench.work()
    checked = (await client.get(f"/api/jobs/{job}")).json()
    assert checked["counters"]["error"] == 1
    assert (await client.get("/api/products")).json()["items"] == []

    fixed = await client.patch(f"/api/jobs/{job}/items/250", json={"input": {"price": "12,34"}})
    assert fixed.status_code == 200
    await bench.work()
    imported = await client.post(f"/api/jobs/{job}/remap", json={"config": {"intent": "merge"}})
    assert imported.status_code == 200
    await bench.work()
    done = (await client.get(f"/api/jobs/{job}")).json()
    assert (done["state"], done["counters"]["done"]) == ("done", 300)
    assert done["config"]["intent"] == "merge"
    found = (await client.get("/api/products", params={"q": "C-250"})).json()["items"]
    assert [one["price"]["amount"] for one in found] == ["12.34"]
