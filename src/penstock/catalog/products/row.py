"""The state of a row while it is normalised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from penstock.catalog.problem_codes import Severity
from penstock.catalog.values.result import Problem, problem

# Longer cells are quoted in part; the row keeps the whole cell.
MAX_RAW_LENGTH = 300


# The lineage of a value: column, raw text, rule and confidence. A plain tuple, because
# there is one for every value of every row.
Source = tuple[str, str, str, float]


class RowProblem(NamedTuple):
    column: str | None
    value: str | None
    code: str
    message: str
    severity: Severity
    target: str | None = None

    def as_json(self, row: int | None = None) -> dict[str, object]:
        shown: dict[str, object] = {} if row is None else {"row": row}
        return shown | {k: v for k, v in self._asdict().items() if v is not None}


@dataclass(slots=True)
class NormalisedRow:
    """``group`` is the handle or parent that variants share. ``continues``: the row only extends
    another row of its group, as Shopify's further variants and images do."""

    product: dict[str, Any]
    lineage: dict[str, Source]
    problems: list[RowProblem]
    group: str | None = None
    continues: bool = False

    def add(self, header: str, raw: str, target: str, wrong: Sequence[Problem]) -> None:
        for code, message, severity in wrong:
            self.problems.append(
                RowProblem(header, shortened(raw), code, message, severity, target)
            )

    def add_problem(self, target: str, code: str, **words: object) -> None:
        """Add a problem of a field, shown at the cell of its value."""
        source = self.lineage.get(target)
        header, raw = source[:2] if source else (target, "")
        self.add(header, raw, target, (problem(code, **words),))


def shortened(raw: str) -> str:
    return raw if len(raw) <= MAX_RAW_LENGTH else raw[:MAX_RAW_LENGTH] + "…"
