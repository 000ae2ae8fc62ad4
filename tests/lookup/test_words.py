"""Words of titles are the same in the database, whose index has them, and in queries."""

from __future__ import annotations

import random

import pytest
from tests.fixtures import Bench

from penstock.catalog.lookup.words import title_words

pytestmark = pytest.mark.slow

TITLES = [
    "Bosch GSR 12V-15 Cordless Drill/Driver",
    'Schraube M8x20, "DIN 933" (100 Stück)',
    "WÜRTH Öl-Spray  400 ml\tneu",
    "Čistič oken 750ml",
    "価格 カメラ X-100",
    "   ",
    "",
    "a_b.c;d|e~f`g^h",
]


def made_titles(count: int) -> list[str]:
    chance = random.Random(1)
    letters = "abcXYZ019 \t-_/.,;:()[]{}\"'`~^|\\€ÄÖÜäöüÅÆØéèÉÈßřŘ×µ\u00a0\u200b字"
    return ["".join(chance.choices(letters, k=chance.randrange(30))) for _ in range(count)]


async def test_words_are_split_alike(bench: Bench) -> None:
    titles = TITLES + made_titles(2000)
    async with bench.runtime.db.acquire() as conn:
        rows = await conn.fetch(
            "SELECT t.title, title_words(t.title) AS words FROM unnest($1::text[]) AS t (title)",
            titles,
        )
    assert len(rows) == len(titles)
    for row in rows:
        # The database keeps a word that is there twice.
        words = list(dict.fromkeys(row["words"]))
        assert words == title_words(row["title"]), row["title"]
