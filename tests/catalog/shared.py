"""Real files of suppliers and shops, where they lie beside the checkout."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

HERE = Path(__file__).resolve()


def shared_file(name: str) -> Path:
    for parent in HERE.parents:
        path = parent / "shared" / "data" / name
        if path.exists():
            return path
    pytest.skip("the shared example data is not beside this checkout")


def table(name: str, delimiter: str = ",") -> tuple[list[str], list[list[str]]]:
    with shared_file(name).open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file, delimiter=delimiter)
    return header, rows
