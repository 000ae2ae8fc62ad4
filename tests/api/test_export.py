"""Exports: what the grid shows, as a file that is safe to open."""

from __future__ import annotations

import csv
import io

import httpx2
import openpyxl
import orjson
import pytest
from tests.api.conftest import Gate, file_of, refused, submit_noop
from tests.api.test_items import all_items
from tests.fixtures import Bench

from penstock.engine import results
from penstock.formats.export import safe_cell


async def exported(client: httpx2.AsyncClient, job: str) -> list[dict[str, str]]:
    answer = await client.post(f"/api/jobs/{job}/export?format=csv")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.content.count(b"\r\n") == answer.content.count(b"\n")
    return list(csv.DictReader(io.StringIO(answer.text, newline="")))


async def test_an_export_is_what_the_items_say(
    client: httpx2.AsyncClient, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "PAGE_ROWS", 100)
    lines = "".join(f'{n:05},"Größe, ""{n}""",{n}\n' for n in range(350))
    content = ("sku,title,price\n" + lines).encode()
    answer = await client.post("/api/jobs", files=file_of(content, "Größen & Co.csv"))
    job = answer.json()["jobId"]
    await bench.work()
    items = await all_items(client, job, "pageSize=1000")
    assert len(items) == 350
    rows = await exported(client, job)
    assert [{name: cell for name, cell in row.items() if cell} for row in rows] == [
        item.result for item in items
    ]
    disposition = (await client.post(f"/api/jobs/{job}/export")).headers["content-disposition"]
    assert disposition == (
        "attachment; filename=\"Gr-en-Co.csv\"; filename*=UTF-8''Gr%C3%B6%C3%9Fen%20%26%20Co.csv"
    )


async def test_columns_of_a_job_without_a_header(
    client: httpx2.AsyncClient, bench: Bench, gate: Gate
) -> None:
    job = await submit_noop(client, pipeline="gate", config={"items": 5})
    assert await exported(client, job) == []
    gate.open.set()
    await bench.work()
    assert await exported(client, job) == [{"row": str(number)} for number in range(1, 6)]


async def test_formulas_do_not_run(client: httpx2.AsyncClient, bench: Bench) -> None:
    content = b'sku,=note\n1,"=cmd|\'/c calc\'!A1"\n2,+1+1\n3,@x\n4,-5\n5,"a,""b"\n'
    answer = await client.post("/api/jobs", files=file_of(content))
    await bench.work()
    rows = await exported(client, answer.json()["jobId"])
    assert [row["'=note"] for row in rows] == ["'=cmd|'/c calc'!A1", "'+1+1", "'@x", "-5", 'a,"b']


def test_cells() -> None:
    same = ["", "a", "-5", "+3.2", "-1.234,56", "-1e5", "1-2", "'=a", "0049", " =x"]
    assert [safe_cell(cell) for cell in same] == same
    for cell in (
        "=1",
        "+1+1",
        "-a",
        "-",
        "@",
        "\t=1",
        "\r=1",
        "\n=1",
        "\uff1d1",
        "+49 30 1",
        "--1",
    ):
        assert safe_cell(cell) == "'" + cell
    values = {None: "", True: "true", 3: "3", -2.5: "-2.5"}
    assert [safe_cell(value) for value in values] == list(values.values())
    assert safe_cell(["a", {"b": 1}]) == '["a",{"b":1}]'


async def _with_problems(client: httpx2.AsyncClient, bench: Bench) -> str:
    """Row 2 has a cell too many."""
    content = b"sku,title\n1,Hammer\n2,Nail,what?\n3,=Saw\n"
    answer = await client.post("/api/jobs", files=file_of(content))
    await bench.work()
    return str(answer.json()["jobId"])


async def test_every_format_has_the_same_rows(client: httpx2.AsyncClient, bench: Bench) -> None:
    job = await _with_problems(client, bench)
    items = [item.result for item in await all_items(client, job, "pageSize=1000")]
    assert items[2] == {"sourceId": "3", "sku": "3", "title": "=Saw", "match": "new"}
    answers = {
        kind: await client.post(f"/api/jobs/{job}/export?format={kind}")
        for kind in ("json", "ndjson", "xlsx")
    }
    columns = ("sourceId", "sku", "title", "match")
    full = [{name: (item or {}).get(name) for name in columns} for item in items]
    assert answers["json"].json() == full
    assert [orjson.loads(line) for line in answers["ndjson"].content.splitlines()] == full
    sheet = openpyxl.load_workbook(io.BytesIO(answers["xlsx"].content)).active
    assert sheet is not None
    lines = [tuple(cell.value for cell in row) for row in sheet.iter_rows()]
    assert lines == [tuple(full[0]), *(tuple(one.values()) for one in full)]
    assert [answer.headers["content-type"] for answer in answers.values()] == [
        "application/json", "application/x-ndjson",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ]  # fmt: skip


async def test_problems_as_a_list_and_beside_the_suppliers_rows(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    job = await _with_problems(client, bench)
    report = (await client.post(f"/api/jobs/{job}/export?format=json&which=errors")).json()
    assert [(one["Row"], one["Status"], one["Code"]) for one in report] == [
        (2, "ERROR", "ROW_TOO_LONG")
    ]
    path = f"/api/jobs/{job}/export?format=json&which=original-with-errors"
    [row] = (await client.post(path)).json()
    assert (row["sku"], row["title"]) == ("2", "Nail")
    assert "3 cells" in row["Reason"]
    everything = (await client.post(f"{path}&statuses=DONE,ERROR")).json()
    assert [row["sku"] for row in everything] == ["1", "2", "3"]
    assert (await client.post(f"{path}&code=OTHER")).json() == []
    some = await client.post(f"/api/jobs/{job}/export?format=json&statuses=DONE")
    assert [row["sku"] for row in some.json()] == ["1", "3"]


async def test_an_unknown_format_is_refused(client: httpx2.AsyncClient) -> None:
    job = await submit_noop(client)
    problem = refused(
        await client.post(f"/api/jobs/{job}/export?format=pdf"), 422, "INVALID_PARAMETERS"
    )
    assert "csv" in problem.detail
