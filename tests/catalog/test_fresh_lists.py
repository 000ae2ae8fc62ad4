"""Lists of strangers: how many columns and prices are read right."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.fresh_lists import SETS, lists, price_strings, tally


@pytest.mark.parametrize("name", SETS)
def test_columns_and_prices(tmp_path: Path, name: str) -> None:
    found = [tally(one, tmp_path) for one in lists(name)]
    right = sum(one.right for one in found)
    misses = [miss for one in found for miss in one.misses]
    assert right >= 0.985 * sum(one.right + one.wrong for one in found), misses
    assert right >= 0.985 * sum(one.right + one.missed for one in found), misses
    prices = sum(one.prices for one in found)
    assert sum(one.right_prices for one in found) >= 0.98 * prices, misses


def test_price_strings() -> None:
    count, misses = price_strings()
    assert len(misses) <= 0.01 * count, misses
