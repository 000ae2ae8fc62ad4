"""Amounts that decimal commas split in a file whose delimiter is the comma."""

from __future__ import annotations

from penstock.formats.csv.decimal_commas import find_split_amounts, join_split_amounts

NAMES = ["Nr", "Preis", "Menge"]


def test_columns_are_found_and_joined() -> None:
    rows = [["1", "2", "50", "7"], ["2", "0", "80", "12"], ["3", "10", "05", "140"]]
    assert find_split_amounts(NAMES, rows) == [1]
    join_split_amounts(rows[2], [1], len(NAMES))
    assert rows[2] == ["3", "10,05", "140"]


def test_rows_of_another_width_are_left_alone() -> None:
    row = ["3", "10", "140"]
    join_split_amounts(row, [1], len(NAMES))
    assert row == ["3", "10", "140"]


def test_nothing_is_joined_where_it_is_unclear() -> None:
    ambiguous = [["1", "20", "50", "70"], ["2", "10", "80", "12"]]
    assert find_split_amounts(NAMES, ambiguous) == []
    words = [["1", "red", "50", "7"], ["2", "blue", "80", "12"]]
    assert find_split_amounts(NAMES, words) == []
    assert find_split_amounts(["Nr", "", "Menge"], [["1", "2", "50", "7"]] * 3) == []
