"""States of jobs and items, and the allowed transitions."""

from __future__ import annotations

from enum import StrEnum


class JobState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    CANCELLING = "cancelling"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class ItemStatus(StrEnum):
    PENDING = "PENDING"
    PROCESSING = "PROCESSING"
    DONE = "DONE"
    ERROR = "ERROR"
    NOT_FOUND = "NOT_FOUND"
    SKIPPED = "SKIPPED"


TERMINAL_JOB_STATES = frozenset({JobState.DONE, JobState.FAILED, JobState.CANCELLED})
TERMINAL_ITEM_STATUSES = frozenset(
    {ItemStatus.DONE, ItemStatus.ERROR, ItemStatus.NOT_FOUND, ItemStatus.SKIPPED}
)

JOB_MOVES: dict[JobState, frozenset[JobState]] = {
    JobState.QUEUED: frozenset({JobState.RUNNING, JobState.CANCELLING, JobState.DONE}),
    # Back to queued: its ingest or finish failed and waits for a retry.
    JobState.RUNNING: frozenset({JobState.QUEUED, JobState.CANCELLING, JobState.DONE}),
    # A failing job also passes through this state: its open items are skipped first.
    JobState.CANCELLING: frozenset({JobState.CANCELLED, JobState.FAILED}),
    JobState.DONE: frozenset({JobState.QUEUED}),
    JobState.FAILED: frozenset({JobState.QUEUED}),
    JobState.CANCELLED: frozenset({JobState.QUEUED}),
}

ITEM_MOVES: dict[ItemStatus, frozenset[ItemStatus]] = {
    ItemStatus.PENDING: frozenset({ItemStatus.PROCESSING, ItemStatus.SKIPPED}),
    # PENDING again: advanced to the next stage, will retry, was released, or its worker died.
    ItemStatus.PROCESSING: frozenset({ItemStatus.PENDING, *TERMINAL_ITEM_STATUSES}),
    # Only reprocessing takes an item out of a terminal state, as a new generation.
    ItemStatus.DONE: frozenset({ItemStatus.PENDING}),
    ItemStatus.ERROR: frozenset({ItemStatus.PENDING}),
    ItemStatus.NOT_FOUND: frozenset({ItemStatus.PENDING}),
    ItemStatus.SKIPPED: frozenset({ItemStatus.PENDING}),
}


def shown_state(state: str, *, paused: bool, delayed: bool) -> str:
    """The displayed state: paused and delayed hide the state below."""
    if paused and state in {JobState.QUEUED, JobState.RUNNING}:
        return "paused"
    if delayed and state == JobState.QUEUED:
        return "delayed"
    return state
