"""Rules that the code does not keep everywhere yet: each violation is counted, and none is added.

`ratchet.json` records how often each rule is broken, by place. More than that fails
`tests/test_house.py`. After an improvement, `python -m tests.house.ratchet` records the lower
counts; it never raises one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

RECORD = Path(__file__).with_name("ratchet.json")
Counts = dict[str, int]


@dataclass(frozen=True)
class Rule:
    name: str
    # What a developer should do instead.
    advice: str
    # Counts of what breaks the rule in a checkout, by file, folder or word.
    find: Callable[[Path], Counts]


def recorded(name: str, path: Path = RECORD) -> Counts:
    counts: dict[str, Counts] = json.loads(path.read_text("utf-8"))
    return counts.get(name, {})


def above(found: Mapping[str, int], allowed: Mapping[str, int]) -> list[str]:
    """One line for each count that is higher than recorded."""
    return [
        f"{place}: {count}, at most {allowed.get(place, 0)} allowed"
        for place, count in sorted(found.items())
        if count > allowed.get(place, 0)
    ]


def lowered(found: Mapping[str, int], allowed: Mapping[str, int]) -> Counts:
    """The record without the slack: places that are clean now are left out."""
    counts = {place: min(count, allowed.get(place, 0)) for place, count in found.items()}
    return {place: count for place, count in sorted(counts.items()) if count}


def main() -> None:
    from tests.house.rules import ROOT, RULES

    kept = {rule.name: lowered(rule.find(ROOT), recorded(rule.name)) for rule in RULES}
    RECORD.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")
    for name, counts in kept.items():
        print(f"{sum(counts.values()):5} {name}")


if __name__ == "__main__":
    main()
