"""Titles as people write them, in a catalog full of similar products: no wrong match."""

from __future__ import annotations

import random
from itertools import product as combinations
from typing import Any

import pytest
from tests.fixtures import Bench
from tests.lookup.support import Catalog

pytestmark = pytest.mark.slow

KINDS = ("Hex bolt", "Wood screw", "Machine screw", "Threaded rod", "Carriage bolt")
MATERIALS = ("stainless steel A2", "zinc plated", "brass")
SIZES = [f"M{d}x{length}" for d in (4, 6, 8, 10) for length in (20, 25, 30, 40)]
# Every sixth is missing from the catalog.
ALL = list(enumerate(combinations(KINDS, MATERIALS, SIZES)))


def in_catalog(number: int) -> bool:
    return number % 6 != 0


def title_of(parts: tuple[str, str, str]) -> str:
    kind, material, size = parts
    return f"{kind} {size} {material}"


def written(title: str, chance: random.Random) -> str:
    """The title as somebody may write it: other order, case and punctuation, or a slip of a
    letter."""
    words = title.split()
    match chance.randrange(5):
        case 0:
            chance.shuffle(words)
        case 1:
            return title.upper().replace(" ", ", ", 1)
        case 2:
            place = next(n for n, word in enumerate(words) if word.isalpha() and len(word) > 4)
            cut = chance.randrange(1, len(words[place]) - 1)
            words[place] = words[place][:cut] + words[place][cut + 1 :]
        case 3:
            words.append("new")
    return " ".join(words)


async def test_no_title_is_matched_with_another_product(bench: Bench) -> None:
    catalog, chance = Catalog(bench), random.Random(7)
    products: list[dict[str, Any]] = [
        {"sourceId": f"P-{number}", "title": title_of(parts), "identifiers": {"sku": f"P-{number}"}}
        for number, parts in ALL
        if in_catalog(number)
    ]
    await catalog.add(products)
    rows = [{"No": str(number), "Title": written(title_of(parts), chance)} for number, parts in ALL]
    config = {"mapping": {"No": "ignore", "Title": "title"}}
    results = await catalog.results(await catalog.look_up(rows, **config))
    right = wrong = 0
    for (number, _), result in zip(ALL, results, strict=True):
        if result["match"] == "found":
            right += result["sourceId"] == f"P-{number}"
            wrong += result["sourceId"] != f"P-{number}"
        elif result["match"] == "ambiguous" and in_catalog(number):
            assert result["candidates"] >= 1
    assert wrong == 0
    assert right >= 0.9 * len(products), (right, len(products))
