"""The walk of one row in the tour: every function exists, no hop goes back, and it stays short."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

TOUR = Path(__file__).resolve().parents[1] / "docs" / "tour.md"
MAX_HOPS = 60


def hops() -> list[str]:
    walk = TOUR.read_text("utf-8").split("## One row's way")[1].split("Besides this walk")[0]
    return re.findall(r"`((?:\w+\.)+\w+)`", walk)


def test_the_walk_is_short_and_never_goes_back() -> None:
    assert 30 < len(hops()) <= MAX_HOPS
    assert len(set(hops())) == len(hops())


@pytest.mark.parametrize("hop", hops())
def test_every_hop_is_a_function(hop: str) -> None:
    parts = hop.split(".")
    split = (
        next(n for n, part in enumerate(parts) if n and part[0].isupper())
        if any(part[0].isupper() for part in parts)
        else len(parts) - 1
    )
    found: object = importlib.import_module("penstock." + ".".join(parts[:split]))
    for name in parts[split:]:
        found = getattr(found, name)
    assert callable(found)
