"""Figures of each column of a file: filled, empty, unreadable, changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.catalog.products.grid import CUSTOM
from penstock.model.ports import Tally


def column_figures(mapping: Sequence[Mapping[str, Any]], tally: Tally) -> list[dict[str, Any]]:
    """``mapping`` is that of the job's context."""
    return [_figures(one, tally) for one in mapping]


def _figures(known: Mapping[str, Any], tally: Tally) -> dict[str, Any]:
    problems = tally.problems.get(known["column"], ())
    warnings = sum(one["count"] for one in problems if one["severity"] == "warning")
    field = known["target"] or f"{CUSTOM}.{known['column']}"
    return {
        "column": known["column"],
        "target": known["target"],
        # Contexts of jobs that an earlier version started do not have these.
        "filled": known.get("filled"),
        "empty": known.get("empty"),
        "warnings": warnings,
        "errors": sum(one["count"] for one in problems) - warnings,
        "changed": _changed(field, tally.changes),
    }


def _changed(target: str, changes: Mapping[tuple[str, ...], int] | None) -> int | None:
    """Rows that change what the target fills; None: changes were not counted."""
    if changes is None:
        return None
    return sum(
        rows for fields, rows in changes.items() if any(_fills(target, one) for one in fields)
    )


def _fills(target: str, field: str) -> bool:
    """Whether a column with this target fills the field, or a part of it: `images.2` `images`."""
    return field == target or field.startswith(f"{target}.") or target.startswith(f"{field}.")
