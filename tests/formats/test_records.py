"""JSON, NDJSON and XML: where the records are, and what is refused."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from tests.formats.support import read, refusal


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "file.csv"  # the name says nothing


@pytest.mark.parametrize(
    ("text", "path", "table"),
    [
        ('[{"a": 1, "b": "x"}, {"b": "y", "c": true}]', "(the list itself)",
         [["a", "b", "c"], ["1", "x", ""], ["", "y", "true"]]),
        ('{"meta": {"page": 1}, "data": {"items": [{"sku": "007"}, {"sku": "08"}]}}', "data.items",
         [["sku"], ["007"], ["08"]]),
        ('{"status": "ok", "total": 2, "products": [{"id": 1}, {"id": 2}], "errors": []}',
         "products", [["id"], ["1"], ["2"]]),
        ('{"product": {"id": 5, "title": "x", "price": 90.750, "variants": [{"sku": "a"}]}}',
         "product", [["id", "title", "price", "variants"], ["5", "x", "90.750", '[{"sku":"a"}]']]),
        ('[{"p": {"net": 1.10, "cur": "EUR"}, "tags": ["a", "b"]}]', "(the list itself)",
         [["p.net", "p.cur", "tags"], ["1.10", "EUR", '["a","b"]']]),
        ('[["sku", "price"], ["A", 1], ["B", 2.50]]', "(the list itself)",
         [["sku", "price"], ["A", "1"], ["B", "2.50"]]),
        ('["a", "b"]', "(the list itself)", [["value"], ["a"], ["b"]]),
        ('[{"gtin": 4006381333931, "big": 123456789012345678901234567890}]', "(the list itself)",
         [["gtin", "big"], ["4006381333931", "123456789012345678901234567890"]]),
        ('[{"image": null, "id": 1}, {"image": {"src": "u"}, "id": 2}]', "(the list itself)",
         [["id", "image.src"], ["1", ""], ["2", "u"]]),
    ],
)  # fmt: skip
def test_json(file: Path, text: str, path: str, table: list[list[str]]) -> None:
    file.write_text(text)
    reading = read(file)
    assert reading.found["format"] == "json"
    assert reading.found["records_path"] == path
    assert reading.table == table


@pytest.mark.parametrize(
    "text",
    [
        '["\\u0000"]', '["\\ud800"]', "[NaN]", "[1e400]", '[{"a": 1, "a": 2}]', '{"a": 1, "a": 2}',
        f"[{'9' * 5000}]", "[" * 100_000, '{"a":' * 100_000, "[1,]", "[1] x", '{"a" 1}',
        "[-Infinity]",
        "[" * 70 + "]" * 70, '["\t"]', "[01]", "['a']", '[{"a": [[[1]]', "{,}",
    ],
)  # fmt: skip
def test_json_that_is_none(file: Path, text: str) -> None:
    file.write_text(text)
    start = time.process_time()
    assert refusal(file).code == "INVALID_JSON"
    assert time.process_time() - start < 2


def test_the_path_of_records_can_be_told(file: Path) -> None:
    file.write_text('{"a": [{"x": 1}], "b": {"c": [{"y": 2}, {"y": 3}]}}')
    assert read(file).found["ambiguities"]
    assert read(file, {"records_path": "a"}).table == [["x"], ["1"]]
    assert read(file, {"records_path": "$.b.c"}).table == [["y"], ["2"], ["3"]]
    assert refusal(file, {"records_path": "nope"}).code == "INVALID_PARAMETERS"


def test_long_json_streams_and_resumes(file: Path) -> None:
    records = [{"sku": f"A{n}", "text": "x" * 200, "n": n} for n in range(5000)]
    file.write_text(json.dumps({"generator": "shop", "items": records}))
    whole = read(file)
    assert len(whole.rows) == 5000
    again = read(file, cursor={"rows": 4321, "plan": whole.head.plan})
    assert again.rows == whole.rows[4321:]


def test_ndjson(file: Path) -> None:
    lines = ['{"a": 1, "b": "x"}', '{"a": 2}', "{broken", "", '{"a": 3, "c": 1.50}']
    file.write_text("\n".join(lines))
    reading = read(file)
    assert reading.found["format"] == "ndjson"
    assert reading.table == [["a", "b", "c"], ["1", "x", ""], ["2", "", ""], ["3", "", "1.50"]]
    assert [(one["code"], one["line"]) for one in reading.end.problems] == [("INVALID_JSON", 3)]
    again = read(file, cursor={"rows": 2, "plan": reading.head.plan})
    assert again.rows == reading.rows[2:]


@pytest.mark.parametrize(
    ("text", "path", "table"),
    [
        ("<products><product sku='1'><name>A &amp; B</name></product>"
         "<product sku='2'><name><![CDATA[<b>C</b>]]></name></product></products>",
         "products/product", [["sku", "name"], ["1", "A & B"], ["2", "<b>C</b>"]]),
        ("<rss><channel><title>Shop</title><item><g:id xmlns:g='u'>5</g:id><price cur='EUR'>9.50"
         "</price></item></channel></rss>",
         "rss/channel/item", [["g:id", "price", "price.cur"], ["5", "9.50", "EUR"]]),
        ("<r><x><a>1</a><i>u</i><i>v</i></x><x><a>2</a><i>w</i></x></r>",
         "r/x", [["a", "i"], ["1", '["u","v"]'], ["2", "w"]]),
        ("<r><x><d><p>one <b>two</b></p></d><a>1</a></x><x><d/><a>2</a></x></r>",
         "r/x", [["d", "a"], ["one two", "1"], ["", "2"]]),
        ("<r><x><a>caf&eacute;</a><b>1</b></x><x><a>2</a><b>&nbsp;</b></x></r>",
         "r/x", [["a", "b"], ["café", "1"], ["2", ""]]),
    ],
)  # fmt: skip
def test_xml(file: Path, text: str, path: str, table: list[list[str]]) -> None:
    file.write_text(f"<?xml version='1.0'?>\n{text}")
    reading = read(file)
    assert reading.found["format"] == "xml"
    assert reading.found["records_path"] == path
    assert reading.table == table


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1", "windows-1250", "gb18030"])
def test_xml_says_its_encoding(file: Path, encoding: str) -> None:
    name = "电视" if encoding == "gb18030" else "Tür"
    text = f"<?xml version='1.0' encoding='{encoding}'?><r><x><a>{name}</a><b>1</b></x></r>"
    file.write_bytes(text.encode(encoding))
    assert read(file).rows == [[name, "1"]]


LAUGHS = '<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><r><x><a>&b;</a></x></r>'
OUTSIDE = '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/hostname">]><r><x>&a;</x></r>'
PARAMETER = '<!DOCTYPE r [<!ENTITY % a SYSTEM "http://x.invalid/a"> %a;]><r/>'


@pytest.mark.parametrize("text", [LAUGHS, OUTSIDE, PARAMETER])
def test_xml_that_reaches_out(file: Path, text: str) -> None:
    file.write_text(text)
    assert refusal(file).code == "XML_FORBIDDEN"


def test_declarations_that_are_named_are_not_fetched(file: Path, tmp_path: Path) -> None:
    """Catalogues in BMEcat name theirs, which nobody sends with them."""
    dtd = tmp_path / "r.dtd"
    dtd.write_text('<!ENTITY a "from outside">')
    file.write_text(f'<!DOCTYPE r SYSTEM "{dtd.as_uri()}"><r><x><a>1&a;</a></x></r>')
    assert read(file).rows == [["1&a;"]]


@pytest.mark.parametrize("text", ["<r><x></r>", "<r>", "<a>" * 100_000, "<r><x a=1/></r>"])
def test_xml_that_is_none(file: Path, text: str) -> None:
    file.write_text(text)
    assert refusal(file).code == "INVALID_XML"


def test_long_xml_streams_and_resumes(file: Path) -> None:
    items = "".join(f"<p><sku>A{n}</sku><n>{n}</n></p>" for n in range(3000))
    file.write_text(f"<shop>{items}</shop>")
    whole = read(file)
    assert len(whole.rows) == 3000
    again = read(file, cursor={"rows": 2999, "plan": whole.head.plan})
    assert again.rows == [["A2999", "2999"]]


def test_objects_one_after_the_other(tmp_path: Path) -> None:
    file = tmp_path / "list.json"
    file.write_text(
        '{"sku": "A",\n "name": "Bolt"}\n{"sku": "B", "price": {"amount": 2}}{"sku": "C"}'
    )
    found = read(file)
    assert found.header == ["sku", "name", "price.amount"]
    assert found.rows == [["A", "Bolt", ""], ["B", "", "2"], ["C", "", ""]]
    kept = {"rows": 2, "plan": found.head.plan}
    assert read(file, cursor=kept).rows == [["C", "", ""]]
    file.write_text('{"sku": "A"}{"sku": ')
    assert refusal(file).code == "INVALID_JSON"


def test_names_beside_their_rows(tmp_path: Path) -> None:
    file = tmp_path / "list.json"
    file.write_text('{"columns": ["sku", "price"], "rows": [["A", 1.20], ["B", 2]]}')
    assert read(file).table == [["sku", "price"], ["A", "1.20"], ["B", "2"]]
    file.write_text('{"fields": [{"name": "sku"}, {"name": "n"}], "data": [["A", 1], ["B", 2]]}')
    assert read(file).table == [["sku", "n"], ["A", "1"], ["B", "2"]]


def test_records_that_hold_only_other_elements(tmp_path: Path) -> None:
    file = tmp_path / "list.xml"
    items = "".join(
        f"<Add><ItemID><Part>A-{n}</Part></ItemID><Detail><Price><Money currency='EUR'>{n}.50"
        "</Money></Price><Text>Bolt</Text></Detail></Add>"
        for n in range(3)
    )
    file.write_text(f"<Index><Head><From>x</From></Head><Items>{items}</Items></Index>")
    found = read(file)
    assert found.found["records_path"] == "Index/Items/Add"
    assert found.rows[1] == ["A-1", "1.50", "EUR", "Bolt"]


def test_elements_that_come_again_under_other_names(tmp_path: Path) -> None:
    file = tmp_path / "list.xml"
    items = "".join(
        f'<o id="{n}"><attrs><a name="Brand">ACME</a><a name="EAN">400{n}</a></attrs></o>'
        for n in range(3)
    )
    file.write_text(f"<offers>{items}</offers>")
    assert read(file).table[:2] == [["id", "attrs.Brand", "attrs.EAN"], ["0", "ACME", "4000"]]


def test_parameters_by_their_names_beside_other_elements(tmp_path: Path) -> None:
    file = tmp_path / "list.xml"
    file.write_text(
        '<offers><offer id="1"><name>Bolt</name><param name="Color">red</param>'
        '<param name="Size">M</param></offer><offer id="2"><name>Nut</name></offer></offers>'
    )
    assert read(file).table == [
        ["id", "name", "param.Color", "param.Size"],
        ["1", "Bolt", "red", "M"],
        ["2", "Nut", "", ""],
    ]
