"""What a column as a whole decides, and what it leaves open and says so."""

from __future__ import annotations

import orjson
import pytest

from penstock.catalog.mapping.column_decisions import ColumnDecision, decide
from penstock.catalog.mapping.column_stats import ColumnStats, add_rows, new_stats, number_evidence


def stats(*cells: str) -> ColumnStats:
    column = ColumnStats()
    column.add(cells)
    return column


@pytest.mark.parametrize(
    ("cell", "evidence"),
    [
        ("12,50", "comma"),
        ("12.50", "point"),
        ("1.234,56 €", "comma"),
        ("$1,234.56", "point"),
        ("3.350", "point?"),
        ("3,350", "comma?"),
        ("0.750", "point"),
        ("1234.567", "point"),
        ("1.234.567", "comma"),
        ("1,234,567", "point"),
        ("12", "whole"),
        ("1 234,5", "comma"),
        ("abc", None),
    ],
)
def test_the_evidence_of_one_cell(cell: str, evidence: str | None) -> None:
    assert number_evidence(cell) == evidence


@pytest.mark.parametrize(
    ("cells", "decimal", "note"),
    [
        (["3.350", "12,50"], "comma", ""),
        (["3.350", "12.50"], "point", ""),
        (["3.350", "90.750"], None, "ambiguous"),
        (["12,50", "12.50"], None, "mixed"),
        (["3.350", "1.234.567"], "comma", ""),
        ([*["1,5"] * 1, *[f"{n},50" for n in range(40)], "12.75"], "comma", "Nearly all"),
        (["12", "13"], None, ""),
    ],
)
def test_the_decimal_mark_of_a_column(cells: list[str], decimal: str | None, note: str) -> None:
    (decision,) = decide([stats(*cells)])
    assert decision.decimal == decimal
    assert note in " ".join(decision.notes)
    assert bool(note) == bool(decision.notes)


def test_a_silent_column_follows_the_rest_of_the_file() -> None:
    silent, clear = decide([stats("3.350", "90.750"), stats("1,50", "2,75")])
    assert (silent.decimal, clear.decimal) == ("comma", "comma")
    assert "follow the other columns" in silent.notes[0]


def test_a_file_of_two_minds_decides_nothing() -> None:
    silent, *_ = decide([stats("3.350"), stats("1,50"), stats("1.50")])
    assert silent.decimal is None


@pytest.mark.parametrize(
    ("cells", "order", "note"),
    [
        (["03/04/2026", "13/04/2026"], "dmy", ""),
        (["03/04/2026", "04/13/2026"], "mdy", ""),
        (["03/04/2026"], None, "ambiguous"),
        (["13/04/2026", "04/13/2026"], None, "in others"),
    ],
)
def test_the_order_of_dates(cells: list[str], order: str | None, note: str) -> None:
    (decision,) = decide([stats(*cells)])
    assert decision.dates == order
    assert note in " ".join(decision.notes)


def test_the_one_currency_of_a_column() -> None:
    assert decide([stats("12 €", "13,50 EUR", "14")])[0].currency == "EUR"
    assert decide([stats("EUR", "EUR")])[0].currency == "EUR"
    mixed = decide([stats("12 €", "$13")])[0]
    assert mixed.currency is None
    assert "Several currencies: EUR, USD" in mixed.notes
    assert decide([stats("$12.00")], currency="CAD")[0].currency == "CAD"
    assert "set `currency`" in " ".join(decide([stats("$12.00")])[0].notes)


def test_fill_length_samples_and_words() -> None:
    column = stats("ja", "", "nein", "  ", "ja")
    assert column.fill == 0.6
    assert column.longest == 4
    assert column.samples == ["ja", "nein"]
    assert dict(column.booleans) == {"ja": 1, "nein": 1}


@pytest.mark.parametrize("size", [10, 200, 5_000, 50_000])
def test_distinct_values_are_counted_nearly_in_bounded_memory(size: int) -> None:
    column = ColumnStats()
    for start in range(0, size, 1_000):
        column.add([f"value {n}" for n in range(start, min(size, start + 1_000))])
    column.add(["value 1"] * 1_000)
    assert abs(column.distinct - size) <= size * 0.2
    assert len(orjson.dumps(column.as_json())) < 10_000


def test_rows_of_any_length_and_the_way_through_json() -> None:
    columns = new_stats(3)
    add_rows(columns, [["a", "1,5"], ["b", "2", "c", "too many"], []])
    assert [column.filled for column in columns] == [2, 2, 1]
    kept = [ColumnStats.from_json(orjson.loads(orjson.dumps(c.as_json()))) for c in columns]
    assert [column.as_json() for column in kept] == [column.as_json() for column in columns]
    decision = decide(columns)[1]
    assert ColumnDecision.from_json(orjson.loads(orjson.dumps(decision.as_json()))) == decision
