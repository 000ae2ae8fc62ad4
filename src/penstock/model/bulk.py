"""Operations over many jobs: action, filter and progress. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID


class BulkAction(StrEnum):
    PAUSE = "pause"
    RESUME = "resume"
    CANCEL = "cancel"
    PRIORITY = "priority"
    REPROCESS = "reprocess"
    CLONE = "clone"
    # Of rows of one job, by `app.rows.edits`.
    EDIT = "edit"


@dataclass(frozen=True, slots=True)
class JobFilter:
    """Selects jobs; None does not restrict. ``states`` are the displayed ones. ``org`` is only for
    display: the tenant scope is applied elsewhere."""

    states: tuple[str, ...] | None = None
    pipeline: str | None = None
    lane: str | None = None
    user_id: int | None = None
    org: str | None = None
    name: str | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None
    job_ids: tuple[UUID, ...] | None = None

    def as_json(self) -> dict[str, Any]:
        said: dict[str, Any] = {
            "states": None if self.states is None else list(self.states),
            "pipeline": self.pipeline,
            "lane": self.lane,
            "userId": self.user_id,
            "org": self.org,
            "name": self.name,
            "createdAfter": _moment(self.created_after),
            "createdBefore": _moment(self.created_before),
            "jobIds": None if self.job_ids is None else [str(one) for one in self.job_ids],
        }
        return {name: value for name, value in said.items() if value is not None}

    @staticmethod
    def of_json(said: Mapping[str, Any]) -> JobFilter:
        def moment(name: str) -> datetime | None:
            return datetime.fromisoformat(said[name]) if name in said else None

        return JobFilter(
            states=tuple(said["states"]) if "states" in said else None,
            pipeline=said.get("pipeline"),
            lane=said.get("lane"),
            user_id=said.get("userId"),
            org=said.get("org"),
            name=said.get("name"),
            created_after=moment("createdAfter"),
            created_before=moment("createdBefore"),
            job_ids=tuple(UUID(one) for one in said["jobIds"]) if "jobIds" in said else None,
        )


def _moment(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()


# The share of an edit that is done when a pass begins, and when it ends: cells are written fast,
# and reopening reads the names of all rows.
_PASSES = {"write": (0.0, 0.2), "products": (0.2, 0.2), "reopen": (0.2, 1.0)}


def percent(
    state: str, matched: int, handled: int, target_row: int = 0, target_total: int | None = None,
    target_pass: str | None = None,
) -> float:  # fmt: skip
    """The progress of an operation; a large job counts by its processed rows, in each pass."""
    if state == "done":
        return 100.0
    if state == "counting" or matched == 0:
        return 0.0
    within = min(1.0, target_row / target_total) if target_total else 0.0
    begins, ends = _PASSES.get(target_pass or "", (0.0, 1.0))
    within = begins + (ends - begins) * within
    return round(min(99.9, 100 * (handled + within) / matched), 1)
