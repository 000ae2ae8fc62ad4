"""The report of an extraction, for people and for programs."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from penstock.cli import printing
from penstock.cli.files.results import Written
from penstock.store.database import from_json
from penstock.store.jobs.job_rows import JobDetails

_COUNTS = ("total", "valid", "invalid", "duplicates", "new", "existing", "held", "linked")
_ADVICE = {
    "UNSUPPORTED_TYPE": "Save it as CSV and try again.",
    "FILE_TOO_LARGE": "Split it, or raise PENSTOCK_MAX_FILE_BYTES.",
    "STORAGE_FULL": "Free some space, or choose another folder with PENSTOCK_DATA_DIR.",
    "WORKER_CRASHED": "Raise PENSTOCK_CHILD_MEMORY_BYTES, or look for what is odd in the file.",
}


@dataclass
class Extracted:
    """The result."""

    state: str
    job_id: UUID | None = None
    counts: dict[str, int | None] = field(default_factory=lambda: dict.fromkeys(_COUNTS))
    mapping: dict[str, str] | None = None
    written: Written | None = None
    seconds: float = 0.0
    error: dict[str, Any] | None = None
    interrupted: bool = False
    # Only checked: nothing was to be written.
    checked: bool = False

    @property
    def undone(self) -> int:
        """Rows that failed or wait to be accepted."""
        held = 0 if self.checked else self.counts["held"]
        return (self.counts["invalid"] or 0) + (held or 0)

    def as_json(self) -> dict[str, Any]:
        return {
            "jobId": self.job_id,
            "state": self.state,
            **self.counts,
            "mapping": self.mapping,
            "output": self.written.place if self.written else None,
            "seconds": round(self.seconds, 2),
            **({"error": self.error} if self.error else {}),
        }

    def lines(self) -> list[str]:
        """The summary for people; empty for a job that failed, which has its problem instead."""
        if self.written is None:
            return []
        counts = self.counts
        rate = (counts["total"] or 0) / max(self.seconds, 0.001)
        mapped = ", ".join(f"{column} → {name}" for column, name in (self.mapping or {}).items())
        return [
            f"{printing.count(counts['total'] or 0, 'row', 'rows')}, {counts['valid']:,} valid,"
            f" {counts['invalid']:,} invalid, "
            f"{self.seconds:.1f} s, {rate:,.0f} rows/s",
            *([f"Fields: {mapped}"] if mapped else []),
            *self.written.problems,
            *self._questions(),
            f"Clean rows: {self.written.place}   Job: {self.job_id}",
        ]

    def _questions(self) -> list[str]:
        told = []
        held = self.counts["held"]
        if held and self.checked:
            rows = printing.count(held, "row", "rows")
            told.append(f"{rows} would be held back: a price or GTIN changes too much")
        elif held:
            rows = printing.count(held, "row was held back", "rows were held back")
            told.append(
                f"{rows}: `penstock jobs held {self.job_id}` shows why, and"
                f" `penstock jobs accept {self.job_id}` writes them"
            )
        if linked := self.counts["linked"]:
            rows = printing.count(linked, "row may be a product", "rows may be products")
            told.append(f"{rows} that another source has, too")
        return told

    def problem(self) -> str:
        error = self.error or {}
        advice = _ADVICE.get(error.get("code", ""), "")
        candidates = (error.get("details") or {}).get("candidates") or []
        pairs = [f"{one['column']}={one['suggested']}" for one in candidates[:2]]
        if pairs:
            options = " or ".join(f"--mapping {shlex.quote(pair)}" for pair in pairs)
            advice = f"Add an option, for example {options}."
        return f"{error.get('message', '').rstrip('.')}. {advice}".strip() + f" [{error['code']}]"


def outcome_of(row: JobDetails) -> Extracted:
    """The job's summary; without one, its counters."""
    summary = from_json(row.summary) or {
        "total": row.total, "valid": row.done, "invalid": row.error,
    }  # fmt: skip
    error = from_json(row.last_error) if row.state == "failed" else None
    mapping = summary.get("mapping")
    if mapping is not None:
        # jsonb has no order of keys; show columns in the order of the file.
        mapping = {column: mapping[column] for column in _header(row) if column in mapping}
    counts = {name: summary.get(name) for name in _COUNTS}
    intent = (from_json(row.config) or {}).get("intent", "check")
    checked = intent == "check"
    return Extracted(row.state, row.id, counts, mapping, error=error, checked=checked)


def _header(row: JobDetails) -> list[str]:
    return from_json(row.header) or []
