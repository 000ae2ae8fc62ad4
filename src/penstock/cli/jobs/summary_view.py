"""The summary of a job for people: counts in a line, columns and problems as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.cli import printing

_MOST_PROBLEMS = 20
# The database sorts names by their length. Others follow.
_ORDER = (
    "total", "products", "valid", "invalid", "new", "existing", "changed", "unchanged",
    "duplicates", "held", "linked",
)  # fmt: skip


def counts_of(summary: Mapping[str, Any]) -> dict[str, Any]:
    """The counts that fit on one line."""
    names = [*(name for name in _ORDER if name in summary), *summary]
    return {name: summary[name] for name in names if not isinstance(summary[name], dict | list)}


def show_summary(summary: Mapping[str, Any]) -> None:
    columns = summary.get("columns") or []
    if columns:
        print()
        printing.columns(
            ("COLUMN", "FIELD", "FILLED", "DISTINCT", "PROBLEMS", "EXAMPLE"),
            [_column(one) for one in columns],
        )
    problems = summary.get("problems") or []
    if problems:
        print()
        printing.columns(
            ("ROWS", "SEVERITY", "PROBLEM", "FIRST IN", "WHAT"),
            [_problem(one) for one in problems[:_MOST_PROBLEMS]],
        )
    for one in summary.get("warnings") or []:
        printing.note(f"{one['message']} [{one['code']}]")


def _column(one: Mapping[str, Any]) -> Sequence[Any]:
    examples = one.get("examples") or [""]
    return (
        one["column"], one["target"] or "", printing.share(one["fill"]), f"{one['distinct']:,}",
        sum(problem["count"] for problem in one["problems"]) or "", examples[0][:40],
    )  # fmt: skip


def _problem(one: Mapping[str, Any]) -> Sequence[Any]:
    example = one["example"]
    place = f"row {example['rowNo']}"
    if example.get("column"):
        place += f", {example['column']}"
    return (f"{one['count']:,}", one.get("severity") or "", one["code"], place, one["message"][:70])
