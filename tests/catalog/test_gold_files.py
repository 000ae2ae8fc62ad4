"""The gold set of files: the share of exactly right cells may only rise."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks import gold_headers
from benchmarks.gold.case import GoldCase
from benchmarks.gold.score import score
from benchmarks.gold_files import CASES, score_case

LEAST_RIGHT = 0.98


def test_the_share_of_right_cells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores = {one.name: score_case(one, tmp_path) for one in CASES}
    right, cells = (sum(getattr(s, part) for s in scores.values()) for part in ("right", "cells"))
    with capsys.disabled():
        print(f"\ngold files: {right} of {cells} cells right ({right / cells:.1%})")
    assert len(scores) == len(CASES) >= 66
    assert right / cells >= LEAST_RIGHT


def test_a_product_too_many_costs_cells() -> None:
    truth = [{"sku": "A", "price": "1.00"}]
    right = {"identifiers": {"sku": "A"}, "price": {"amount": "1.00"}}
    assert score([right], truth)[:2] == (2, 2)
    assert score([right, {"title": "Total"}], truth)[:2] == (2, 4)
    assert score([], truth)[:2] == (0, 2)


@pytest.mark.parametrize("one", CASES, ids=[one.name for one in CASES])
def test_truths_name_fields(one: GoldCase) -> None:
    assert one.truth
    assert score([], one.truth).cells == sum(map(len, one.truth))


def test_columns_are_mapped_to_the_right_fields(capsys: pytest.CaptureFixture[str]) -> None:
    found = gold_headers.score()
    with capsys.disabled():
        print(f"\ngold headers: precision {found.precision:.1%}, recall {found.recall:.1%}")
    assert found.columns > 2_300
    assert found.precision >= 0.985
    assert found.recall >= 0.985
