"""Edits of many rows of a job: which rows, and what becomes of their cells. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from penstock.model.errors import BadInput

ChangeKind = Literal["replace", "set", "fillDown", "paste"]
# As long as one cell of a request may be.
MAX_CELL_LENGTH = 100_000


@dataclass(frozen=True, slots=True)
class RowFilter:
    """Selects ended rows that match all that is given. ``problem`` is the code of a problem of a
    cell (`*`: any), in ``problem_column`` if that is given; ``column`` and ``value`` select by a
    cell, ``text`` by a text anywhere in the row or its result."""

    statuses: tuple[str, ...] = ()
    code: str | None = None
    problem: str | None = None
    problem_column: str | None = None
    column: str | None = None
    value: str | None = None
    rows: tuple[int, ...] = ()
    text: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Without defaults."""
        said: dict[str, Any] = {
            "statuses": list(self.statuses),
            "code": self.code,
            "problem": self.problem,
            "problemColumn": self.problem_column,
            "column": self.column,
            "value": self.value,
            "itemIds": list(self.rows),
            "q": self.text,
        }
        return {name: value for name, value in said.items() if value not in (None, [])}

    @staticmethod
    def of_json(said: Mapping[str, Any]) -> RowFilter:
        return RowFilter(
            tuple(said.get("statuses", ())), said.get("code"), said.get("problem"),
            said.get("problemColumn"), said.get("column"), said.get("value"),
            tuple(sorted(set(said.get("itemIds", ())))), said.get("q"),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Change:
    """What to do with the cells of a column, or with the cells of ``pasted`` rows."""

    kind: ChangeKind
    column: str = ""
    find: str = ""
    value: str = ""
    whole_cell: bool = False
    match_case: bool = True
    pasted: Mapping[int, Mapping[str, str]] | None = None

    def as_json(self) -> dict[str, Any]:
        said: dict[str, Any] = {"kind": self.kind}
        if self.kind == "paste":
            pasted = self.pasted or {}
            return said | {"rows": [{"row": row, "cells": dict(pasted[row])} for row in pasted]}
        said["column"] = self.column
        if self.kind != "fillDown":
            said["value"] = self.value
        if self.kind == "replace":
            said |= {
                "find": self.find, "wholeCell": self.whole_cell, "matchCase": self.match_case,
            }  # fmt: skip
        return said

    @staticmethod
    def of_json(said: Mapping[str, Any]) -> Change:
        pasted = {one["row"]: one["cells"] for one in said.get("rows", ())}
        return Change(
            said["kind"], said.get("column", ""), said.get("find", ""), said.get("value", ""),
            said.get("wholeCell", False), said.get("matchCase", True), pasted or None,
        )  # fmt: skip

    def columns(self) -> set[str]:
        if self.pasted is not None:
            return {column for cells in self.pasted.values() for column in cells}
        return {self.column}


@dataclass(frozen=True, slots=True)
class EditedRow:
    """A row whose cells change, with their texts before and after."""

    row_no: int
    before: Mapping[str, Any]
    after: Mapping[str, str]
    input: Any


class Editor:
    """Applies a change to rows in their order. ``above`` is the last text of the column before
    the next row, for filling down."""

    def __init__(self, change: Change, header: Sequence[str], above: str = "") -> None:
        self._change = change
        self._header = list(header)
        self.above = above

    def edited(self, rows: Sequence[tuple[int, Any, bool]]) -> Iterator[EditedRow]:
        """Rows as (number, cells, chosen); those that change."""
        for row_no, given, chosen in rows:
            after = self._after(row_no, given) if chosen else {}
            if self._change.kind == "fillDown":
                text = cell_text(given, self._header, self._change.column) or ""
                self.above = text if text.strip() else self.above
            before = {name: cell_of(given, self._header, name) for name in after}
            new = {name: text for name, text in after.items() if before[name] != text}
            if new:
                old = {name: before[name] for name in new}
                is_named = isinstance(given, dict)
                changed = {**given, **new} if is_named else with_cells(given, self._header, new)
                yield EditedRow(row_no, old, new, changed)

    def _after(self, row_no: int, given: Any) -> Mapping[str, str]:
        change = self._change
        if change.kind == "paste":
            return (change.pasted or {}).get(row_no, {})
        text = cell_text(given, self._header, change.column)
        if text is None:
            return {}
        match change.kind:
            case "set":
                return {change.column: change.value}
            case "fillDown":
                return {change.column: self.above} if not text.strip() and self.above else {}
            case _:
                replaced = _replaced(text, change)
                return {} if replaced is None else {change.column: replaced}


def _replaced(text: str, change: Change) -> str | None:
    """None: the text does not contain what is searched for."""
    find = change.find
    if change.whole_cell:
        same = text.strip() == find.strip()
        if not change.match_case:
            same = text.strip().lower() == find.strip().lower()
        return change.value if same else None
    if not find:
        return None
    if change.match_case:
        result = text.replace(find, change.value)
        return result[:MAX_CELL_LENGTH] if find in text else None
    return _replaced_in_any_case(text, find, change.value)


def _replaced_in_any_case(text: str, find: str, value: str) -> str | None:
    """Letters whose small form has another length are compared as they are."""
    lower, wanted = text.lower(), find.lower()
    if len(lower) != len(text):
        lower, wanted = text, find
    pieces: list[str] = []
    start = 0
    while (at := lower.find(wanted, start)) >= 0:
        pieces += (text[start:at], value)
        start = at + len(wanted)
    return "".join([*pieces, text[start:]])[:MAX_CELL_LENGTH] if pieces else None


def cell_of(given: Any, header: Sequence[str], column: str) -> Any:
    """A cell as it is stored; None if the row has no such cell."""
    if isinstance(given, dict):
        return given.get(column)
    place = header.index(column) if column in header else len(given)
    return given[place] if place < len(given) else None


def cell_text(given: Any, header: Sequence[str], column: str) -> str | None:
    """The text of a cell; empty if the row is too short. None where it is a list or an object."""
    value = cell_of(given, header, column)
    if value is None:
        return ""
    if isinstance(value, dict | list):
        return None
    return value if isinstance(value, str) else str(value)


def with_cells(given: Any, header: Sequence[str], cells: Mapping[str, Any]) -> Any:
    """The row with other cells. None empties a cell of a row with names, and a cell beyond a short
    row."""
    if isinstance(given, dict):
        unknown = [name for name in cells if name not in given and name not in header]
        changed: Any = {**given, **cells}
    else:
        unknown = [name for name in cells if name not in header]
        changed = [*given, *[""] * (len(header) - len(given))]
        for name, value in cells.items():
            if name in header:
                changed[header.index(name)] = "" if value is None else value
    if unknown:
        raise BadInput("UNKNOWN_FIELD", f"The row has no column {unknown[0]!r}.", unknown=unknown)
    return changed
