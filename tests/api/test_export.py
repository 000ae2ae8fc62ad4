"""Exports: what the grid shows, as a file that is safe to open."""

from __future__ import annotations

import csv
import io
import zipfile
from typing import Any

import httpx2
import openpyxl
import orjson
import pytest
from python_calamine import CalamineWorkbook
from tests.api.conftest import Gate, file_of, refused, submit_noop
from tests.api.test_items import all_items
from tests.api.test_products import TOOLS, applied
from tests.fixtures import Bench

from penstock.app import exports
from penstock.formats.writing.text_formats import safe_cell
from penstock.formats.writing.xlsx import XlsxWriter
from penstock.model.export import ExportRow, Mark


async def exported(client: httpx2.AsyncClient, job: str) -> list[dict[str, str]]:
    answer = await client.post(f"/api/jobs/{job}/export?format=csv")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.content.count(b"\r\n") == answer.content.count(b"\n")
    return list(csv.DictReader(io.StringIO(answer.text, newline="")))


async def test_an_export_is_what_the_items_say(
    client: httpx2.AsyncClient, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "PAGE_ROWS", 100)
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
        'attachment; filename="Gr-en-Co-results.csv"; '
        "filename*=UTF-8''Gr%C3%B6%C3%9Fen%20%26%20Co%20results.csv"
    ), "never the name of the file that was sent"
    wanted = {"format": "xlsx", "which": "errors"}
    answer = await client.post(f"/api/jobs/{job}/export", params=wanted)
    assert 'filename="Gr-en-Co-errors.xlsx"' in answer.headers["content-disposition"]


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
        "\uff1d1",
        "+49 30 1",
        "--1",
    ):
        assert safe_cell(cell) == "'" + cell
    # A spreadsheet may split there: what follows must be safe as well.
    assert [safe_cell(cell) for cell in ("\t=1", "\r=1", "\n=1")] == ["'\t'=1", "'\r'=1", "'\n'=1"]
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
        kind: await client.post(f"/api/jobs/{job}/export?format={kind}&statuses=DONE,ERROR")
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
    assert [(one["Row"], one["Line"], one["Status"], one["Code"]) for one in report] == [
        (2, 3, "ERROR", "ROW_TOO_LONG")
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


async def test_cells_beyond_the_header_come_back_wherever_they_are(
    client: httpx2.AsyncClient, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The longest row may be after the first page of an export."""
    monkeypatch.setattr(exports, "PAGE_ROWS", 100)
    short = "".join(f"{n},x\n" for n in range(150))
    content = f"sku,title\n{short}last,Nail,more,and more\n".encode()
    job = (await client.post("/api/jobs", files=file_of(content))).json()["jobId"]
    await bench.work()
    path = f"/api/jobs/{job}/export?format=ndjson&which=original-with-errors&statuses=DONE,ERROR"
    lines = (await client.post(path)).content.splitlines()
    row = orjson.loads(lines[-1])
    assert (len(lines), row["Column 3"], row["Column 4"]) == (151, "more", "and more")


async def test_an_unknown_format_is_refused(client: httpx2.AsyncClient) -> None:
    job = await submit_noop(client)
    problem = refused(
        await client.post(f"/api/jobs/{job}/export?format=pdf"), 422, "INVALID_PARAMETERS"
    )
    assert "csv" in problem.detail


@pytest.mark.parametrize(
    ("shop", "column", "delimiter"),
    [("shopify", "Variant SKU", ","), ("prestashop", "Reference #", ";"), ("akeneo", "sku", ";")],
)
async def test_products_of_a_job_as_the_file_of_a_shop_system(
    client: httpx2.AsyncClient, bench: Bench, shop: str, column: str, delimiter: str
) -> None:
    await applied(client, bench, b"SKU;Title\nX-1;Saw\n", source="saws")
    job = await applied(client, bench, TOOLS, source="tools")
    answer = await client.post(f"/api/jobs/{job}/export?format={shop}")
    assert answer.status_code == 200, answer.text
    assert f"{shop}.csv" in answer.headers["content-disposition"]
    lines = list(csv.DictReader(io.StringIO(answer.text, newline=""), delimiter=delimiter))
    assert sorted(line[column] for line in lines) == ["T-1", "T-2", "T-3"]
    whole = await client.post(f"/api/jobs/{job}/export?format={shop}&which=all")
    refused(whole, 422, "INVALID_PARAMETERS")


ODD = (
    "SKU;Titel;Preis;Menge;Notiz\n"
    '0007;"=cmd|\'/c calc\'!A1";9,90;5;"a;""b"" <&> \tx"\n'
    "0008;+49 30 1;abc;6;@SUM(A1)\n"
    "0009;-1+1;1,00;7;_x0041_ ünï 😀\n"
    '0010;Säge;0,10;8;"=1\nzwei Zeilen"\n'
).encode()
KINDS = ("csv", "json", "ndjson", "xlsx")


async def _odd(client: httpx2.AsyncClient, bench: Bench) -> str:
    config = {"config": '{"required": ["title", "price"], "currency": "EUR"}'}
    answer = await client.post("/api/jobs", files=file_of(ODD), data=config)
    await bench.work()
    return str(answer.json()["jobId"])


def cells_of(kind: str, content: bytes) -> list[list[Any]]:
    """A file's lines, header first, by a reader that is not ours."""
    if kind == "csv":
        return [list(line) for line in csv.reader(io.StringIO(content.decode(), newline=""))]
    if kind == "xlsx":
        calamine = CalamineWorkbook.from_filelike(io.BytesIO(content)).get_sheet_by_index(0)
        return calamine.to_python(skip_empty_area=False)
    found = (
        orjson.loads(content) if kind == "json" else list(map(orjson.loads, content.splitlines()))
    )
    return [list(found[0]), *(list(line.values()) for line in found)]


@pytest.mark.parametrize("kind", KINDS)
async def test_every_format_is_the_grid_cell_by_cell(
    client: httpx2.AsyncClient, bench: Bench, kind: str
) -> None:
    job = await _odd(client, bench)
    grid = [item.result or {} for item in await all_items(client, job, "pageSize=100")]
    assert len(grid) == 4
    every = f"/api/jobs/{job}/export?statuses=DONE,ERROR&format="
    answer = await client.post(every + kind)
    header, *lines = cells_of(kind, answer.content)
    columns = (await client.post(every + "json")).json()[0]
    assert header == list(columns)
    assert {name for result in grid for name in result} <= set(header)
    for result, line in zip(grid, lines, strict=True):
        for name, cell in zip(header, line, strict=True):
            value = result.get(name)
            if kind == "csv":
                value = safe_cell(value)
            elif kind == "xlsx":
                value = "" if value is None else value
                value = float(value) if name == "price" and value else value
            assert cell == value, name


async def test_a_workbook_can_be_filtered_and_shows_what_is_wrong(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    job = await _odd(client, bench)
    content = (await client.post(f"/api/jobs/{job}/export?format=xlsx&which=all")).content
    sheet = openpyxl.load_workbook(io.BytesIO(content)).active
    assert sheet is not None
    header = [cell.value for cell in sheet[1]]
    assert (sheet.freeze_panes, sheet.auto_filter.ref) == ("A2", sheet.dimensions)
    bad = sheet.cell(3, header.index("price") + 1)
    assert bad.comment is not None
    assert bad.comment.text.endswith("[PRICE_UNREADABLE]")
    assert bad.fill.fgColor.rgb == "FFF8C9C4"
    good = sheet.cell(2, header.index("price") + 1)
    assert (good.value, good.number_format) == (9.9, "0.00####")
    assert good.comment is None
    assert all(cell.data_type in ("s", "n") for row in sheet.iter_rows() for cell in row)


@pytest.mark.parametrize("kind", KINDS)
async def test_the_suppliers_rows_come_back_with_a_reason(
    client: httpx2.AsyncClient, bench: Bench, kind: str
) -> None:
    content = ODD.replace(b"Notiz\n", b"Reason\n", 1).replace(b";@SUM(A1)", b";@SUM(A1);extra")
    answer = await client.post("/api/jobs", files=file_of(content))
    job = answer.json()["jobId"]
    await bench.work()
    path = f"/api/jobs/{job}/export?format={kind}&which=original-with-errors"
    header, line = cells_of(kind, (await client.post(path)).content)
    assert header == ["SKU", "Titel", "Preis", "Menge", "Reason", "Column 6", "Reason 2"]
    expected = ["0008", "+49 30 1", "abc", "6", "@SUM(A1)", "extra"]
    assert line[:-1] == ([safe_cell(cell) for cell in expected] if kind == "csv" else expected)
    assert "6 cells" in line[-1]
    if kind == "xlsx":
        everything = await client.post(f"{path}&statuses=DONE,ERROR")
        assert len(cells_of(kind, everything.content)) == 5


async def test_which_rows_are_exported(
    client: httpx2.AsyncClient, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows smaller than what lies between the rows that are wanted."""
    monkeypatch.setattr(exports, "PAGE_ROWS", 10)
    monkeypatch.setattr(exports, "_WIDEST", 40)
    monkeypatch.setattr(exports, "_WIDEST_WITH_WORDS", 20)
    lines = [f"{n},Thing {n},{n}{',x' if n in (37, 38, 399) else ''}" for n in range(1, 401)]
    content = "\n".join(["sku,title,price", *lines]).encode()
    answer = await client.post("/api/jobs", files=file_of(content))
    path = f"/api/jobs/{answer.json()['jobId']}/export?format=json"
    await bench.work()

    async def skus(query: str) -> list[str]:
        found = (await client.post(f"{path}&{query}")).json()
        return [one["sku"] for one in found]

    everything = [str(n) for n in range(1, 401)]
    assert await skus("") == [sku for sku in everything if sku not in ("37", "38", "399")]
    assert await skus("which=all") == everything
    assert await skus("statuses=ERROR") == ["37", "38", "399"]
    codes = (await client.get(f"/api/jobs/{answer.json()['jobId']}")).json()["errors"]
    (code,) = codes
    assert await skus(f"code={code}") == ["37", "38", "399"]
    assert await skus(f"code={code}&statuses=DONE") == []
    assert await skus("code=OTHER") == []
    assert await skus("q=Thing 39") == ["39", *map(str, range(390, 400))]
    assert await skus("q=thing 39&statuses=ERROR") == ["399"]
    assert await skus("q=100%") == []


async def test_all_rows_have_their_status_and_problems(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    content = b"sku,title,price,status\n1,Saw,5,new\n2,Axe,1O.50,old\n3,Rasp,7,new\n"
    job = (await client.post("/api/jobs", files=file_of(content))).json()["jobId"]
    await bench.work()
    path = f"/api/jobs/{job}/export?format=json"
    rows = (await client.post(f"{path}&which=all")).json()
    assert [(row["sku"], row["status 2"], row["status"]) for row in rows] == [
        ("1", "DONE", "new"), ("2", "ERROR", "old"), ("3", "DONE", "new"),
    ]  # fmt: skip
    assert "1O.50" not in rows[0]["problems"]
    assert "1O.50" in rows[1]["problems"]
    assert "problems" not in (await client.post(path)).json()[0]


SPLIT = (
    b'sku,title,price,size,weight,content\n1,Case,19.90 EUR,"120 x 80 x 40 mm",1.5 kg,6 x 0.5 l\n'
)


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
async def test_no_cell_of_a_spreadsheet_is_json(
    client: httpx2.AsyncClient, bench: Bench, kind: str
) -> None:
    mapping = {
        "size": "dimensions", "weight": "weight", "content": "pack", "price": "price",
    }  # fmt: skip
    config = {"config": orjson.dumps({"mapping": mapping, "intent": "create"}).decode()}
    answer = await client.post("/api/jobs", files=file_of(SPLIT), data=config)
    await bench.work()
    place = f"/api/jobs/{answer.json()['jobId']}/export?format={kind}"
    expected = {
        "price": 19.9, "unit": "piece", "length": 120, "width": 80, "height": 40,
        "dimensionUnit": "mm", "weight": 1.5, "weightUnit": "kg", "packCount": 6,
        "packSize": 0.5, "packUnit": "l", "packTotal": 3, "packTotalUnit": "l",
    }  # fmt: skip
    for path in (place, f"/api/products/export?format={kind}"):
        header, line = cells_of(kind, (await client.post(path)).content)
        row = dict(zip(header, line, strict=True))
        assert not any("{" in str(cell) for cell in line)
        for name, value in expected.items():
            cell = row[name]
            assert (float(cell) if isinstance(value, int | float) else cell) == value, name
            if kind == "xlsx" and not isinstance(value, str):
                assert isinstance(cell, float), name


def test_a_cell_with_two_problems_has_one_comment() -> None:
    """A spreadsheet takes a second one on the same cell for a broken file."""
    pages = XlsxWriter(["a", "b"])
    marks = (Mark("b", "odd", is_error=False), Mark("b", "bad"), Mark("b", "bad"), Mark("c", "x"))
    content = pages.head() + pages.page([ExportRow(["1", "2"], marks)]) + pages.end()
    with zipfile.ZipFile(io.BytesIO(content)) as book:
        assert book.read("xl/comments1.xml").count(b"<comment ref=") == 1
    sheet = openpyxl.load_workbook(io.BytesIO(content)).active
    assert sheet is not None
    cell = sheet["B2"]
    assert cell.comment is not None
    assert (cell.comment.text, cell.fill.fgColor.rgb) == ("odd\nbad", "FFF8C9C4")


LISTS = {
    "de": (
        "Art.-Nr.;Bezeichnung;Preis EUR;Bestand\nBefestigung;;;\nD-1;Dübel;1,00;4\n"
        "D-2;Haken;2,00;5\nWerkzeug;;;\nD-1;Dübel;1,00;4\nGesamt;;3,00;\n"
    ),
    "pl": (
        "Kod;Nazwa;Cena netto PLN;Stan\nKłódki;;;\nD-1;Kłódka;1,00;4\n"
        "D-2;Zawias;2,00;5\nNarzędzia;;;\nD-1;Kłódka;1,00;4\nRazem;;3,00;\n"
    ),
    "fr": (
        "Réf.;Désignation;Prix HT EUR;Stock\nFixation;;;\nD-1;Cheville;1,00;4\n"
        "D-2;Crochet;2,00;5\nOutils;;;\nD-1;Cheville;1,00;4\nTotal;;3,00;\n"
    ),
}


@pytest.mark.parametrize("language", LISTS)
@pytest.mark.parametrize("form", ["csv", "xlsx"])
async def test_headings_totals_and_repeated_rows_are_no_results(
    client: httpx2.AsyncClient, bench: Bench, language: str, form: str
) -> None:
    answer = await client.post("/api/jobs", files=file_of(LISTS[language].encode(), "list.csv"))
    job = answer.json()["jobId"]
    await bench.work()
    written = await client.post(f"/api/jobs/{job}/export?format={form}")
    if form == "csv":
        skus = [row["sku"] for row in csv.DictReader(io.StringIO(written.text, newline=""))]
    else:
        sheet = openpyxl.load_workbook(io.BytesIO(written.content)).active
        assert sheet is not None
        head, *rows = sheet.iter_rows(values_only=True)
        skus = [str(row[head.index("sku")]) for row in rows]
    assert skus == ["D-1", "D-2"]
    every = await client.post(f"/api/jobs/{job}/export?format=csv&which=all")
    assert len(list(csv.DictReader(io.StringIO(every.text, newline="")))) == 5


async def test_parts_of_a_product_are_no_rows_of_their_own(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    content = (
        b"Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Price,Status\n"
        b"mug,Mug,Color,Red,M-R,9.00,active\nmug,,,Blue,M-B,9.50,\n"
        b"cup,Cup,Title,Default Title,C-1,3.00,active\n"
    )
    answer = await client.post("/api/jobs", files=file_of(content, "products_export.csv"))
    job = answer.json()["jobId"]
    await bench.work()
    assert [row["title"] for row in await exported(client, job)] == ["Mug", "Cup"]


@pytest.mark.parametrize(
    "header", ["Art.-Nr.;Titel;Preis EUR;PE", "Kod;Nazwa;Cena netto PLN;Ilość jedn. ceny",
               "SKU;Title;Price GBP;Price unit quantity"],
)  # fmt: skip
async def test_a_price_for_several_pieces_is_exported_with_that_of_one(
    client: httpx2.AsyncClient, bench: Bench, header: str
) -> None:
    content = f"{header}\nA-1;Saw;12,00;100\nA-2;Axe;5,00;1\n".encode()
    config = {"mapping": {header.rpartition(";")[2]: "price.unit.count"}}
    answer = await client.post(
        "/api/jobs", files=file_of(content), data={"config": orjson.dumps(config).decode()}
    )
    job = answer.json()["jobId"]
    await bench.work()
    first, second = await exported(client, job)
    assert (first["price"], first["unit"], first["perUnit"]) == ("12.00", "100 piece", "0.12")
    assert (second["price"], second["perUnit"]) == ("5.00", "")
