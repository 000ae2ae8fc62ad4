"""Select ended items to run again. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Any, NamedTuple

from penstock.model.held_rows import HELD_CODES
from penstock.model.policy import RetryPolicy
from penstock.model.states import ItemStatus, JobState

_FAILED = (ItemStatus.ERROR, ItemStatus.NOT_FOUND)
# Codes that the end of a job sets on its open items, unlike codes set by stages.
_BY_END = frozenset({"CANCELLED", "JOB_FAILED"})


class EndedItem(NamedTuple):
    """An item that may run again; a tuple, since chunks are long. ``code`` is of its error;
    ``born``: another item added it; ``in_time``: it ended before the request, so that an item that
    has failed again since then is not taken twice."""

    row_no: int
    status: str
    stage: int
    attempts: int
    born: bool
    code: str | None
    in_time: bool


class ReprocessDecision(Enum):
    TAKEN = auto()
    LEFT_OUT = auto()
    NOT_MEANT = auto()


@dataclass(frozen=True, slots=True)
class Selection:
    """Selects ended items of a job. Without ``statuses``: failed ones. ``rows`` selects by number;
    ``whole_job`` reopens a job that ended early, with all its open items.

    ``reset_attempts`` gives each item all attempts again; without it, items without attempts left
    are excluded. ``skipped_by_end`` excludes items that a stage skipped. ``accept`` selects rows
    that were held back, and accepts them; ``refuse`` refuses them. ``stage`` excludes items that
    ended in another stage.
    """

    whole_job: bool = True
    statuses: tuple[ItemStatus, ...] = ()
    codes: tuple[str, ...] = ()
    rows: tuple[int, ...] = ()
    reset_attempts: bool = True
    from_start: bool = False
    skipped_by_end: bool = False
    accept: bool = False
    stage: str | None = None
    refuse: bool = False

    def in_state(self, state: str) -> Selection:
        """The selection with default statuses for a job in ``state``, if none were given."""
        if self.accept or self.refuse:
            codes = self.codes or HELD_CODES
            return replace(
                self, whole_job=False, statuses=(ItemStatus.SKIPPED,), codes=codes, from_start=False
            )
        if self.statuses:
            return self
        ended_early = state in {JobState.FAILED, JobState.CANCELLED}
        if ended_early and (self.whole_job or self.rows):
            return replace(self, statuses=(*_FAILED, ItemStatus.SKIPPED), skipped_by_end=True)
        return replace(self, statuses=_FAILED)

    @property
    def decision(self) -> bool | None:
        """What a person decided about rows that were held back; None: nothing."""
        return True if self.accept else False if self.refuse else None

    def most(self, counters: Mapping[ItemStatus, int]) -> int:
        """The maximum number of items, by a job's counters of ended items."""
        if self.rows:
            return len(self.rows)
        return sum(counters[status] for status in self.statuses)

    def decide(self, item: EndedItem, policy_at: Callable[[int], RetryPolicy]) -> ReprocessDecision:
        status, code = item.status, item.code
        if status not in self.statuses:
            return ReprocessDecision.LEFT_OUT if self.rows else ReprocessDecision.NOT_MEANT
        if self.codes and code not in self.codes:
            return ReprocessDecision.NOT_MEANT
        if status == ItemStatus.SKIPPED and self.skipped_by_end and code not in _BY_END:
            return ReprocessDecision.NOT_MEANT
        if not item.in_time:
            return ReprocessDecision.NOT_MEANT
        if not self.reset_attempts and _used_up(item, policy_at(item.stage)):
            return ReprocessDecision.LEFT_OUT
        return ReprocessDecision.TAKEN

    def as_json(self) -> dict[str, Any]:
        """Without defaults, for events and the audit log."""
        said: dict[str, Any] = {"scope": "job" if self.whole_job else "items"}
        if self.statuses:
            said["statuses"] = list(self.statuses)
        if self.codes:
            said["codes"] = list(self.codes)
        if self.rows:
            said["itemIds"] = list(self.rows)
        if not self.reset_attempts:
            said["resetAttempts"] = False
        if self.from_start:
            said["fromStart"] = True
        if self.skipped_by_end:
            said["skippedByEnd"] = True
        if self.accept:
            said["accept"] = True
        if self.refuse:
            said["refuse"] = True
        if self.stage is not None:
            said["stage"] = self.stage
        return said

    @staticmethod
    def of_json(said: Mapping[str, Any]) -> Selection:
        return Selection(
            whole_job=said.get("scope", "job") == "job",
            statuses=tuple(ItemStatus(word) for word in said.get("statuses", ())),
            codes=tuple(said.get("codes", ())),
            rows=tuple(sorted(set(said.get("itemIds", ())))),
            reset_attempts=said.get("resetAttempts", True),
            from_start=said.get("fromStart", False),
            skipped_by_end=said.get("skippedByEnd", False),
            accept=said.get("accept", False),
            refuse=said.get("refuse", False),
            stage=said.get("stage"),
        )


def _used_up(item: EndedItem, policy: RetryPolicy) -> bool:
    """Whether the item has no attempts left: those of its error's rule, or for errors that are not
    retried automatically the maximum of any rule."""
    match item.status:
        case ItemStatus.ERROR:
            any_error = policy.rule("INTERNAL_ERROR").retries
            own = policy.rule(item.code or "").retries
            return bool(item.attempts > (own or any_error))
        case ItemStatus.NOT_FOUND:
            return bool(item.attempts > policy.not_found.retries)
        case _:
            return False
