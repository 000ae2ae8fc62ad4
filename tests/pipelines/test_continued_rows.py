"""Exports of Magento 1, whose products have further rows without a SKU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from penstock.formats.tables import TableChunk, TableHead
from penstock.pipelines.extraction.table_shape import read_shaped

LIMITS = {
    "rows": 1_000, "columns": 100, "cells": 100_000, "cell_bytes": 10_000,
    "file_bytes": 1_000_000, "inflated_bytes": 1_000_000, "nesting": 64,
}  # fmt: skip
NAMES = (
    "sku,_store,_attribute_set,_type,_category,_root_category,_product_websites,name,price,qty,"
    "_media_image,_super_products_sku,_super_attribute_code,_super_attribute_option"
)
ROWS = [
    "shirt,,Default,configurable,Clothes,Root,base,Shirt,20,0,/a.jpg,shirt-s,size,S",
    ",,,,Sale,Root,,,,,/b.jpg,shirt-m,size,M",
    ",german,,,,,,Hemd,,,,,,",
    "shirt-s,,Default,simple,Clothes,Root,base,Shirt S,20,5,,,,",
    "shirt-m,,Default,simple,Clothes,Root,base,Shirt M,20,7,,,,",
]


def read(path: Path, cursor: dict[str, Any] | None = None) -> tuple[TableHead, list[list[str]]]:
    pieces = list(read_shaped(str(path), {}, LIMITS, cursor))
    head = pieces[0]
    assert isinstance(head, TableHead)
    return head, [row for piece in pieces if isinstance(piece, TableChunk) for row in piece.rows]


def test_further_rows_complete_their_product(tmp_path: Path) -> None:
    path = tmp_path / "export.csv"
    path.write_text("\n".join([NAMES, *ROWS]) + "\n")
    head, rows = read(path)
    at = {name: index for index, name in enumerate(head.names)}
    assert len(rows) == len(ROWS)
    assert rows[0][at["_super_products_sku"]] == "sku=shirt-s,size=S|sku=shirt-m,size=M"
    assert rows[0][at["_media_image"]] == "/a.jpg,/b.jpg"
    assert rows[0][at["name"]] == "Shirt"
    assert rows[0][at["_category"]] == "Clothes"
    assert not any("".join(row) for row in rows[1:3])
    assert [row[at["sku"]] for row in rows[3:]] == ["shirt-s", "shirt-m"]


def test_variants_have_all_their_options(tmp_path: Path) -> None:
    path = tmp_path / "export.csv"
    rows = [
        "lampe,,Default,configurable,Licht,Root,base,Lampe,20,0,,lampe-1,farbe,rot",
        ",,,,,,,,,,,lampe-1,größe,klein",
        ",,,,,,,,,,,lampe-2,farbe,blau",
        "chaise,,Default,configurable,Sièges,Root,base,Chaise,30,0,,chaise-1,couleur,noir",
        ",,,,,,,,,,,chaise-2,couleur,vert",
        "kubek,,Default,configurable,Kuchnia,Root,base,Kubek,5,0,,kubek-1,,",
        ",,,,,,,,,,,kubek-2,,",
    ]
    path.write_text("\n".join([NAMES, *rows]) + "\n", "utf-8")
    head, found = read(path)
    listed = [row[head.names.index("_super_products_sku")] for row in found if any(row)]
    assert listed == [
        "sku=lampe-1,farbe=rot,größe=klein|sku=lampe-2,farbe=blau",
        "sku=chaise-1,couleur=noir|sku=chaise-2,couleur=vert",
        "kubek-1,kubek-2",
    ]


def test_resumed_reading_gives_the_same_rows(tmp_path: Path) -> None:
    path = tmp_path / "export.csv"
    path.write_text("\n".join([NAMES, *ROWS]) + "\n")
    head, rows = read(path)
    for done in range(1, len(rows)):
        _, rest = read(path, {"rows": done, "plan": head.plan})
        assert rest == rows[done:], done


def test_other_files_keep_rows_without_a_sku(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text("sku,name,price\nA,Bolt,1\n,Nut,2\nC,Pin,3\n")
    _, rows = read(path)
    assert rows[1] == ["", "Nut", "2"]
