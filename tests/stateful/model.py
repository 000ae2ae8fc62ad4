"""What becomes of jobs and items, in plain Python: small, slow and easy to believe.

It does not say what the engine picks next, only what it may pick, and what follows from it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

PENDING, PROCESSING = "PENDING", "PROCESSING"
DONE, ERROR, NOT_FOUND, SKIPPED = "DONE", "ERROR", "NOT_FOUND", "SKIPPED"
OPEN = frozenset({PENDING, PROCESSING})
# Retries of the policy the machine runs with, after the first run.
ERROR_RETRIES, NOT_FOUND_RETRIES = 2, 1
# Crashes alone in a worker, and workers an ingest or summary may take down.
MOST_CRASHES = 3
# Failures of an ingest before it fails its job.
INGEST_RETRIES = 3
CHILDREN = 2


@dataclass
class Item:
    row: int
    group: str | None = None
    key: str | None = None
    stage: int = 0
    status: str = PENDING
    attempts: int = 0
    crashes: int = 0
    solo: int = 0
    generation: int = 1
    due: bool = True
    lease: UUID | None = None
    # A stage had nothing to do for it, as opposed to: its job ended early.
    skipped_by_stage: bool = False

    @property
    def shown(self) -> tuple[object, ...]:
        return (self.row, self.stage, self.status, self.attempts, self.crashes, self.generation,
                self.lease)  # fmt: skip

    def ends(self, status: str) -> None:
        self.status, self.lease, self.crashes, self.solo, self.due = status, None, 0, 0, True

    def waits(self, *, due: bool) -> None:
        self.status, self.lease, self.due = PENDING, None, due


class Held(NamedTuple):
    """A lease: over rows of a stage, or over the ingest or summary of a whole job."""

    id: UUID
    job: UUID
    kind: str
    stage: int
    rows: tuple[int, ...]
    group: str | None


@dataclass
class Whole:
    """The ingest or the summary of a job."""

    due: bool = True
    lease: UUID | None = None
    crashes: int = 0


@dataclass(frozen=True)
class Shape:
    """What is asked for."""

    org: int
    pipeline: str
    rows: int
    stages: int
    barrier: int | None
    inline: bool
    batch: int
    groups: int

    @property
    def config(self) -> dict[str, object]:
        return {"rows": self.rows, "stages": self.stages, "barrier": self.barrier,
                "inline": self.inline, "batch": self.batch, "groups": self.groups}  # fmt: skip


@dataclass
class Job:
    id: UUID
    shape: Shape
    items: dict[int, Item] = field(default_factory=dict)
    # Rows of the input that are items.
    stored: int = 0
    ingest_done: bool = True
    paused: bool = False
    ended: str | None = None
    generation: int = 1
    failures: int = 0
    ingest: Whole = field(default_factory=Whole)
    summary: Whole = field(default_factory=Whole)

    @property
    def learns(self) -> bool:
        return self.shape.pipeline == "whole"

    @property
    def sums_up(self) -> bool:
        return self.shape.pipeline == "whole"

    @property
    def complete(self) -> bool:
        return self.ingest_done and not any(i.status in OPEN for i in self.items.values())

    @property
    def counters(self) -> Counter[str]:
        return Counter(item.status for item in self.items.values())

    def store(self, upto: int) -> None:
        """The ingest has stored so many rows."""
        for number in range(self.stored, upto):
            row = len(self.items) + 1
            self.items[row] = Item(row, self._group(number))
        self.stored = upto

    def _group(self, number: int) -> str | None:
        return f"g{number % self.shape.groups}" if self.shape.groups else None

    def spawn(self, parent: Item) -> None:
        for number in range(CHILDREN):
            key = f"{parent.row}.{number}"
            if all(item.key != key for item in self.items.values()):
                row = len(self.items) + 1
                self.items[row] = Item(row, key=key)

    def is_open(self, stage: int) -> bool:
        """Whether items of the stage may be claimed at all."""
        if self.learns and not self.ingest_done:
            return False
        if stage != self.shape.barrier:
            return True
        before = any(i.status in OPEN and i.stage < stage for i in self.items.values())
        return self.ingest_done and not before


@dataclass
class Model:
    jobs: dict[UUID, Job] = field(default_factory=dict)
    leases: dict[UUID, Held] = field(default_factory=dict)

    # What may be claimed

    def claimable(self, *, soon: bool = False) -> Iterator[tuple[str, UUID, int]]:
        """Kind, job and row (0 for a whole job) of everything that may be claimed now; ``soon``:
        also an ingest that failed a moment ago, whose wait is too short to be told from none."""
        for job in self.jobs.values():
            if job.ended or job.paused:
                continue
            if not job.ingest_done and (soon or job.ingest.due) and job.ingest.lease is None:
                yield "ingest", job.id, 0
            if job.complete and job.sums_up and job.summary.due and job.summary.lease is None:
                yield "finish", job.id, 0
            yield from (("items", job.id, item.row) for item in self._items(job))

    def _items(self, job: Job) -> Iterator[Item]:
        for item in job.items.values():
            able = item.status == PENDING and item.due and job.is_open(item.stage)
            if able and (item.group is None or self._is_free_head(job, item)):
                yield item

    def _is_free_head(self, job: Job, item: Item) -> bool:
        place = (job.shape.org, job.shape.pipeline, item.stage, item.group)
        shapes = [(self.jobs[h.job].shape, h) for h in self.leases.values()]
        taken = {(shape.org, shape.pipeline, h.stage, h.group) for shape, h in shapes}
        alike = (i for i in job.items.values() if (i.stage, i.group) == (item.stage, item.group))
        return place not in taken and min(i.row for i in alike if i.status == PENDING) == item.row

    def may_claim(self, held: Sequence[Held]) -> None:
        """Raises unless these leases may be taken together."""
        able = set(self.claimable(soon=True))
        crashes = {self.jobs[h.job].items[row].crashes for h in held for row in h.rows}
        assert len(crashes) <= 1, "suspects go with their like"
        if crashes and max(crashes) >= 2:
            assert sum(len(h.rows) for h in held) == 1, "after two crashes each goes alone"
        assert len({self.jobs[h.job].shape.org for h in held}) == 1, "one claim is one org's"
        for one in held:
            job = self.jobs[one.job]
            if one.kind != "items":
                assert (one.kind, job.id, 0) in able, f"{one.kind} of {job} was claimed"
                continue
            assert one.rows, "a lease over nothing"
            assert list(one.rows) == sorted(one.rows) or one.group is None
            for place, row in enumerate(one.rows):
                item = job.items[row]
                assert item.stage == one.stage
                assert item.group == one.group
                # In a group, whoever comes after the head needs only those before it.
                fine = ("items", job.id, row) in able or (one.group is not None and place > 0)
                assert fine, f"{item} was claimed"
                assert (item.due, item.status) == (True, PENDING), f"{item} was claimed"

    def claim(self, held: Sequence[Held]) -> None:
        self.may_claim(held)
        for one in held:
            job = self.jobs[one.job]
            self.leases[one.id] = one
            for row in one.rows:
                item = job.items[row]
                item.status, item.lease = PROCESSING, one.id
            if one.kind != "items":
                self._whole(one).lease = one.id

    # What comes of it

    def settle(self, held: Held, row: int, outcome: str) -> None:
        """One item of a lease that is held."""
        job, item = self.jobs[held.job], self.jobs[held.job].items[row]
        assert item.lease == held.id
        last = item.stage == job.shape.stages - 1
        match outcome:
            case "none":
                item.waits(due=True)
            case "wait":
                item.ends(PENDING)
                item.waits(due=False)
            case "skip":
                item.ends(SKIPPED)
                item.skipped_by_stage = True
            case "retry" | "not found":
                item.attempts += 1
                retries, end = (ERROR_RETRIES, ERROR) if outcome == "retry" else (
                    NOT_FOUND_RETRIES, NOT_FOUND)  # fmt: skip
                item.ends(end)
                if item.attempts <= retries:
                    item.waits(due=False)
            case "fail":
                item.attempts += 1
                item.ends(ERROR)
            case "advance" if not last:
                item.ends(PENDING)
                item.stage, item.attempts = item.stage + 1, 0
            case _:
                item.attempts += 1
                item.ends(DONE)
                if outcome == "spawn" and job.shape.pipeline == "spawning" and item.key is None:
                    job.spawn(item)

    def crash(self, held: Held, rows: Sequence[int]) -> None:
        """Whoever worked on these rows of a lease died."""
        job = self.jobs[held.job]
        for row in rows:
            item = job.items.get(row)
            if item is None or item.lease != held.id:
                continue
            alone = item.crashes >= 2 and len(rows) == 1
            item.crashes += 1
            item.solo += alone
            if item.solo >= MOST_CRASHES:
                item.status, item.lease = ERROR, None
            else:
                item.waits(due=True)
        self.complete(job)

    def drop(self, held: Held) -> None:
        """The lease is over."""
        self.leases.pop(held.id, None)
        if held.kind != "items" and self._whole(held).lease == held.id:
            self._whole(held).lease = None

    def expire(self, held: Held) -> None:
        """The sweeper took the lease back."""
        job = self.jobs[held.job]
        self.drop(held)
        if held.kind == "items":
            self.crash(held, held.rows)
            return
        whole = self._whole(held)
        whole.crashes += 1
        whole.due = True
        if whole.crashes >= MOST_CRASHES:
            self.end(job, "failed")

    def complete(self, job: Job) -> None:
        """Called after every change: the last item ends its job, or lets its summary begin."""
        if job.ended is None and job.complete:
            if job.sums_up:
                job.paused = False
            else:
                job.ended, job.paused = "done", False

    def end(self, job: Job, how: str) -> None:
        """Cancelled or failed: leases go, open items are skipped."""
        for held in [held for held in self.leases.values() if held.job == job.id]:
            self.drop(held)
        for item in job.items.values():
            if item.status in OPEN:
                item.status, item.lease, item.due = SKIPPED, None, True
                item.skipped_by_stage = False
        job.ended, job.paused = how, False

    def reprocess(self, job: Job, *, from_start: bool) -> None:
        """What failed, and of a job that ended early all that its end left undone."""
        early = job.ended in {"failed", "cancelled"}
        meant = [
            item for item in job.items.values()
            if item.status in {ERROR, NOT_FOUND}
            or (early and item.status == SKIPPED and not item.skipped_by_stage)
        ]  # fmt: skip
        if not meant and not early:
            return
        for item in meant:
            item.waits(due=True)
            item.attempts = item.crashes = item.solo = 0
            item.generation += 1
            if from_start and item.key is None:
                item.stage = 0
        if job.ended is not None:
            job.failures = 0
            job.ingest, job.summary = Whole(), Whole()
        elif job.summary.lease is not None:
            self.drop(self.leases[job.summary.lease])
        job.ended = None
        job.generation += 1
        self.complete(job)

    def _whole(self, held: Held) -> Whole:
        job = self.jobs[held.job]
        return job.ingest if held.kind == "ingest" else job.summary
