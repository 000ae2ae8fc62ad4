"""Messy files of our own making: what suppliers send, in small. Each one with its truth."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """``table`` is the header and the rows; a header that is not there is all empty."""

    name: str
    trait: str
    content: bytes
    table: list[list[str]]


CASES: list[Case] = []

PRODUCTS = [
    ["SKU", "Title", "Price", "Stock"],
    ["A-100", "Copper pipe 15 mm", "12.50", "40"],
    ["A-101", "Ball valve", "7.95", "112"],
    ["A-102", "Elbow fitting", "1.20", "980"],
    ["A-103", "Heat pump", "2499.00", "3"],
]
GERMAN = [
    ["Artikelnummer", "Bezeichnung", "Preis", "Größe"],
    ["0012", "Kühlgerät für Küche", "1.234,50", "groß"],
    ["0013", "Türgriff, schräg", "12,90", "mittel"],
    ["0014", "Schlüssel", "3,00", "klein"],
]


def case(
    name: str, trait: str, text: str | bytes, table: list[list[str]], encoding: str = "utf-8"
) -> None:
    content = text if isinstance(text, bytes) else text.encode(encoding)
    CASES.append(Case(name, trait, content, table))


def joined(table: list[list[str]], delimiter: str, end: str = "\n") -> str:
    return "".join(delimiter.join(row) + end for row in table)


def header_less(rows: list[list[str]]) -> list[list[str]]:
    return [[""] * len(rows[0]), *rows]


# Delimiters and line ends.
for _name, _mark in {
    "comma": ",",
    "semicolon": ";",
    "tab": "\t",
    "pipe": "|",
    "caret": "^",
    "tilde": "~",
    "colon": ":",
    "unit separator": "\x1f",
    "control A": "\x01",
    "double pipe": "||",
    "tilde pipe tilde": "~|~",
    "broken bar": "¦",
}.items():
    case(f"delimiter {_name}", "delimiter", joined(PRODUCTS, _mark), PRODUCTS)
case("line ends CRLF", "line ends", joined(PRODUCTS, ",", "\r\n"), PRODUCTS)
case("line ends CR", "line ends", joined(PRODUCTS, ";", "\r"), PRODUCTS)
case(
    "line ends mixed",
    "line ends",
    "SKU,Title\r\nA,one\nB,two\r\nC,three\n",
    [["SKU", "Title"], ["A", "one"], ["B", "two"], ["C", "three"]],
)
case("no newline at the end", "line ends", joined(PRODUCTS, ",").rstrip("\n"), PRODUCTS)

# Encodings.
for _encoding in (
    "utf-8",
    "utf-8-sig",
    "utf-16",
    "utf-16-le",
    "utf-16-be",
    "cp1252",
    "latin-1",
    "mac_roman",
    "cp850",
):
    case(f"German in {_encoding}", "encoding", joined(GERMAN, ";"), GERMAN, _encoding)
POLISH = [["nazwa", "cena"], ["Żarówka żółta", "12"], ["Łożysko kulkowe", "3"], ["śruba", "1"]]
CZECH = [["název", "cena"], ["Šroub nerezový", "3"], ["Žárovka úsporná", "4"], ["kůň", "1"]]
RUSSIAN = [["название", "цена"], ["Холодильник", "1000"], ["Телевизор", "200"]]
GREEK = [["όνομα", "τιμή"], ["Ψυγείο", "100"], ["τηλεόραση", "3"]]
TURKISH = [["ürün adı", "fiyat"], ["Buzdolabı", "100"], ["ışık şişe", "3"], ["dağ", "1"]]
JAPANESE = [["商品名", "価格"], ["冷蔵庫", "1000"], ["テレビ", "200"]]
CHINESE = [["名称", "价格"], ["冰箱", "1000"], ["电视机", "200"]]
TAIWAN = [["名稱", "價格"], ["冰箱", "1000"], ["電視機", "200"]]
KOREAN = [["이름", "가격"], ["냉장고", "1000"], ["텔레비전", "200"]]
for _table, _encoding in (
    (POLISH, "cp1250"),
    (CZECH, "cp1250"),
    (POLISH, "iso8859_2"),
    (RUSSIAN, "cp1251"),
    (RUSSIAN, "koi8-r"),
    (GREEK, "cp1253"),
    (TURKISH, "cp1254"),
    (JAPANESE, "shift_jis"),
    (JAPANESE, "euc_jp"),
    (CHINESE, "gb18030"),
    (TAIWAN, "big5"),
    (KOREAN, "cp949"),
):
    case(f"{_table[1][0]} in {_encoding}", "encoding", joined(_table, ","), _table, _encoding)
case(
    "UTF-8 with a stray byte",
    "encoding",
    joined([*GERMAN, *GERMAN[1:] * 3], ";").encode() + b"0015;T\xfcr;1,00;x\n",
    [*GERMAN, *GERMAN[1:] * 3, ["0015", "Tür", "1,00", "x"]],
)

# What stands around the table.
case("sep line", "sep=", "sep=;\r\n" + joined(PRODUCTS, ";", "\r\n"), PRODUCTS)
case("sep line in quotes", "sep=", '"sep=|"\n' + joined(PRODUCTS, "|"), PRODUCTS)
case("title above", "preamble", "ACME Ltd., price list 2024\n\n" + joined(PRODUCTS, ","), PRODUCTS)
case(
    "title padded with delimiters",
    "preamble",
    "Price list;;;\nvalid from 1.1.2024;;;\n;;;\n" + joined(GERMAN, ";"),
    GERMAN,
)
case(
    "keys and values above",
    "preamble",
    "Supplier:;ACME\nDate:;2024-01-01\nCurrency:;EUR\n\n" + joined(PRODUCTS, ";"),
    PRODUCTS,
)
case("blank lines above", "preamble", "\n\n  \n" + joined(PRODUCTS, "\t"), PRODUCTS)
case("comment above", "comments", "# exported by shop 1.2\n" + joined(PRODUCTS, ","), PRODUCTS)
case(
    "comments between",
    "comments",
    "SKU,Price\nA,1\n# checked until here\nB,2\n# to do\nC,3\n",
    [["SKU", "Price"], ["A", "1"], ["B", "2"], ["C", "3"]],
)
case(
    "header begins with #",
    "comments",
    "#,Name,Price\n1,Bolt,2\n2,Nut,3\n",
    [["#", "Name", "Price"], ["1", "Bolt", "2"], ["2", "Nut", "3"]],
)
case("total below", "footer", joined(PRODUCTS, ",") + "Total,,2520.65,1135\n", PRODUCTS)
case("sum below, in German", "footer", joined(GERMAN, ";") + "Summe;;1.250,40;\n", GERMAN)
case(
    "note below",
    "footer",
    joined(PRODUCTS, ";") + "\nSource: ACME warehouse\nAll prices without VAT\n",
    PRODUCTS,
)
case("rows counted below", "footer", joined(PRODUCTS, "|") + "(4 rows affected)\n", PRODUCTS)
case(
    "padded note below",
    "footer",
    joined(PRODUCTS, ",") + ",,,\nGenerated 2024-05-01 by export tool,,,\n",
    PRODUCTS,
)

# Quotes.
case(
    "all quoted",
    "quotes",
    '"SKU";"Text"\n"A";"one; two"\n"B";"say ""hi"""\n',
    [["SKU", "Text"], ["A", "one; two"], ["B", 'say "hi"']],
)
case(
    "single quotes",
    "quotes",
    "SKU,'Title','Note'\nA,'Pipe, long','it''s'\nB,'Bolt','-'\n",
    [["SKU", "Title", "Note"], ["A", "Pipe, long", "it's"], ["B", "Bolt", "-"]],
)
case(
    "backslash escapes",
    "escape",
    'SKU,Text,Price\nA,"say \\"hi\\" now",1\nB,"C:\\\\temp",2\nC,plain,3\n',
    [
        ["SKU", "Text", "Price"],
        ["A", 'say "hi" now', "1"],
        ["B", "C:\\temp", "2"],
        ["C", "plain", "3"],
    ],
)
case(
    "backslashes that escape nothing",
    "escape",
    "id,folder,size\n1,C:\\new\\table,2\n2,D:\\x,3\n",
    [["id", "folder", "size"], ["1", "C:\\new\\table", "2"], ["2", "D:\\x", "3"]],
)
case(
    "quotes over several lines",
    "multi-line",
    'id;text;n\n1;"line one\nline two; still\n\nline four";5\n2;"x";6\n',
    [["id", "text", "n"], ["1", "line one\nline two; still\n\nline four", "5"], ["2", "x", "6"]],
)
case(
    "inches inside cells",
    "unbalanced quotes",
    'SKU,Title,Price\nA,5" pipe,2\nB,3/4" valve,3\nC,"elbow, 2""",4\n',
    [
        ["SKU", "Title", "Price"],
        ["A", '5" pipe', "2"],
        ["B", '3/4" valve', "3"],
        ["C", 'elbow, 2"', "4"],
    ],
)
case(
    "quotes inside quotes, not doubled",
    "unbalanced quotes",
    'SKU,Title,Price\nA,"3/4" valve",2\nB,"the "best" pump",3\nC,plain,4\n',
    [
        ["SKU", "Title", "Price"],
        ["A", '3/4" valve', "2"],
        ["B", 'the "best" pump', "3"],
        ["C", "plain", "4"],
    ],
)
case(
    "a quote that is never closed",
    "unbalanced quotes",
    'SKU,Title,Price\nA,"open text,2\nB,Bolt,3\nC,Nut,4\nD,Pin,5\n',
    [
        ["SKU", "Title", "Price"],
        ["A", '"open text', "2"],
        ["B", "Bolt", "3"],
        ["C", "Nut", "4"],
        ["D", "Pin", "5"],
    ],
)
case(
    "an open quote before quoted rows",
    "unbalanced quotes",
    'SKU,Title,Price\nA,"open text,2\nB,"Bolt",3\nC,"Nut, small",4\n',
    [
        ["SKU", "Title", "Price"],
        ["A", '"open text', "2"],
        ["B", "Bolt", "3"],
        ["C", "Nut, small", "4"],
    ],
)
case(
    "a quoted word begins a cell",
    "unbalanced quotes",
    'SKU,Title,Price\nA,"Prime" steak,2\nB,Bolt,3\nC,Nut,4\n',
    [["SKU", "Title", "Price"], ["A", '"Prime" steak', "2"], ["B", "Bolt", "3"], ["C", "Nut", "4"]],
)
case(
    "spaces before quotes",
    "quotes",
    'SKU, Title, Price\nA, "Pipe, long", 2\nB, "Bolt", 3\n',
    [["SKU", "Title", "Price"], ["A", "Pipe, long", "2"], ["B", "Bolt", "3"]],
)
case(
    "spaces after quotes",
    "quotes",
    '"SKU" ,"Title" ,"Price"\n"A" ,"Pipe, long" ,"2"\n"B" ,"Bolt" ,"3"\n',
    [["SKU", "Title", "Price"], ["A", "Pipe, long", "2"], ["B", "Bolt", "3"]],
)
case(
    "whole lines in quotes",
    "quotes",
    '"SKU,Title,Price"\n"A,Pipe,2"\n"B,""Bolt, M8"",3"\n',
    [["SKU", "Title", "Price"], ["A", "Pipe", "2"], ["B", "Bolt, M8", "3"]],
)

# Rows.
case(
    "ragged rows",
    "ragged",
    "SKU,Title,Price\nA,Pipe,2\nB,Bolt\nC,Nut,4,extra\nD,Pin,5\n",
    [
        ["SKU", "Title", "Price"],
        ["A", "Pipe", "2"],
        ["B", "Bolt", ""],
        ["C", "Nut", "4", "extra"],
        ["D", "Pin", "5"],
    ],
)
case(
    "a delimiter ends every line",
    "ragged",
    "".join(";".join(row) + ";\n" for row in PRODUCTS),
    PRODUCTS,
)
case(
    "empty lines between rows",
    "empty lines",
    "SKU;Price\nA;1\n\n\nB;2\n;\nC;3\n\n",
    [["SKU", "Price"], ["A", "1"], ["B", "2"], ["C", "3"]],
)
case(
    "NUL bytes",
    "odd bytes",
    b"SKU,Title,Price\nA,Pi\0pe,2\nB,Bolt,3\nC,Nut and washer,4\n",
    [
        ["SKU", "Title", "Price"],
        ["A", "Pi\ufffdpe", "2"],
        ["B", "Bolt", "3"],
        ["C", "Nut and washer", "4"],
    ],
)

# Headers.
case(
    "two columns of one name",
    "duplicate headers",
    "SKU,Price,Price\nA,1,2\nB,3,4\n",
    [["SKU", "Price", "Price"], ["A", "1", "2"], ["B", "3", "4"]],
)
case(
    "a column without a name",
    "empty headers",
    "SKU,,Price\nA,x,2\nB,y,4\n",
    [["SKU", "", "Price"], ["A", "x", "2"], ["B", "y", "4"]],
)
case(
    "groups above names",
    "header of two rows",
    "Artikel;;Preis;;Maße;\nNr;Name;netto;brutto;L;B\n"
    "1;Rohr;2,50;3,00;10;20\n2;Bolzen;1,10;1,30;5;6\n",
    [
        ["Artikel Nr", "Artikel Name", "Preis netto", "Preis brutto", "Maße L", "Maße B"],
        ["1", "Rohr", "2,50", "3,00", "10", "20"],
        ["2", "Bolzen", "1,10", "1,30", "5", "6"],
    ],
)
case(
    "names above parts",
    "header of two rows",
    "SKU;Name;Preis;\n;;netto;brutto\nA1;Rohr;2,50;3,00\nB2;Bolzen;1,10;1,30\n",
    [
        ["SKU", "Name", "Preis netto", "Preis brutto"],
        ["A1", "Rohr", "2,50", "3,00"],
        ["B2", "Bolzen", "1,10", "1,30"],
    ],
)
case(
    "units below names",
    "header of two rows",
    "SKU;Weight;Price\n;kg;EUR\nA1;2,50;3,00\nB2;1,10;1,30\n",
    [["SKU", "Weight kg", "Price EUR"], ["A1", "2,50", "3,00"], ["B2", "1,10", "1,30"]],
)
case(
    "no header",
    "no header",
    "1,Pipe,2.50\n2,Bolt,1.10\n3,Nut,3.00\n",
    header_less([["1", "Pipe", "2.50"], ["2", "Bolt", "1.10"], ["3", "Nut", "3.00"]]),
)
case(
    "years as names",
    "header of numbers",
    "Region,2019,2020,2021\nNorth,12,14,9\nSouth,3,5,8\n",
    [["Region", "2019", "2020", "2021"], ["North", "12", "14", "9"], ["South", "3", "5", "8"]],
)
case(
    "nothing but text",
    "header of text",
    "name,city,country\nJohn,Paris,France\nMary,London,England\n",
    [["name", "city", "country"], ["John", "Paris", "France"], ["Mary", "London", "England"]],
)

# Several tables, one column, traps.
case(
    "columns aligned with spaces",
    "delimiter",
    "SKU      Name        Price\nA-1      Pipe        2.50\nB-22     Ball valve  13.50\n"
    "C-3      Nut         1.00\n",
    [
        ["SKU", "Name", "Price"],
        ["A-1", "Pipe", "2.50"],
        ["B-22", "Ball valve", "13.50"],
        ["C-3", "Nut", "1.00"],
    ],
)
case(
    "lists inside cells",
    "two delimiters",
    "sku;img;price\nA;a.jpg|b.jpg;1,5\nB;c.jpg|d.jpg;2,5\n",
    [["sku", "img", "price"], ["A", "a.jpg|b.jpg", "1,5"], ["B", "c.jpg|d.jpg", "2,5"]],
)
case(
    "a table right below another",
    "several tables",
    "Code,Name\nA,x\nB,y\nC,z\n" + joined(PRODUCTS, ","),
    PRODUCTS,
)
case(
    "sizes as names",
    "header of numbers",
    "sku,2XL,3XL\nA,1,2\nB,3,4\n",
    [["sku", "2XL", "3XL"], ["A", "1", "2"], ["B", "3", "4"]],
)
case(
    "products called Total",
    "footer",
    "sku,name,price,qty\n1,Total Commander,2,\n2,Total Gym,3,\n3,Total War,,\n",
    [
        ["sku", "name", "price", "qty"],
        ["1", "Total Commander", "2", ""],
        ["2", "Total Gym", "3", ""],
        ["3", "Total War", "", ""],
    ],
)
case(
    "groups of products",
    "ragged",
    "SKU;Name;Price\nTools;;\nA1;Hammer;10,00\nA2;Saw;12,00\nPipes;;\nB1;Pipe;3,00\n",
    [
        ["SKU", "Name", "Price"],
        ["Tools", "", ""],
        ["A1", "Hammer", "10,00"],
        ["A2", "Saw", "12,00"],
        ["Pipes", "", ""],
        ["B1", "Pipe", "3,00"],
    ],
)
case(
    "a small table above",
    "several tables",
    "Region,Total\nNorth,1\nSouth,2\n\n" + joined(PRODUCTS, ","),
    PRODUCTS,
)
case(
    "a small table below",
    "several tables",
    joined(PRODUCTS, ";") + "\nCode;Meaning\nA;Pipes\nB;Valves\n",
    PRODUCTS,
)
case(
    "one column of numbers",
    "one column",
    "price\n2,50\n1,10\n4,20\n",
    [["price"], ["2,50"], ["1,10"], ["4,20"]],
)
case(
    "one column of text",
    "one column",
    "description\nred, large\nblue, small\ngreen\n",
    [["description"], ["red, large"], ["blue, small"], ["green"]],
)
case(
    "decimal commas beside semicolons",
    "two delimiters",
    "sku;price;weight\n1;2,50;0,3\n2;1,10;1,5\n3;4,20;2,0\n",
    [["sku", "price", "weight"], ["1", "2,50", "0,3"], ["2", "1,10", "1,5"], ["3", "4,20", "2,0"]],
)
case(
    "sentences beside tabs",
    "two delimiters",
    "sku\ttext\n1\tOne, two, three; four\n2\tFive, six\n3\tSeven\n",
    [["sku", "text"], ["1", "One, two, three; four"], ["2", "Five, six"], ["3", "Seven"]],
)
case(
    "long numbers and zeros",
    "text stays text",
    "gtin,code,qty\n04006381333931,007,1e5\n4006381333948,000,0010\n",
    [["gtin", "code", "qty"], ["04006381333931", "007", "1e5"], ["4006381333948", "000", "0010"]],
)
case(
    "JSON inside cells",
    "quotes",
    'id,data\n1,"{""a"": 1, ""b"": [2, 3]}"\n2,"{}"\n',
    [["id", "data"], ["1", '{"a": 1, "b": [2, 3]}'], ["2", "{}"]],
)

# Kinds that real price lists and exports showed.
case(
    "Markdown",
    "drawn tables",
    "# Prices\n\nNet of tax.\n\n| SKU | Title | Price |\n|-----|:-----:|------:|\n"
    "| A-1 | Pipe \\| long | 12.50 |\n| A-2 |  | 0.10 |\n",
    [["SKU", "Title", "Price"], ["A-1", "Pipe | long", "12.50"], ["A-2", "", "0.10"]],
)
case(
    "the screen of a database",
    "drawn tables",
    " id | name  | price \n----+-------+-------\n  1 | Apple |  1.20 \n  2 | Pear  |  0.90 \n"
    "(2 rows)\n",
    [["id", "name", "price"], ["1", "Apple", "1.20"], ["2", "Pear", "0.90"]],
)
case(
    "a framed screen of a database",
    "drawn tables",
    "+----+-------+-------+\n"
    "| id | name  | price |\n+----+-------+-------+\n|  1 | Apple |  1.20 |\n"
    "|  2 | Pear  |  0.90 |\n+----+-------+-------+\n2 rows in set (0.00 sec)\n",
    [["id", "name", "price"], ["1", "Apple", "1.20"], ["2", "Pear", "0.90"]],
)
case(
    "groups above far columns",
    "headers of several rows",
    ";;;;;\nPrice list from 7 February;;;;;\n;;;Unit box;;Large box\n"
    "Code;Title;Price;Weight;Length;Weight\n"
    "R0016.10;Pen Perfecto;8,48 zł;0.1;135.0;12.0\n"
    "R0017.20;Pen Brilliant;11,50 zł;0.2;140.0;20.0\n",
    [
        ["Code", "Title", "Price", "Unit box Weight", "Unit box Length", "Large box Weight"],
        ["R0016.10", "Pen Perfecto", "8,48 zł", "0.1", "135.0", "12.0"],
        ["R0017.20", "Pen Brilliant", "11,50 zł", "0.2", "140.0", "20.0"],
    ],
)
case(
    "a header and a gap",
    "blank lines",
    " ,,,\nS. No,Name,Rate,Per\n,,,\n1.   ,Rocket,40,1 Box\n2.   ,Fountain,60,1 Box\n,(3 pcs),,\n"
    "3.   ,Sparkler,65,1 Pkt\n",
    [
        ["S. No", "Name", "Rate", "Per"],
        ["1.   ", "Rocket", "40", "1 Box"],
        ["2.   ", "Fountain", "60", "1 Box"],
        ["", "(3 pcs)", "", ""],
        ["3.   ", "Sparkler", "65", "1 Pkt"],
    ],
)
case(
    "no header, codes and a brand",
    "no header",
    "CHRYSLER;68377850AA;16400;1;Радиатор кондиционера\nBMW;51357444075;4000;25;Стекло двери\n"
    "MOPAR;68084185AA;;2;Сальник полуоси\nNGK;LZFR5CI11;650;21;Свеча зажигания 5,7 Hemi\n",
    header_less(
        [
            ["CHRYSLER", "68377850AA", "16400", "1", "Радиатор кондиционера"],
            ["BMW", "51357444075", "4000", "25", "Стекло двери"],
            ["MOPAR", "68084185AA", "", "2", "Сальник полуоси"],
            ["NGK", "LZFR5CI11", "650", "21", "Свеча зажигания 5,7 Hemi"],
        ]
    ),
    "cp1251",
)
case(
    "Turkish capitals",
    "encodings",
    "MODEL,AÇIKLAMA,LİSTE FİYATI\nKB-1,TEK SERPANTİNLİ BOYLER,398\nKB-2,ÇİFT BOYLER,474\n",
    [
        ["MODEL", "AÇIKLAMA", "LİSTE FİYATI"],
        ["KB-1", "TEK SERPANTİNLİ BOYLER", "398"],
        ["KB-2", "ÇİFT BOYLER", "474"],
    ],
    "cp1254",
)
case(
    "titles of groups among the rows",
    "rows of another kind",
    'Name,Price,Trade price,Stock\n"TM-25, pcs",61538.18,49846,63\n'
    "Welding transformers,Price,#VALUE!,31\n"
    '"PULSAR 305 (50A), pcs",9288.28,7524,23\n"TL-10 50/5, pcs",33058.01,26777,25\n',
    [
        ["Name", "Price", "Trade price", "Stock"],
        ["TM-25, pcs", "61538.18", "49846", "63"],
        ["Welding transformers", "Price", "#VALUE!", "31"],
        ["PULSAR 305 (50A), pcs", "9288.28", "7524", "23"],
        ["TL-10 50/5, pcs", "33058.01", "26777", "25"],
    ],
)
case(
    "a code alone in the last line",
    "short rows",
    "sku;name;price\nA-1;Bolt;1\nA-2;Nut;2\nA-3;Pin;3\nA-4\n",
    [
        ["sku", "name", "price"],
        ["A-1", "Bolt", "1"],
        ["A-2", "Nut", "2"],
        ["A-3", "Pin", "3"],
        ["A-4", "", ""],
    ],
)
case(
    "markup in the first cell",
    "quotes",
    'html;sku\n<b>Bolt</b>, zinc;A-1\n<a href="x">Nut</a>;A-2\n',
    [["html", "sku"], ["<b>Bolt</b>, zinc", "A-1"], ['<a href="x">Nut</a>', "A-2"]],
)
case(
    "cells padded for the eye",
    "space",
    "name      ,sku    ,price \nLaptop    ,L22013 ,1299.00\nTablet    ,T99    ,329.00\n",
    [
        ["name      ", "sku    ", "price "],
        ["Laptop    ", "L22013 ", "1299.00"],
        ["Tablet    ", "T99    ", "329.00"],
    ],
)
