"""A look at the head of a file tells about how long it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.formats.support import LIMITS

from penstock.pipelines.extraction.preview import estimate_rows, sample_file


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_rows_are_estimated_by_what_the_first_took(tmp_path: Path, encoding: str) -> None:
    path, rows = tmp_path / "long.csv", 30_000
    lines = (f"A-{n:06};Größe {n:06};{n % 1000:03},50\n" for n in range(rows))
    path.write_text("sku;name;price\n" + "".join(lines), encoding)
    head = sample_file(str(path), {}, LIMITS)
    assert not head["whole"]
    assert 0.95 * rows < estimate_rows(head) < 1.05 * rows


def test_a_short_file_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "short.csv"
    path.write_text("sku;name\n" + "a;b\n" * 12)
    assert estimate_rows(sample_file(str(path), {}, LIMITS)) == 12
