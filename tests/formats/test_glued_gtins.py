"""Fixed-width lists with a code right after the GTIN."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.formats.support import read

LISTS = [
    ("EAN          ARTIKEL   BEZEICHNUNG          PREIS\n",
     "Holzleim 500 g", "Spachtel 60 mm", "Pinsel flach 30"),
    ("GTIN        CODE      OMSCHRIJVING         PRIJS\n",
     "Houtlijm 500 g", "Plamuurmes 60 mm", "Kwast plat 30"),
    ("EAN         KOD       NAZWA                CENA\n",
     "Klej do drewna", "Szpachla 60 mm", "Pędzel płaski 30"),
]  # fmt: skip


@pytest.mark.parametrize("lines", LISTS, ids=["german", "dutch", "polish"])
def test_the_code_after_a_gtin_is_a_column(tmp_path: Path, lines: tuple[str, ...]) -> None:
    header, *names = lines
    gtins = ["4006381333931", "5901234123457", "3017620422003"]
    path = tmp_path / "list.txt"
    rows = [
        f"{gtin}KL-{n:03}    {name:20} {n}2,50\n"
        for n, (gtin, name) in enumerate(zip(gtins, names, strict=True), 1)
    ]
    path.write_text(header + "".join(rows), "utf-8")
    reading = read(path)
    assert reading.header == header.split()
    assert [row[:2] for row in reading.rows] == [
        [gtin, f"KL-{n:03}"] for n, gtin in enumerate(gtins, 1)
    ]
