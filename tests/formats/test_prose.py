"""Texts without a table are refused by name; tables in texts are read."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.formats.support import ROOT, read, refusal

LETTER = """\
Sehr geehrte Damen und Herren,

anbei erhalten Sie unsere aktuelle Preisliste. Bitte beachten Sie, dass die Preise
zum 1. Januar steigen.

Mit freundlichen Grüßen
Max Müller
Müller GmbH, Hauptstr. 1, 12345 Berlin
"""
LOG = """\
2026-11-15 10:00:01,123 INFO  [main] Starting server on port 8080
2026-11-15 10:00:02,456 WARN  [pool-1] Slow query took 1234 ms: SELECT * FROM x
Traceback (most recent call last):
2026-11-15 10:00:05,789 INFO  [main] Request GET /items 200 12ms
"""
ACCESS = """\
127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] "GET /a.gif HTTP/1.0" 200 2326
127.0.0.1 - - [10/Oct/2000:13:55:37 -0700] "GET /x HTTP/1.0" 404 12
"""
MAIL = "From: A <a@b.invalid>\nTo: b@c.invalid\nSubject: List\n\nHello,\nhere is the list.\n"
PROGRAM = "import os\n\ndef run(a, b):\n    if a:\n        return b\n\nclass A:\n    x = 1\n"
SETTINGS = "[main]\na = 1\nb = two\n[other]\nc = 3\n"
PAGE = """\
# Preisliste

Hier ist unsere Preisliste, viel Freude damit. Alle Preise in EUR.

| SKU | Name | Preis |
|-----|:----:|------:|
| A-1 | Bolt | 1,20 |
| A-2 | Nut \\| M4 | 0,90 |

Bitte beachten Sie unsere AGB. Sie stehen im Netz.
Dort steht auch, wie lange die Preise gelten, und wo Sie bestellen können.
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "file.txt"


@pytest.mark.parametrize(
    ("text", "seems"),
    [
        (LETTER, "sentences"),
        ("Hello, this is a test file.\nIt has two lines, and nothing else.\n", "sentences"),
        ("# Notes\n\n- first: one\n- second: two\n- third: three\n", "sentences"),
        ((ROOT / "LICENSE").read_text(), "sentences"),
        (LOG, "a log"),
        (ACCESS, "a log"),
        (MAIL, "a mail"),
        (PROGRAM, "a program"),
        (SETTINGS, "a program or settings"),
        ("name: demo\nservices:\n  web:\n    image: nginx\n    port: 80\n", "settings"),
        (
            "body { margin: 0; padding: 0 }\na:hover { color: red; }\nli { display: none; }\n",
            "a pr",
        ),
    ],
)
def test_texts_without_a_table(file: Path, text: str, seems: str) -> None:
    file.write_text(text, "utf-8")
    error = refusal(file)
    assert error.code == "UNSUPPORTED_TYPE"
    assert seems in error.message
    assert "set its `delimiter`" in error.message
    # Who knows better is believed.
    assert read(file, {"format": "csv"}).found["format"] == "csv"


@pytest.mark.parametrize(
    "text",
    [
        "Ball valve, brass\nGate valve, steel\nElbow fitting 15 mm\nCopper pipe, soft\n",
        "kugelhahn messing 1/2 zoll\nrohr kupfer 15 mm weich\nbogen 90 grad kupfer\n",
        "A-100\nA-101\nA-102\n",
        "name, city, country\nAnn, Paris, France\nBob, Rome, Italy\nEve, Bern, Switzerland\n",
        "sku;text\nA;It is a fine valve. It is made of brass.\nB;Good, cheap, and it works.\n",
        "name, text\nBolt, it is a good bolt.\nNut, it is a good nut.\nPin, it is a pin.\n",
        "sku;name;price;\nA;Bolt;1,20;\nB;Nut;0,90;\nC;Pin;0,10;\n",
        'sku,data\nA,"{""a"": 1}"\nB,"{""a"": 2}"\nC,"{""a"": 3}"\n',
        "Title\nA very long title, with a comma\nAnother one, which is longer\nThird one\n",
    ],
)
def test_lists_are_no_prose(file: Path, text: str) -> None:
    file.write_text(text)
    assert len(read(file).rows) >= 2


def test_a_table_in_a_page_is_read_and_the_rest_told_of(file: Path) -> None:
    file.write_text(PAGE, "utf-8")
    found = read(file)
    assert found.table == [
        ["SKU", "Name", "Preis"],
        ["A-1", "Bolt", "1,20"],
        ["A-2", "Nut | M4", "0,90"],
    ]
    assert "Alle Preise in EUR" in found.found["preamble"][-1]["text"]
    assert any("is inside a text" in said for said in found.found["ambiguities"])


def test_dumps_of_databases_are_refused_with_advice(file: Path) -> None:
    file.write_text("INSERT INTO `p` (`a`, `b`) VALUES (1, 'x'), (2, 'y');\n")
    assert "export the table as CSV" in refusal(file).message
