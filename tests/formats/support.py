"""Readings as the tests want them: the header as the file has it, rows, report and end."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from penstock.formats.read_table import read_table
from penstock.formats.tables import TableChunk, TableEnd, TableHead
from penstock.model.errors import BadInput

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"
LIMITS = {
    "rows": 1_000_000,
    "columns": 2000,
    "cells": 50_000_000,
    "cell_bytes": 1024 * 1024,
    "file_bytes": 100 * 1024 * 1024,
    "inflated_bytes": 1024 * 1024 * 1024,
    "nesting": 64,
}

needs_data = pytest.mark.skipif(not DATA.exists(), reason=f"the sample files are not at {DATA}")


class Reading(NamedTuple):
    header: list[str]
    rows: list[list[str]]
    found: dict[str, Any]
    end: TableEnd
    head: TableHead

    @property
    def table(self) -> list[list[str]]:
        return [self.header, *self.rows]


def read(
    path: Path,
    options: Mapping[str, Any] | None = None,
    *,
    cursor: Mapping[str, Any] | None = None,
    **limits: int,
) -> Reading:
    head, *chunks, end = read_table(str(path), options or {}, {**LIMITS, **limits}, cursor)
    assert isinstance(head, TableHead)
    assert isinstance(end, TableEnd)
    rows: list[list[str]] = []
    for chunk in chunks:
        assert isinstance(chunk, TableChunk)
        rows += chunk.rows
    return Reading(head.plan["header"], rows, head.detected, end, head)


def refusal(path: Path, options: Mapping[str, Any] | None = None, **limits: int) -> BadInput:
    with pytest.raises(BadInput) as refused:
        read(path, options, cursor=None, **limits)
    return refused.value
