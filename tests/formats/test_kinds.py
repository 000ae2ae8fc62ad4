"""Kinds of files that suppliers send and that are easily taken for something else."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest
from tests.formats.support import read, refusal


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "list.xls"


PAGE = """<html xmlns:x="urn:schemas-microsoft-com:office:excel"><head>
<meta http-equiv="Content-Type" content="text/html; charset=windows-1252">
<style>td {mso-number-format:"\\@";}</style><title>Export</title></head><body>
<table border=1>
<tr><td colspan=3><b>Preisliste M&uuml;ller</b></td></tr>
<tr><th>Art.-Nr.</th><th>Bezeichnung</th><th>Preis</th></tr>
<tr><td>00123</td><td>Schraube<br>M4 &gt; 10&nbsp;mm</td><td x:num="1234.5">1.234,50 \x80</td></tr>
<tr><td rowspan=2>A1</td><td>x <!-- <td>no</td> --></td><td>2</td>
<tr><td>y<td title="a > b">3</tr>
<script>var x = "<td>no</td>";</script>
</table></body></html>"""
PAGE_TABLE = [
    ["Art.-Nr.", "Bezeichnung", "Preis"],
    ["00123", "Schraube\nM4 > 10 mm", "1234.5"],
    ["A1", "x", "2"],
    ["A1", "y", "3"],
]


def test_tables_of_html(file: Path) -> None:
    file.write_bytes(PAGE.encode("latin-1"))
    reading = read(file)
    assert reading.table == PAGE_TABLE
    assert (reading.found["format"], reading.found["encoding"]) == ("html", "windows-1252")
    assert reading.found["preamble"] == [{"line": 1, "text": "Preisliste Müller"}]
    again = read(file, cursor={"rows": 2, "plan": reading.head.plan})
    assert again.rows == PAGE_TABLE[3:]


def test_html_that_lies_about_its_encoding(file: Path) -> None:
    file.write_bytes(PAGE.replace("windows-1252", "utf-8").encode("latin-1"))
    assert read(file).table == PAGE_TABLE


def test_the_largest_table_of_a_page_is_read(file: Path) -> None:
    rows = "".join(f"<tr><td>A{n}</td><td>{n}</td></tr>" for n in range(50))
    file.write_text(
        "<!DOCTYPE html><body><table id=menu><tr><td>Home</td></tr></table>"
        f"<table><tr><td><table id=list><tr><th>sku</th><th>price</th></tr>{rows}</table></td></tr>"
        "</table>"
    )
    reading = read(file)
    assert reading.found["sheet"] == "list"
    assert reading.table[:2] == [["sku", "price"], ["A0", "0"]]
    assert len(reading.rows) == 50
    assert read(file, {"sheet": "menu"}).table == [["Home"]]


def test_pages_that_are_no_tables(file: Path) -> None:
    for page in (
        "<html><body><h1>Login</h1><p>Please log in to see our prices.</p></body></html>",
        "<html><body>" + "<p>Much text around it.</p>" * 20 + "<table><tr><td>x</td></tr></table>",
        "<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'><rect/></svg>",
    ):
        file.write_text(page)
        assert refusal(file).code == "UNSUPPORTED_TYPE"


BOOK = """<?xml version="1.0"?>
<?mso-application progid="Excel.Sheet"?>
<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet"
 xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet">
<Styles><Style ss:ID="p"><NumberFormat ss:Format="Percent"/></Style>
<Style ss:ID="z"><NumberFormat ss:Format="00000"/></Style></Styles>
<Worksheet ss:Name="Cover"><Table><Row><Cell><Data ss:Type="String">Hi</Data></Cell></Row></Table>
</Worksheet>
<Worksheet ss:Name="Prices"><Table><Column ss:Hidden="1" ss:Index="3"/>
<Row><Cell ss:MergeAcross="3"><Data ss:Type="String">Price list</Data></Cell></Row>
<Row ss:Index="3"><Cell><Data ss:Type="String">SKU</Data></Cell>
 <Cell><Data ss:Type="String">VAT</Data></Cell><Cell><Data ss:Type="String">Since</Data></Cell>
 <Cell><Data ss:Type="String">Active</Data></Cell></Row>
<Row><Cell ss:StyleID="z"><Data ss:Type="Number">42</Data></Cell>
 <Cell ss:StyleID="p"><Data ss:Type="Number">0.19</Data></Cell>
 <Cell><Data ss:Type="DateTime">2024-01-31T00:00:00.000</Data></Cell>
 <Cell><Data ss:Type="Boolean">1</Data></Cell></Row>
<Row ss:Hidden="1"><Cell><Data ss:Type="Number">4006381333931</Data></Cell>
 <Cell ss:Index="4"><Data ss:Type="Error">#N/A</Data></Cell></Row>
<Row ss:Index="6"><Cell><Data ss:Type="String">B &amp; C</Data></Cell>
 <Cell ss:Index="3"><Data ss:Type="DateTime">2024-02-01T10:30:00.000</Data></Cell></Row>
</Table></Worksheet></Workbook>"""


def test_workbooks_as_xml(file: Path) -> None:
    file.write_text(BOOK)
    reading = read(file)
    assert reading.table == [
        ["SKU", "VAT", "Since", "Active"],
        ["00042", "19%", "2024-01-31", "TRUE"],
        ["4006381333931", "", "", "#N/A"],
        ["B & C", "", "2024-02-01T10:30:00", ""],
    ]
    found = reading.found
    assert (found["format"], found["sheet"]) == ("xml2003", "Prices")
    assert (found["hidden_rows"], found["hidden_columns"]) == ([5], [3])
    assert [one["code"] for one in reading.end.problems] == ["CELL_ERROR"]
    assert read(file, cursor={"rows": 2, "plan": reading.head.plan}).rows == reading.rows[2:]
    assert read(file, {"sheet": "Cover"}).table == [["Hi"]]


def test_workbooks_as_xml_that_reach_far(file: Path) -> None:
    row = '<Row ss:Index="{}"><Cell ss:Index="{}"><Data ss:Type="Number">1</Data></Cell></Row>'
    head = BOOK.partition("<Row>")[0]
    for line, column, code in (
        (1_048_576, 16_384, "TOO_MANY_CELLS"),
        (2, 3000, "TOO_MANY_COLUMNS"),
    ):
        file.write_text(f"{head}{row.format(line, column)}</Table></Worksheet></Workbook>")
        assert refusal(file).code == code


FRUIT = [["id", "name", "price"], ["1", "Apple | red", "1.20"], ["2", "", "0.90"]]


@pytest.mark.parametrize(
    "text",
    [
        "# Fruit\n\nFresh ones.\n\n| id | name | price |\n|---:|:----:|-------|\n"
        "| 1 | Apple \\| red | 1.20 |\n| 2 |  | 0.90 |\n",
        "id | name | price\n-- | ---- | -----\n1 | Apple \\| red | 1.20\n2 | | 0.90\n",
        " id | name         | price \n----+--------------+-------\n  1 | Apple \\| red |  1.20 \n"
        "  2 |              |  0.90 \n(2 rows)\n",
        "+----+--------------+-------+\n| id | name         | price |\n"
        "+====+==============+=======+\n|  1 | Apple \\| red |  1.20 |\n"
        "|  2 |              |  0.90 |\n+----+--------------+-------+\n2 rows in set (0.00 sec)\n",
    ],
    ids=["markdown", "markdown without a frame", "psql", "mysql"],
)
def test_tables_drawn_for_the_eye(file: Path, text: str) -> None:
    file.write_text(text)
    assert read(file).table == FRUIT


def test_bars_that_draw_nothing(file: Path) -> None:
    """A minus for an empty cell is no rule."""
    file.write_text("sku|old|new\nA-1|1.20|1.30\nA-2|-|-\nA-3|0.90|-\n")
    assert read(file).rows == [["A-1", "1.20", "1.30"], ["A-2", "-", "-"], ["A-3", "0.90", "-"]]


@pytest.mark.parametrize(
    ("content", "seems"),
    [
        (b"-- MySQL dump\nDROP TABLE IF EXISTS `p`;\nINSERT INTO `p` VALUES (1,'x');\n", "SQL"),
        (b"COPY public.products (id, name) FROM stdin;\n1\tx\n\\.\n", "SQL"),
        (b"MIME-Version: 1.0\nContent-Type: multipart/related; boundary=x\n\n--x\n", "MHTML"),
        (b"UNA:+.? 'UNB+UNOC:3+4012345000009:14+4000004000002:14+040101:0400+1'", "EDIFACT"),
        (b"ID;PWXL;N;E\r\nP;PGeneral\r\nC;Y1;X1;K1\r\n", "SYLK"),
    ],
    ids=["inserts", "copy", "web archive", "edifact", "sylk"],
)
def test_what_is_refused_is_named_with_a_way_out(file: Path, content: bytes, seems: str) -> None:
    file.write_bytes(content)
    error = refusal(file)
    assert error.code == "UNSUPPORTED_TYPE"
    assert seems in error.message
    assert ":" in error.details["seems"]


def packed(names: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in names.items():
            archive.writestr(name, content)
    return made.getvalue()


@pytest.mark.parametrize(
    ("part", "what"), [("Index/Document.iwa", "Numbers"), ("index.zip", "Numbers")]
)
def test_workbooks_that_are_not_read(file: Path, part: str, what: str) -> None:
    file.write_bytes(packed({part: b"x", "other.xml": b"<a/>"}))
    error = refusal(file)
    assert (error.code, what in error.message, "xlsx" in error.message) == (
        "UNSUPPORTED_TYPE", True, True,
    )  # fmt: skip


def test_one_of_several_files_in_a_zip(file: Path) -> None:
    file.write_bytes(
        packed(
            {"a/one.csv": b"sku,price\nA,1\n", "two.json": b'[{"sku":"B"}]', "read me.txt": b"-"}
        )
    )
    error = refusal(file)
    assert error.code == "ARCHIVE_NOT_ONE_FILE"
    assert error.details["names"] == ["a/one.csv", "two.json", "read me.txt"]
    assert all(name in error.message for name in error.details["names"])
    for member in ("a/one.csv", "one.csv", 1, "1"):
        reading = read(file, {"member": member})
        assert reading.table == [["sku", "price"], ["A", "1"]]
    assert read(file, {"member": "two.json"}).rows == [["B"]]
    again = read(file, {"member": 1}, cursor={"rows": 0, "plan": reading.head.plan})
    assert again.rows == [["A", "1"]]
    assert refusal(file, {"member": "three.csv"}).code == "INVALID_PARAMETERS"


def test_pictures_beside_the_list_are_no_lists(file: Path) -> None:
    file.write_bytes(
        packed(
            {"p/1.jpg": b"\xff\xd8\xff\xe0", "p/2.png": b"\x89PNG\r\n", "list.csv": b"a,b\n1,2\n"}
        )
    )
    assert read(file).found["container"] == "zip: list.csv"


def test_xml_as_scripts_leave_it(file: Path) -> None:
    """Empty lines above the declaration, and bytes that are not in the encoding it names."""
    items = "".join(f"<p><id>{n}</id><name>Müller</name></p>" for n in range(30)).encode()
    odd = b"<p><id>30</id><name>Bj\xf6rn</name></p>"
    head = b'\r\n\n<?xml version="1.0" encoding="utf-8"?>'
    file.write_bytes(head + b"<shop>" + items + odd + b"</shop>")
    reading = read(file)
    assert reading.rows[0] == ["0", "Müller"]
    assert reading.rows[30] == ["30", "Björn"]
    assert "no UTF-8" in reading.found["ambiguities"][0]
    file.write_bytes(head + b"<shop>" + odd * 3 + b"</shop>")
    assert read(file).rows == [["30", "Björn"]] * 3


def test_a_first_cell_with_markup_makes_no_document(file: Path) -> None:
    file.write_text('<a href="x">one</a>;1\n<b>two</b>;2\n')
    assert read(file, {"header_row": 0}).rows == [['<a href="x">one</a>', "1"], ["<b>two</b>", "2"]]


def test_times_cut_no_cells(file: Path) -> None:
    file.write_text("Reader 04:14:00\nTribune 14:57:13\nHerald 00:00:00\n")
    assert read(file).found["delimiter"] != ":"


def test_a_code_alone_at_the_end_is_a_row(file: Path) -> None:
    file.write_text("sku;name;price\nA-1;Bolt;1\nA-2;Nut;2\nA-3;Pin;3\nA-4\n")
    assert read(file).rows[-1] == ["A-4", "", ""]
    file.write_text("sku;name;price\nA-1;Bolt;1\nA-2;Nut;2\nA-3;Pin;3\nAll prices net\n")
    assert read(file).rows[-1] == ["A-3", "Pin", "3"]


def test_a_year_names_a_column(file: Path) -> None:
    file.write_text("Country;2013\nCanada;35160000\nMexico;122300000\n")
    assert read(file).header == ["Country", "2013"]


def test_names_over_three_lines_with_a_sum_among_them(file: Path) -> None:
    """The last line of the header holds a number; the gap below says that it is one."""
    file.write_text(
        ',,Bestell-,\nWaren,,menge,Summe:\ngruppe,Artikel,,"0,00 €"\n,,,\n'
        '1,Eier,,"0,00 €"\n2,Kartoffeln,,"0,00 €"\n2,Lauch,,"0,00 €"\n3,Rettich,,"0,00 €"\n'
    )
    reading = read(file)
    assert reading.found["header_rows"][-1] == 3
    assert len(reading.rows) == 4


def test_a_turkish_capital_is_a_letter(file: Path) -> None:
    text = "MODEL,AÇIKLAMA,LİSTE FİYATI\nKB-1,TEK SERPANTİNLİ BOYLER,398\nKB-2,ÇİFT BOYLER,474\n"
    file.write_bytes(text.encode("cp1254"))
    reading = read(file)
    assert reading.found["encoding"] == "cp1254"
    assert reading.header == ["MODEL", "AÇIKLAMA", "LİSTE FİYATI"]


CATALOGUE = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE BMECAT SYSTEM "bmecat_new_catalog_1_2.dtd">
<BMECAT version="1.2" xmlns="http://www.bmecat.org/XMLSchema/1.2/bmecat_new_catalog">
<HEADER><CATALOG><LANGUAGE>deu</LANGUAGE><CATALOG_ID>K1</CATALOG_ID>
<CATALOG_VERSION>1.0</CATALOG_VERSION><CATALOG_NAME>Werkzeug</CATALOG_NAME>
<TERRITORY>DE</TERRITORY><TERRITORY>AT</TERRITORY></CATALOG></HEADER>
<T_NEW_CATALOG><CATALOG_GROUP_SYSTEM>
<CATALOG_STRUCTURE type="root"><GROUP_ID>1</GROUP_ID><GROUP_NAME>Alles</GROUP_NAME>
</CATALOG_STRUCTURE>
<CATALOG_STRUCTURE type="leaf"><GROUP_ID>2</GROUP_ID><GROUP_NAME>Bolzen</GROUP_NAME>
</CATALOG_STRUCTURE>
</CATALOG_GROUP_SYSTEM>
<ARTICLE mode="new"><SUPPLIER_AID>0100</SUPPLIER_AID><ARTICLE_DETAILS>
<DESCRIPTION_SHORT>Bolzen M4</DESCRIPTION_SHORT><EAN>4006381333931</EAN></ARTICLE_DETAILS>
<ARTICLE_PRICE_DETAILS><ARTICLE_PRICE price_type="net_list"><PRICE_AMOUNT>1.20</PRICE_AMOUNT>
<PRICE_CURRENCY>EUR</PRICE_CURRENCY></ARTICLE_PRICE></ARTICLE_PRICE_DETAILS></ARTICLE>
</T_NEW_CATALOG></BMECAT>"""


def test_a_catalogue_with_one_article(file: Path) -> None:
    """What describes the catalogue has more to say at first sight than its only article."""
    file.write_text(CATALOGUE)
    reading = read(file)
    assert reading.found["records_path"] == "BMECAT/T_NEW_CATALOG/ARTICLE"
    row = dict(zip(reading.header, reading.rows[0], strict=True))
    assert row["SUPPLIER_AID"] == "0100"
    assert row["ARTICLE_DETAILS.EAN"] == "4006381333931"
    assert row["ARTICLE_PRICE_DETAILS.ARTICLE_PRICE.PRICE_AMOUNT"] == "1.20"


def test_offers_beside_categories(file: Path) -> None:
    categories = "".join(f'<category id="{n}" parentId="0">C{n}</category>' for n in range(40))
    file.write_bytes(
        '<?xml version="1.0" encoding="windows-1251"?><!DOCTYPE yml_catalog SYSTEM "shops.dtd">'
        f"<yml_catalog><shop><name>x</name><categories>{categories}</categories><offers>"
        '<offer id="1" available="true"><price>350</price><name>Кружка</name></offer>'
        '<offer id="2" available="false"><price from="true">500</price><name>Майка</name></offer>'
        "</offers></shop></yml_catalog>".encode("cp1251")
    )
    reading = read(file)
    assert reading.found["records_path"] == "yml_catalog/shop/offers/offer"
    assert [row[:4] for row in reading.rows] == [
        ["1", "true", "350", "Кружка"], ["2", "false", "500", "Майка"],
    ]  # fmt: skip


@pytest.mark.parametrize("count", [2, 30, 1000])
def test_records_under_their_keys(file: Path, count: int) -> None:
    """As databases of documents export them: the key is a column of its own."""
    records = {
        f"A-{n}": {"title": f"Bolt {n}", "tags": ["x", "y"], "price": n} for n in range(count)
    }
    file.write_text(json.dumps({"version": 3, "goods": records}))
    reading = read(file)
    assert reading.found["records_path"] == "goods"
    assert reading.header == ["key", "title", "tags", "price"]
    assert reading.rows[-1] == [f"A-{count - 1}", f"Bolt {count - 1}", '["x","y"]', str(count - 1)]
    assert len(reading.rows) == count
    again = read(file, cursor={"rows": count - 1, "plan": reading.head.plan})
    assert again.rows == reading.rows[-1:]


def test_objects_that_are_no_records(file: Path) -> None:
    """Two parts of one thing have little in common."""
    file.write_text('{"product": {"sku": "A", "price": 1}, "vendor": {"name": "B", "city": "C"}}')
    assert read(file).header == ["product.sku", "product.price", "vendor.name", "vendor.city"]


def test_templates_of_marketplaces(file: Path) -> None:
    """A line of settings, names for people, names for programs: the last are the columns'."""
    file.write_text(
        "TemplateType=Clothing\tVersion=2014.1119\tDo not modify the top 3 rows.\t\n"
        "Seller SKU\tProduct Name\tStandard Price\tQuantity\n"
        "item_sku\titem_name\tstandard_price\tquantity\n"
        "AB-1\tShirt red\t12.99\t10\nAB-2\tShirt blue\t12.99\t0\nAB-3\tHat\t8.50\t3\n"
    )
    reading = read(file)
    assert reading.header == ["item_sku", "item_name", "standard_price", "quantity"]
    assert (len(reading.rows), reading.found["header_rows"]) == (3, [2, 3])
    file.write_text(
        "Info,Version=1.0.0,Template=fx_category,\n*Action(SiteID=US),CustomLabel,*Title,*StartPrice\n"
        'Add,SKU-1,"Red dress, size M",19.99\nAdd,SKU-2,Blue dress,24.99\n'
    )
    assert read(file).header == ["*Action(SiteID=US)", "CustomLabel", "*Title", "*StartPrice"]


@pytest.mark.parametrize(("row", "field"), [("row", "field"), ("table", "column")])
def test_fields_that_an_attribute_names(file: Path, row: str, field: str) -> None:
    """As databases dump their tables."""
    rows = [{"id": "1", "name": "Apple", "price": "1.20"}, {"id": "2", "name": "", "price": "0.90"}]
    body = "".join(
        f"<{row}>"
        + "".join(f'<{field} name="{key}">{value}</{field}>' for key, value in one.items())
        + f"</{row}>"
        for one in rows
    )
    file.write_text(f'<?xml version="1.0"?><resultset statement="x">{body}</resultset>')
    reading = read(file)
    assert reading.header == ["id", "name", "price"]
    assert reading.rows == [list(one.values()) for one in rows]
