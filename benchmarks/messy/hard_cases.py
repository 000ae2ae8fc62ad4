"""More messy files of our own making: what is left once delimiters and encodings are right."""

from __future__ import annotations

from benchmarks.messy.cases import GERMAN, PRODUCTS, Case, header_less, joined

HARD = [
    Case(
        "names again between the rows",
        "repeated header",
        (joined(PRODUCTS, ";") + joined([PRODUCTS[0], ["B-1", "Tap", "3.10", "7"]], ";")).encode(),
        [*PRODUCTS, ["B-1", "Tap", "3.10", "7"]],
    ),
    Case(
        "parts of a list under the same names",
        "repeated header",
        (joined(PRODUCTS, ";") + "\n" + joined([PRODUCTS[0], *PRODUCTS[3:]], ";")).encode(),
        [*PRODUCTS, *PRODUCTS[3:]],
    ),
    Case(
        "taxes and shipping below the total",
        "footer",
        (
            b"Pos;Art;Text;Menge;Preis\n1;A;Bolt;2;5,00\n2;B;Nut;3;7,00\n3;C;Pin;1;9,00\n"
            b";;Zwischensumme;;21,00\n;;zzgl. 19 % MwSt.;;3,99\n;;Gesamtbetrag;;24,99\n"
        ),
        [
            ["Pos", "Art", "Text", "Menge", "Preis"],
            ["1", "A", "Bolt", "2", "5,00"],
            ["2", "B", "Nut", "3", "7,00"],
            ["3", "C", "Pin", "1", "9,00"],
        ],
    ),
    Case(
        "notes padded with delimiters below",
        "footer",
        (joined(GERMAN, ";") + ";;;\nAlle Preise netto;;;\nIrrtum vorbehalten;;;\n").encode(),
        GERMAN,
    ),
    Case(
        "decimal commas in aligned columns",
        "positions",
        (
            b"Pos.      Menge  ME   Text                          EP        GP\n"
            b"01.001    10,000 m    Kupferrohr 15 mm           12,50    125,00\n"
            b"01.002     5,000 Stk  Kugelhahn                  22,50    112,50\n"
            b"01.003     1,000 psch Baustelleneinrichtung     500,00    500,00\n"
        ),
        [
            ["Pos.", "Menge", "ME", "Text", "EP", "GP"],
            ["01.001", "10,000", "m", "Kupferrohr 15 mm", "12,50", "125,00"],
            ["01.002", "5,000", "Stk", "Kugelhahn", "22,50", "112,50"],
            ["01.003", "1,000", "psch", "Baustelleneinrichtung", "500,00", "500,00"],
        ],
    ),
    Case(
        "columns that nothing blank parts",
        "positions",
        (
            b"0000012345ABSCHEIBE               00001200ST\n"
            b"0000012346MUTTER M4 VERZINKT DIN 900000099ST\n"
            b"0000012347SCHRAUBE M4X12          00000450ST\n"
        ),
        header_less(
            [
                ["0000012345", "ABSCHEIBE", "00001200", "ST"],
                ["0000012346", "MUTTER M4 VERZINKT DIN 9", "00000099", "ST"],
                ["0000012347", "SCHRAUBE M4X12", "00000450", "ST"],
            ]
        ),
    ),
    Case(
        "a table in a page of text",
        "drawn tables",
        (
            b"# Prices\n\nHere is our list. Please read all of it, and order soon.\n\n"
            b"| SKU | Title |\n|-----|-------|\n| A | Bolt |\n| B | Nut |\n\n"
            b"Orders are taken by mail. We answer within a day.\n"
        ),
        [["SKU", "Title"], ["A", "Bolt"], ["B", "Nut"]],
    ),
    Case(
        "blocks of names and values",
        "blocks",
        b"SKU: A\nTitle: Ball valve\nPrice: 7.95\n\nSKU: B\nTitle: Elbow: 15 mm\nPrice: 1.20\n",
        [["SKU", "Title", "Price"], ["A", "Ball valve", "7.95"], ["B", "Elbow: 15 mm", "1.20"]],
    ),
    Case(
        "wide commas of Japanese text",
        "delimiter",
        "商品コード，商品名，価格\nA1，ネジ，120\nA2，ナット，90\nA3，ワッシャー，10\n".encode(),
        [
            ["商品コード", "商品名", "価格"],
            ["A1", "ネジ", "120"],
            ["A2", "ナット", "90"],
            ["A3", "ワッシャー", "10"],
        ],
    ),
]
