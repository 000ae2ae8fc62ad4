"""How many columns and prices of lists from strangers are read right, and how many price strings.

    python benchmarks/fresh_lists.py [--misses] [first|second] [NAME ...]

The lists of `gold/fresh_first.txt` and `gold/fresh_second.txt` are made up. The field of each
column and the price of each row were written down before Penstock read them. A list is read as a
file, so that its delimiter, its header and its decimal mark must be found, too.
"""

from __future__ import annotations

import csv
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "src")]

from benchmarks.gold.run import LIMITS  # noqa: E402
from penstock.catalog.fields import full_target  # noqa: E402
from penstock.catalog.mapping.column_stats import ColumnStats  # noqa: E402
from penstock.catalog.mapping.proposal import propose  # noqa: E402
from penstock.catalog.profiles import profile as profiles  # noqa: E402
from penstock.catalog.values.prices import read_price  # noqa: E402
from penstock.model.errors import PenstockError  # noqa: E402
from penstock.model.pipeline import Item, Job  # noqa: E402
from penstock.pipelines.extraction.pipeline import ExtractionConfig  # noqa: E402
from penstock.pipelines.extraction.plan import build_context, with_job_settings  # noqa: E402
from penstock.pipelines.extraction.preview import sample_file  # noqa: E402
from penstock.pipelines.extraction.rows import extract  # noqa: E402

NO_FIELD = "-"
SETS = ("first", "second")
_SHORT = {
    "desc": "description", "cat": "category", "cur": "price.currency", "per": "price.unit.count",
    "tax": "price.taxRate", "rrp": "price.recommended", "list": "price.list", "unit": "price.unit",
    "cost": "price.cost", "stock": "availability.quantity", "status": "availability.status",
    "lead": "availability.leadTimeDays", "min": "availability.minOrder", "image": "images",
    "pack": "specifications.pack", "mat": "specifications.material", "url": "metadata.url",
    "dims": "specifications.dimensions", "group": "variants.group", "color": "variants.color",
    "size": "variants.size", "id": "sourceId", "dgroup": "price.discountGroup",
    "disc": "price.discount", "sup": "supplier.name", "supid": "supplier.id",
    "pub": "published", "was": "price.compareAt", "sale": "price.sale", "perunit": "price.perUnit",
    "tags": "metadata.tags", "incl": "price.taxIncluded", "updated": "metadata.lastUpdated",
}  # fmt: skip
# `@7` in a list stands for a valid EAN.
_EAN = re.compile(r"@([0-9]{1,4})")


class FreshList(NamedTuple):
    name: str
    header: list[str]
    targets: list[str]
    prices: list[str]
    content: bytes


class ReadList(NamedTuple):
    targets: dict[str, str]
    prices: list[str]


class Tally(NamedTuple):
    """``right``, ``wrong`` and ``missed`` count columns; of prices ``right_prices``."""

    right: int
    wrong: int
    missed: int
    prices: int
    right_prices: int
    misses: tuple[str, ...]


def lists(name: str) -> Iterator[FreshList]:
    text = (HERE / "gold" / f"fresh_{name}.txt").read_text("utf-8")
    for block in text.split("=== ")[1:]:
        head, header, targets, *rows = block.strip("\n").splitlines()
        title, mark = head.rsplit(" ", 1)
        mark = "\t" if mark == "~" else mark
        prices = rows.pop().removeprefix("> ").split("|")
        lines = [header, *(_EAN.sub(lambda found: _ean(int(found[1])), row) for row in rows)]
        names = _cells(header, mark)
        yield FreshList(title, names, [_target(one) for one in targets.split(mark)], prices,
                        "".join(f"{line}\n" for line in lines).encode())  # fmt: skip


def _cells(line: str, mark: str) -> list[str]:
    return next(csv.reader([line], delimiter=mark))


def _target(short: str) -> str:
    return _SHORT.get(short) or full_target(short) or short


def _ean(number: int) -> str:
    body = f"590{number:09d}"
    odd, even = sum(map(int, body[::2])), sum(map(int, body[1::2]))
    return f"{body}{-(odd + 3 * even) % 10}"


def read_list(path: Path) -> ReadList:
    """The field of each column and the price of each row, as a job without settings reads them."""
    config = ExtractionConfig(source="fresh")
    read = sample_file(str(path), config.reading(), LIMITS)
    header = read["header"]
    stats = [ColumnStats.from_json(one) for one in read["stats"]]
    proposal = propose(header, [one.samples for one in stats])
    profile = with_job_settings(profiles.from_proposal("proposed", proposal), header, config)
    context = build_context(
        header, stats, profile, proposal, "proposed", (), "USD", read["detected"]
    )
    job = Job(UUID(int=1), 1, "extraction", config, header=header, context=context)
    items = [Item(job, number, cells) for number, cells in enumerate(read["rows"], 1)]
    prices = [_price_of(outcome) for outcome in extract(items)]
    return ReadList({one.header: one.target or NO_FIELD for one in proposal.columns}, prices)


def _price_of(outcome: Any) -> str:
    document = getattr(outcome, "normalized", None) or {}
    price = document.get("product", {}).get("price", {})
    return f"{price.get('amount', NO_FIELD)} {price.get('currency') or NO_FIELD}"


def tally(one: FreshList, folder: Path) -> Tally:
    path = folder / "list"
    path.write_bytes(one.content)
    try:
        found = read_list(path)
    except PenstockError as error:
        found = ReadList({}, [str(error)])
    misses = []
    right = wrong = missed = 0
    for header, wanted in zip(one.header, one.targets, strict=True):
        got = found.targets.get(header, "no such column")
        right += got == wanted != NO_FIELD
        if got != wanted:
            wrong += got != NO_FIELD
            missed += wanted != NO_FIELD
            misses.append(f"{header!r}: {got}, not {wanted}")
    pairs = list(zip(one.prices, [*found.prices, *["no row"] * 99], strict=False))
    misses += [f"price {got}, not {wanted}" for wanted, got in pairs if got != wanted]
    return Tally(right, wrong, missed, len(pairs), sum(a == b for a, b in pairs), tuple(misses))


def price_strings() -> tuple[int, list[str]]:
    """The number of price strings, and those that are read otherwise than a person reads them."""
    text = (HERE / "gold" / "fresh_prices.txt").read_text("utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    misses = []
    for line in lines:
        shown, _, wanted = line.rpartition(" => ")
        found = read_price(shown)
        got = "none"
        if found.value is not None:
            got = f"{found.value.amount} {found.value.currency or NO_FIELD}"
            got = "request" if found.value.amount is None else got
        if got != wanted.strip():
            misses.append(f"{shown!r}: {got}, not {wanted}")
    return len(lines), misses


def main(arguments: Sequence[str]) -> None:
    shows = "--misses" in arguments
    named = [one for one in arguments if not one.startswith("-")]
    for name in [one for one in named if one in SETS] or SETS:
        _print_set(name, [one for one in named if one not in SETS], shows=shows)
    count, misses = price_strings()
    print(f"{count} price strings: {(count - len(misses)) / count:.1%} right")
    if shows:
        print(*misses, sep="\n")


def _print_set(name: str, wanted: Sequence[str], *, shows: bool) -> None:
    if not (HERE / "gold" / f"fresh_{name}.txt").exists():
        return
    found: list[Tally] = []
    with tempfile.TemporaryDirectory() as folder:
        for one in lists(name):
            if not wanted or one.name in wanted:
                found.append(tally(one, Path(folder)))
                if shows and found[-1].misses:
                    print(one.name, *found[-1].misses, sep="\n    ")
    right, wrong = sum(one.right for one in found), sum(one.wrong for one in found)
    missed, prices = sum(one.missed for one in found), sum(one.prices for one in found)
    right_prices = sum(one.right_prices for one in found)
    exact = sum(not one.misses for one in found)
    print(
        f"{name}: {len(found)} lists, {exact} exact; columns: precision "
        f"{right / (right + wrong):.2%}, recall {right / (right + missed):.2%}; "
        f"prices: {right_prices} of {prices}"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
