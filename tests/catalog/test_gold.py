"""A hand-made set of messy values, each with what it should become. Every miss is shown."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from penstock.catalog.values.currencies import CODES
from penstock.catalog.values.price_tiers import Discount
from penstock.catalog.values.readers import Style, reader
from penstock.catalog.values.result import NormalisedValue
from penstock.catalog.values.unit_names import KINDS

GOLD = Path(__file__).parent / "gold"
LEAST_RIGHT = 0.99
TEXTUAL = ("line", "text", "gtin", "identifier", "url", "date", "currency", "unit")


class Case(NamedTuple):
    kind: str
    style: str
    raw: str
    expected: str
    codes: str


def unescape(text: str) -> str:
    for short, meant in (("\\\\", "\0"), ("\\n", "\n"), ("\\r", "\r"), ("\\x07", "\x07")):
        text = text.replace(short, meant)
    return text.replace("\0", "\\")


def cases() -> Iterator[Case]:
    for path in sorted(GOLD.glob("*.tsv")):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                yield Case(*(unescape(row[name] or "") for name in Case._fields))


def style_of(word: str) -> Style:
    if word in ("comma", "point"):
        return Style(decimal="comma" if word == "comma" else "point")
    if word in ("dmy", "mdy"):
        return Style(dates="dmy" if word == "dmy" else "mdy")
    if word in CODES:
        return Style(currency=word)
    return Style(unit=word) if word in KINDS else Style()


def price(value: Any) -> str:
    if value.amount is None:
        return "request"
    shown = str(value.amount)
    if value.upper is not None:
        shown += f"..{value.upper}"
    if value.currency is not None:
        shown += f" {value.currency}"
    if value.unit is not None:
        shown += f" /{value.unit}"
    if value.tax_included is not None:
        shown += " +tax" if value.tax_included else " -tax"
    if value.tiers:
        shown += " [" + " ".join(f"{t.quantity}:{t.amount}" for t in value.tiers) + "]"
    return shown


def pack(value: Any) -> str:
    seen = value.as_json()
    size = f" x {seen['size']}" if "size" in seen else ""
    return f"{seen['count']}{size} {seen['unit']} = {seen['total']} {seen['totalUnit']}"


def availability(value: Any) -> str:
    shown = value.status or "?"
    if value.quantity is not None:
        shown += f" {value.quantity}"
    if value.date is not None:
        shown += f" on={value.date}"
    return shown + (f" lead={value.lead_days}" if value.lead_days is not None else "")


def dimensions(value: Any) -> str:
    sides = [f"{name}={side}" for name, side in value.items() if name != "unit"]
    return " ".join([*sides, *([value["unit"]] if "unit" in value else [])])


SHOW: dict[str, Callable[[Any], str]] = {
    "price": price,
    "pack": pack,
    "availability": availability,
    "dimensions": dimensions,
    "weight": lambda v: f"{v['value']} {v.get('unit', '')}".strip(),
    "length": lambda v: f"{v['value']} {v.get('unit', '')}".strip(),
    "boolean": lambda v: str(v).lower(),
    "category": ";".join,
    "tags": ";".join,
    "images": ";".join,
    "tiers": lambda v: " ".join(
        f"{t.quantity}:-{t.percent}%" if isinstance(t, Discount) else f"{t.quantity}:{t.amount}"
        for t in v[0]
    ),
}


def shown(kind: str, found: NormalisedValue) -> str:
    if found.value is None:
        return "none"
    return SHOW.get(kind, str)(found.value)


def test_the_gold_set_is_read_right(capsys: pytest.CaptureFixture[str]) -> None:
    total = right = 0
    misses: list[str] = []
    for case in cases():
        found = reader(case.kind, style_of(case.style))(case.raw)
        codes = ",".join(sorted(problem.code for problem in found.problems))
        total += 1
        got = shown(case.kind, found)
        if got == case.expected and codes == case.codes:
            right += 1
        else:
            misses.append(
                f"{case.kind} {case.raw!r}: {got} {codes}, not {case.expected} {case.codes}"
            )
    with capsys.disabled():
        print(f"\ngold set: {right} of {total} right ({right / total:.1%})", *misses, sep="\n  ")
    assert total >= 500
    assert right / total >= LEAST_RIGHT


def test_a_normalised_value_is_normalised_to_itself() -> None:
    """Reading twice changes nothing, for the kinds whose values are text."""
    for case in cases():
        if case.kind not in (
            "line",
            "text",
            "gtin",
            "identifier",
            "url",
            "date",
            "currency",
            "unit",
        ):
            continue
        read = reader(case.kind, style_of(case.style))
        once = read(case.raw).value
        if once is not None:
            assert read(once).value == once, case
