"""How many cells of the gold set become exactly the right values.

    python benchmarks/gold_files.py [--misses] [NAME ...]

The files are made up: exports of shops and ERP systems, price lists of many countries, unusual
layouts. What a person reads in each was written down before Penstock read it.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "src")]

from benchmarks.gold.case import GoldCase  # noqa: E402
from benchmarks.gold.erp import ERP  # noqa: E402
from benchmarks.gold.layouts import LAYOUTS  # noqa: E402
from benchmarks.gold.lists import LISTS  # noqa: E402
from benchmarks.gold.run import products_of  # noqa: E402
from benchmarks.gold.score import Score, score  # noqa: E402
from benchmarks.gold.shops import SHOPS  # noqa: E402
from penstock.model.errors import PenstockError  # noqa: E402

CASES: tuple[GoldCase, ...] = (*SHOPS, *ERP, *LISTS, *LAYOUTS)


def score_case(one: GoldCase, folder: Path) -> Score:
    path = folder / one.name
    path.write_bytes(one.content)
    try:
        found = products_of(path)
    except PenstockError as error:
        told = score([], one.truth)
        return told._replace(misses=(str(error), *told.misses))
    return score(found, one.truth)


def main(arguments: Sequence[str]) -> None:
    wanted = [name for name in arguments if not name.startswith("-")]
    cases = [one for one in CASES if not wanted or one.name in wanted]
    by_kind: dict[str, list[Score]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for one in cases:
            found = score_case(one, Path(folder))
            by_kind.setdefault(one.kind, []).append(found)
            if "--misses" in arguments and found.misses:
                print(f"{one.name}: {found.right} of {found.cells}", *found.misses, sep="\n    ")
    for kind, scores in [*by_kind.items(), ("all", [one for s in by_kind.values() for one in s])]:
        right, cells = sum(s.right for s in scores), sum(s.cells for s in scores)
        exact = sum(not s.misses for s in scores)
        print(
            f"{kind:16} {len(scores):3} files, {exact:3} exact, "
            f"{right:4} of {cells:4} cells right ({right / cells:.1%})"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
