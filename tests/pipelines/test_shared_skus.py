"""SKUs that several handles of a file share."""

from __future__ import annotations

from pathlib import Path

from tests.pipelines.test_continued_rows import LIMITS

from penstock.formats.read_options import Problem
from penstock.formats.tables import JsonChunk
from penstock.pipelines.extraction.file_rows import read_rows_and_stats
from penstock.pipelines.extraction.shared_skus import SharedSkus

NAMES = "Handle,Title,Option1 Name,Option1 Value,Variant SKU,Variant Price"
ROWS = [
    "lamp,Lamp,Size,S,K-1,10.00",
    "lamp,,,M,K-2,10.00",
    "vase,Vase,Size,S,K-1,27.00",
    "vase,,,M,K-3,27.00",
]


def told(path: Path, place: dict[str, object] | None = None) -> list[Problem]:
    pieces = read_rows_and_stats(str(path), {}, LIMITS, place)
    return [one for piece in pieces if isinstance(piece, JsonChunk) for one in piece.problems]


def test_row_is_told_that_another_product_has_its_sku(tmp_path: Path) -> None:
    path = tmp_path / "export.csv"
    path.write_text("\n".join([NAMES, *ROWS]) + "\n")
    (problem,) = told(path)
    assert (problem.code, problem.row, problem.column) == ("SKU_SHARED", 3, 5)
    assert "'lamp'" in problem.message
    assert "'K-1'" in problem.message


def test_files_without_handles_are_not_compared(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text("SKU,Title,Price\nA,Bolt,1\nA,Nut,2\nC,Pin,3\n")
    assert told(path) == []


def test_rows_without_sku_or_handle_are_skipped() -> None:
    skus = SharedSkus(0, 1)
    assert skus.find([["lamp", "K"], ["lamp", "K"], ["vase", ""], ["", "K"], ["vase"]], 0) == []
    assert [one.row for one in skus.find([["vase", "K"]], 5)] == [6]
