"""Rows of an export, and the problems of their cells."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

Which = Literal["valid", "all", "errors", "original-with-errors", "missing"]
REPORT_COLUMNS = ("Row", "Line", "Status", "Severity", "Code", "Column", "Value", "Message")
REASON = "Reason"
# Further columns of an export of all rows.
STATUS_COLUMNS = ("status", "problems")
MISSING_COLUMNS = ("Source id", "SKU", "GTIN", "Title", "Unpublished")


class RowWriter(Protocol):
    """Writes a file in pieces: head, pages of rows, end."""

    media_type: str
    extension: str
    # Whether the format can show problems of cells.
    marks: bool

    def __init__(self, columns: Sequence[str], amounts: Collection[str] = ()) -> None:
        """``amounts``: columns whose texts are numbers, for formats that distinguish them."""
        ...

    def head(self) -> bytes: ...
    def page(self, rows: Iterable[ExportRow]) -> bytes: ...
    def end(self) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Mark:
    """A problem of a cell."""

    column: str
    message: str
    is_error: bool = True


class ExportRow(NamedTuple):
    """Values in the order of the columns. A tuple, since exports make many."""

    cells: Sequence[Any]
    marks: Sequence[Mark] = ()


def problems_of(
    error: Mapping[str, Any] | None, noticed: Sequence[Mapping[str, Any]] | None
) -> list[Mapping[str, Any]]:
    """All problems of an item, errors first: those of its cells, or else the error it ended
    with."""
    found = list((error or {}).get("details", {}).get("problems", ())) + list(noticed or ())
    if not found and error is not None:
        return [error]
    return sorted(found, key=lambda one: one.get("severity") == "warning")


def marks_of(problems: Iterable[Mapping[str, Any]]) -> list[Mark]:
    """Marks by column: the supplier's column and the field, whichever the file has."""
    return [
        Mark(place, f"{problem['message']} [{problem['code']}]", not _is_warning(problem))
        for problem in problems
        for place in dict.fromkeys((problem.get("column"), problem.get("field")))
        if place is not None
    ]


def report_lines(
    row_no: int, line: int | None, status: str, problems: Iterable[Mapping[str, Any]]
) -> Iterable[ExportRow]:
    for problem in problems:
        severity = "warning" if _is_warning(problem) else "error"
        yield ExportRow(
            (row_no, line, status, severity, problem["code"], problem.get("column"),
             problem.get("value"), problem["message"])
        )  # fmt: skip


def reason_of(problems: Iterable[Mapping[str, Any]]) -> str:
    """All problems in one cell, for the person who corrects the file."""
    return "; ".join(
        f"{problem['column']}: {problem['message']}"
        if problem.get("column")
        else problem["message"]
        for problem in problems
    )


def _is_warning(problem: Mapping[str, Any]) -> bool:
    return problem.get("severity") == "warning"
