"""Rows are shown with the line of the file that they were read from."""

from __future__ import annotations

import httpx2
from tests.api.conftest import file_of
from tests.fixtures import Bench

FILE = (
    'Ceník 2026;;\nKód;Název;Cena\nC-1;"Kladivo\nvelké";10,00\n\nC-2;Kleště;1O,00\nC-3;Pila;12,00\n'
).encode()


async def test_items_jobs_and_previews_tell_the_line(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    preview = await client.post("/api/jobs/preview", files=file_of(FILE))
    assert [row["line"] for row in preview.json()["rows"]] == [3, 6, 7]
    made = await client.post("/api/jobs", files=file_of(FILE))
    path = f"/api/jobs/{made.json()['jobId']}"
    await bench.work()
    assert (await client.get(path)).json()["lines"] == [[1, 3], [2, 6]]
    for order in ({}, {"sort": "value", "column": "title", "view": "results"}):
        items = (await client.get(f"{path}/items", params=order)).json()["items"]
        assert {one["rowNo"]: one["line"] for one in items} == {1: 3, 2: 6, 3: 7}
    [wrong] = (await client.post(f"{path}/export?format=json&which=errors")).json()
    assert (wrong["Row"], wrong["Line"], wrong["Value"]) == (2, 6, "1O,00")


async def test_files_without_lines(client: httpx2.AsyncClient, bench: Bench) -> None:
    content = b'[{"sku": "J-1", "title": "Pen"}, {"sku": "J-2", "title": "Cup"}]'
    made = await client.post("/api/jobs", files=file_of(content, "list.json"))
    path = f"/api/jobs/{made.json()['jobId']}"
    await bench.work()
    assert (await client.get(path)).json()["lines"] == []
    items = (await client.get(f"{path}/items")).json()["items"]
    assert [one["line"] for one in items] == [None, None]
