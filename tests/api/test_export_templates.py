"""Exports with chosen, ordered and renamed columns; variants as rows or as columns."""

from __future__ import annotations

import csv
import io
from typing import Any

import httpx2
import orjson
from openpyxl import load_workbook
from tests.api.conftest import Caller, file_of, refused, shaped
from tests.fixtures import Bench

from penstock.api.catalog.export_templates import TemplateList, TemplateShape

GOODS = (
    b"Handle;Title;Option1 Name;Option1 Value;Variant SKU;Variant Price\n"
    b"shirt;Shirt;Farbe;rot;S-R;9.90\nshirt;;;blau;S-B;10.90\ncap;Cap;Farbe;gelb;C-1;5.00\n"
)
COLUMNS = [
    {"column": "title", "name": "Bezeichnung"},
    {"column": "sku", "name": "Artikelnummer"},
    {"column": "price", "name": "Preis"},
]


async def lines(client: httpx2.AsyncClient, path: str, **query: Any) -> list[list[str]]:
    answer = await client.post(path, params=query)
    assert answer.status_code == 200, answer.text
    return list(csv.reader(io.StringIO(answer.text.removeprefix("\ufeff"))))


async def test_columns_are_chosen_ordered_and_renamed(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    plain = b"SKU;Title;Price\nA;Hammer;9.90\nB;Saw;5.00\n"
    config = '{"intent": "merge", "source": "plain", "currency": "EUR"}'
    made = await client.post("/api/jobs", files=file_of(plain), data={"config": config})
    await bench.work()
    saved = await client.put("/api/export-templates/Shop", json={"columns": COLUMNS})
    assert shaped(TemplateShape, saved).variants == "text"
    path = made.headers["location"]
    assert await lines(client, f"{path}/export", template="Shop") == [
        ["Bezeichnung", "Artikelnummer", "Preis"], ["Hammer", "A", "9.90"], ["Saw", "B", "5.00"],
    ]  # fmt: skip
    head, *rows = await lines(client, "/api/products/export", template="Shop", source="plain")
    assert head == ["Bezeichnung", "Artikelnummer", "Preis"]
    assert sorted(rows) == [["Hammer", "A", "9.90"], ["Saw", "B", "5.00"]]
    answer = await client.post(
        "/api/products/export", params={"template": "Shop", "format": "ndjson", "source": "plain"}
    )
    documents = [orjson.loads(line) for line in answer.text.splitlines()]
    assert {one["Artikelnummer"] for one in documents} == {"A", "B"}
    refused(await client.post(f"{path}/export?template=Other"), 404, "NOT_FOUND")


async def test_variants_are_rows_or_columns(client: httpx2.AsyncClient, bench: Bench) -> None:
    config = '{"intent": "merge", "source": "shirts", "currency": "EUR"}'
    await client.post("/api/jobs", files=file_of(GOODS), data={"config": config})
    await bench.work()
    columns = [*COLUMNS, {"column": "option:farbe", "name": "Farbe"}]
    order = {"columns": columns, "variants": "rows"}
    assert (await client.put("/api/export-templates/Rows", json=order)).is_success
    head, *rows = await lines(client, "/api/products/export", template="Rows", source="shirts")
    assert head == ["Bezeichnung", "Artikelnummer", "Preis", "Farbe"]
    assert sorted(rows) == [
        ["Cap", "C-1", "5.00", "gelb"], ["Shirt", "S-B", "10.90", "blau"],
        ["Shirt", "S-R", "9.90", "rot"],
    ]  # fmt: skip
    head, *rows = await lines(
        client, "/api/products/export", template="Rows", variants="columns", source="shirts"
    )
    assert head[4:6] == ["Variant 1", "Variant 2"]
    [shirt] = [row for row in rows if row[0] == "Shirt"]
    assert shirt[4:7] == ["S-R, Farbe: rot, 9.90 EUR", "S-B, Farbe: blau, 10.90 EUR", ""]
    head, *rows = await lines(client, "/api/products/export", variants="rows", source="shirts")
    assert (head[-1], len(rows)) == ("variantOptions", 3)


async def test_templates_are_listed_and_deleted(caller: Caller) -> None:
    client, other, viewer = await caller(), await caller("other"), await caller(role="viewer")
    order = {"columns": COLUMNS}
    path = "/api/export-templates/My%20shop"
    refused(await viewer.put(path, json=order), 403, "INSUFFICIENT_PERMISSIONS")
    assert (await client.put(path, json=order)).json()["name"] == "My shop"
    found = shaped(TemplateList, await viewer.get("/api/export-templates"))
    assert [one.name for one in found.items] == ["My shop"]
    assert {"sku", "title", "price"} <= set(found.known_columns)
    assert not shaped(TemplateList, await other.get("/api/export-templates")).items
    twice = {"columns": [COLUMNS[0], COLUMNS[0]]}
    refused(await client.put(path, json=twice), 422, "INVALID_PARAMETERS")
    refused(await other.delete(path), 404, "NOT_FOUND")
    assert (await client.delete(path)).status_code == 204
    refused(await client.delete(path), 404, "NOT_FOUND")


SHIRTS = (
    "Handle;Title;Option1 Name;Option1 Value;Option2 Name;Option2 Value;Variant SKU;Variant Price;"
    "Variant Barcode\n"
    "hemd;Hemd;Farbe;rot;Größe;M;H-R-M;19.90;4006381333931\n"
    "hemd;;;blau;;L;H-B-L;21.90;4006381333932\n"
    "tasse;Tasse;Title;Default Title;;;T-1;5.00;\n"
    "schal;Schal;Title;Default Title;;;S-1;12,9O;\n"
)


async def exported_job(client: httpx2.AsyncClient, bench: Bench, intent: str) -> str:
    config = f'{{"intent": "{intent}", "source": "shirts", "currency": "EUR"}}'
    made = await client.post("/api/jobs", files=file_of(SHIRTS.encode()), data={"config": config})
    await bench.work()
    return f"{made.headers['location']}/export"


async def test_variants_of_a_job_are_rows(client: httpx2.AsyncClient, bench: Bench) -> None:
    path = await exported_job(client, bench, "check")
    head, *rows = await lines(client, path, variants="rows")
    assert "variants" not in head
    assert head[-1] == "variantOptions"
    found = [dict(zip(head, row, strict=True)) for row in rows]
    assert [(one["sku"], one["title"], one["price"], one["variantOptions"]) for one in found] == [
        ("H-R-M", "Hemd", "19.90", "Farbe: rot; Größe: M"),
        ("H-B-L", "Hemd", "21.90", "Farbe: blau; Größe: L"),
        ("T-1", "Tasse", "5.00", ""),
    ]  # fmt: skip
    assert [one["match"] for one in found] == ["new"] * 3


async def test_variants_of_all_rows_of_a_job_keep_status_and_problems(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    path = await exported_job(client, bench, "merge")
    head, *rows = await lines(client, path, variants="rows", which="all")
    assert head[-3:] == ["variantOptions", "status", "problems"]
    found = [dict(zip(head, row, strict=True)) for row in rows]
    # The second row is part of the first product, and its barcode has a wrong check digit.
    assert [(one["sku"], one["status"], bool(one["problems"])) for one in found] == [
        ("H-R-M", "DONE", False), ("H-B-L", "DONE", False), ("H-B-L", "SKIPPED", True),
        ("T-1", "DONE", False), ("S-1", "ERROR", True),
    ]  # fmt: skip


async def test_variants_of_a_job_are_columns(client: httpx2.AsyncClient, bench: Bench) -> None:
    path = await exported_job(client, bench, "merge")
    answer = await client.post(path, params={"variants": "columns", "format": "xlsx"})
    sheet = load_workbook(io.BytesIO(answer.content)).active
    assert sheet is not None
    head, *rows = [[cell.value for cell in row] for row in sheet.iter_rows()]
    found = [dict(zip(head, row, strict=True)) for row in rows]
    assert [(one["title"], one["price"]) for one in found] == [("Hemd", 19.9), ("Tasse", 5)]
    assert found[0]["Variant 1"] == "H-R-M, Farbe: rot, Größe: M, 19.90 EUR"
    assert found[0]["Variant 2"] == "H-B-L, Farbe: blau, Größe: L, 21.90 EUR"
    assert [found[0]["Variant 3"], found[1]["Variant 1"]] == [None, None]
    names, *_ = await lines(client, path, variants="columns", which="all")
    assert names[-3:] == ["Variant 10", "status", "problems"]


async def test_a_template_says_how_a_job_shows_variants(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    path = await exported_job(client, bench, "check")
    columns = [*COLUMNS, {"column": "option:farbe", "name": "Farbe"}]
    order = {"columns": columns, "variants": "rows"}
    assert (await client.put("/api/export-templates/Rows", json=order)).is_success
    assert await lines(client, path, template="Rows") == [
        ["Bezeichnung", "Artikelnummer", "Preis", "Farbe"], ["Hemd", "H-R-M", "19.90", "rot"],
        ["Hemd", "H-B-L", "21.90", "blau"], ["Tasse", "T-1", "5.00", ""],
    ]  # fmt: skip
    head, first, *_ = await lines(client, path, template="Rows", variants="columns")
    assert head[:5] == ["Bezeichnung", "Artikelnummer", "Preis", "Farbe", "Variant 1"]
    assert first[4] == "H-R-M, Farbe: rot, Größe: M, 19.90 EUR"


async def test_variants_are_refused_where_there_are_none(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    path = await exported_job(client, bench, "check")
    wrong = [
        {"variants": "rows", "which": "errors"}, {"variants": "sideways"},
        {"variants": "rows", "format": "shopify"},
    ]  # fmt: skip
    for query in wrong:
        refused(await client.post(path, params=query), 422, "INVALID_PARAMETERS")
    noop = await client.post("/api/jobs", json={"pipeline": "noop", "config": {"items": 2}})
    await bench.work()
    other = f"{noop.headers['location']}/export"
    refused(await client.post(other, params={"variants": "rows"}), 422, "INVALID_PARAMETERS")
