"""Jobs of every shape, for the noop pipeline and as files."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Shape:
    """``items`` are sent; children come on top. ``file`` is a CSV with so many rows."""

    name: str
    items: int
    config: Mapping[str, Any] = field(default_factory=dict)
    file: bool = False


def tiny(chance: random.Random) -> Shape:
    return Shape("tiny", chance.randint(1, 5))


def inline(chance: random.Random) -> Shape:
    return Shape("inline", chance.randint(20, 100), {"stages": chance.randint(1, 3), "workMs": 0.5})


def big(chance: random.Random) -> Shape:
    learns = chance.random() < 0.3
    return Shape("big", chance.randint(1500, 6000), {"inline": False, "learns": learns})


def staged(chance: random.Random) -> Shape:
    return Shape(
        "staged", chance.randint(200, 900),
        {"inline": False, "stages": 3, "barrier": True, "workMs": 0.2, "summarizes": True},
    )  # fmt: skip


def family(chance: random.Random) -> Shape:
    return Shape("family", chance.randint(10, 80), {"childrenPer": chance.randint(1, 6)})


def grouped(chance: random.Random) -> Shape:
    return Shape(
        "grouped", chance.randint(50, 300), {"inline": False, "groups": chance.randint(3, 12)}
    )


def trouble(chance: random.Random) -> Shape:
    how, code, times = chance.choice([
        ("retry", "API_TIMEOUT", 1), ("retry", "NETWORK_ERROR", 1), ("raise", "", 1),
        ("fail", "VALIDATION_ERROR", 0), ("skip", "", 0), ("wait", "", 3), ("notFound", "", 0),
    ])  # fmt: skip
    config = {"failEvery": chance.randint(3, 20), "failHow": how, "failTimes": times}
    if code:
        config["failCode"] = code
    return Shape("trouble", chance.randint(20, 100), config)


def heavy(chance: random.Random) -> Shape:
    return Shape("heavy", chance.randint(50, 300), {"inline": False, "cpuMs": 0.3, "stages": 2})


def poisoned(chance: random.Random) -> Shape:
    items = chance.randint(20, 80)
    return Shape("poisoned", items, {"crashRow": chance.randint(1, items), "workMs": 0.2})


def table(chance: random.Random) -> Shape:
    return Shape("table", chance.randint(100, 1500), file=True)


_SHAPES = ((tiny, 6.0), (inline, 4.0), (big, 1.5), (staged, 1.5), (family, 2.0), (grouped, 1.5),
           (trouble, 3.0), (heavy, 1.0), (table, 1.5))  # fmt: skip
_POISON = 0.03


def shape(chance: random.Random, *, poison: bool = False) -> Shape:
    if poison and chance.random() < _POISON:
        return poisoned(chance)
    make, _ = chance.choices(_SHAPES, [weight for _, weight in _SHAPES])[0]
    return make(chance)


def one_of_each(chance: random.Random) -> Sequence[Shape]:
    return [make(chance) for make, _ in _SHAPES]


def as_csv(rows: int) -> bytes:
    lines = ["sku,title,price", *(f"SKU-{n},Thing {n},{n}.90" for n in range(rows))]
    return ("\n".join(lines) + "\n").encode()
