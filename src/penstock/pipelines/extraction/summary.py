"""The summary of a job: counts, columns, problems and warnings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.model.pipeline import Job
from penstock.model.ports import Tally
from penstock.pipelines.extraction.column_figures import column_figures

# Problem codes in the summary, over all columns.
_MAX_KINDS = 100


def summary_of(job: Job, tally: Tally) -> dict[str, Any]:
    counters, states, context = job.counters, tally.states, job.context
    figures = column_figures(context["mapping"], tally)
    return {
        "total": counters.get("total", 0),
        # Whatever became of them then: rows that repeat another, or that the intent leaves alone.
        "valid": sum(states.values()),
        "invalid": counters.get("error", 0),
        "new": states.get("new", 0),
        "existing": sum(states.get(state, 0) for state in ("changed", "unchanged", "held")),
        "changed": states.get("changed", 0),
        "unchanged": states.get("unchanged", 0),
        "duplicates": states.get("duplicate", 0),
        # Rows that wait until a person accepts them, and rows with proposed links.
        "held": states.get("held", 0),
        "linked": tally.linked,
        "profile": {"name": context["profile"]["name"], "from": context["profileFrom"]},
        "mapping": {one["column"]: one["target"] for one in context["mapping"] if one["target"]},
        "columns": [
            _column(one, told, tally) for one, told in zip(context["mapping"], figures, strict=True)
        ],
        "problems": _by_code(tally),
        "warnings": context.get("warnings", []),
        "notes": context["notes"],
    }


def _column(known: Mapping[str, Any], figures: Mapping[str, Any], tally: Tally) -> dict[str, Any]:
    """Figures, fill rate, estimated distinct values and problems of a column."""
    return {
        **figures,
        "fill": known["fill"],
        "distinct": known["distinct"],
        "examples": known["samples"],
        "problems": tally.problems.get(known["column"], []),
    }


def _by_code(tally: Tally) -> list[dict[str, Any]]:
    """Problems by code over all columns, the most frequent first."""
    found: dict[str, dict[str, Any]] = {}
    for column, problems in tally.problems.items():
        for one in problems:
            example = {**one["example"], **({"column": column} if column else {})}
            known = found.setdefault(one["code"], {**one, "count": 0, "example": example})
            known["count"] += one["count"]
            known["example"] = min(known["example"], example, key=lambda shown: shown["rowNo"])
    return sorted(found.values(), key=lambda one: (-one["count"], one["code"]))[:_MAX_KINDS]
