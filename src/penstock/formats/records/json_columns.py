"""JSON by columns: `{"sku": ["A", "B"], "price": [1, 2]}`, or `{"sku": {"0": "A", "1": "B"}}`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

_MIN_COLUMNS = 2
_MIN_ROWS = 2


def column_names(members: Mapping[str, Any], counts: Mapping[str, int]) -> list[str]:
    """The members that are columns: most of them, and all of the same length. ``counts`` are the
    whole lengths of lists, of which ``members`` contains the first elements. Empty if there are
    none."""
    lists = [name for name, value in members.items() if _is_list_of_scalars(value)]
    lengths = {counts.get(name, 0) for name in lists}
    if len(lists) >= _MIN_COLUMNS and len(lengths) == 1 and max(lengths) >= _MIN_ROWS:
        rest = [value for name, value in members.items() if name not in lists]
        if len(lists) > len(rest) and not any(isinstance(value, list) for value in rest):
            return lists
    return []


def is_numbered(members: Mapping[str, Any]) -> bool:
    """Whether all members are objects with row numbers as names, as pandas writes them."""
    columns = list(members.values())
    if len(columns) < _MIN_COLUMNS or not all(isinstance(one, dict) and one for one in columns):
        return False
    first = list(columns[0])
    if len(first) < _MIN_ROWS or not all(name.isdecimal() for name in first):
        return False
    return all(list(one) == first and _are_scalars(one.values()) for one in columns[1:])


def _is_list_of_scalars(value: Any) -> bool:
    return isinstance(value, list) and _are_scalars(value)


def _are_scalars(values: Any) -> bool:
    return all(not isinstance(one, list | dict) for one in values)


def rows_by_columns(members: Mapping[str, Any], names: list[str]) -> Iterator[list[Any]]:
    """The rows of a whole object; an object as a column is read in the order of its members."""
    columns = []
    for name in names:
        found = members.get(name)
        columns.append(list(found.values()) if isinstance(found, dict) else found or [])
    yield from map(list, zip_longest(*columns))
