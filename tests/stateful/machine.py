"""Anything anyone may do to jobs, in any order: engine and model must agree after each step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.checker.case import Submitted
from tests.stateful.driver import Driver, held_by, outcome_of
from tests.stateful.model import INGEST_RETRIES, Held, Job, Model, Shape

from penstock.engine.claim import Claim
from penstock.engine.run import ClaimOutcomes
from penstock.engine.worker.loop import Worker

_WORDS = ("done", "done", "advance", "retry", "wait", "not found", "skip", "fail", "none", "spawn",
          "child crash")  # fmt: skip
_TIMES = ("passes", "passes", "sweep", "beat", "lease runs out", "holder dies", "holder dies")
_PIPELINES = ("scripted", "scripted", "spawning", "whole")
_VERBS = ("pause", "resume", "resume", "cancel", "priority", "reprocess")
_ITEMS = """
    SELECT job_id, row_no, stage, status, attempts, crashes, generation, slice_id FROM job_items
"""
_JOBS = """
    SELECT id, CASE WHEN finished_at IS NOT NULL THEN state END AS ended, paused, generation, total,
           pending, processing, done, error, not_found, skipped FROM jobs
"""
_ANY = st.integers(0, 50)
_SOME_WORDS = st.lists(st.sampled_from(_WORDS), min_size=1, max_size=5)
_SHAPES = st.builds(
    Shape, org=st.integers(0, 1), pipeline=st.sampled_from(_PIPELINES), rows=st.integers(1, 7),
    stages=st.integers(1, 3), barrier=st.sampled_from([None, 1, 2]), inline=st.booleans(),
    batch=st.integers(1, 3), groups=st.sampled_from([0, 0, 0, 1, 2]),
)  # fmt: skip
_WORKERS = 3
_KEPT_CLAIMS = 10
_MOST_TURNS = 500


@dataclass
class Taken:
    """A claim in some worker's hands, also long after it was lost or settled."""

    claim: Claim
    held: Sequence[Held]
    # Places in the claim's items that are not settled yet.
    left: list[int] = field(default_factory=list)


class Machine(RuleBasedStateMachine):
    driver: Driver

    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.sent: dict[UUID, Submitted] = {}
        self.taken: list[Taken] = []
        self.expired: set[UUID] = set()
        self.workers: list[Worker] = [self.driver.worker() for _ in range(_WORKERS)]

    def teardown(self) -> None:
        try:
            if self.model.jobs:
                self._drain()
        finally:
            self.driver.run(self.driver.clear())

    # Submitting

    @initialize(shapes=st.lists(_SHAPES, min_size=1, max_size=3))
    def begin(self, shapes: Sequence[Shape]) -> None:
        for shape in shapes:
            self.submit(shape)

    @rule(shape=_SHAPES)
    def submit(self, shape: Shape) -> None:
        job_id = self.driver.run(self.driver.submit(shape.org, shape.pipeline, shape.config))
        job = Job(job_id, shape)
        if shape.inline and not job.learns:
            job.store(shape.rows)
        else:
            job.ingest_done = False
        self.model.jobs[job_id] = job
        rows = [{"row": n, "pad": ""} for n in range(shape.rows)]
        self.sent[job_id] = Submitted(shape.rows, rows)

    # Working

    @rule(worker=st.integers(0, _WORKERS - 1))
    def claim(self, worker: int) -> None:
        """And keep it, for better or worse."""
        self._claim_something(worker)

    def _claim_something(self, worker: int) -> Taken | None:
        taken = self._claim(self.workers[worker])
        if taken is None and any(self.model.claimable()):
            # A group may have been another's a moment ago, or the worker has all it may have.
            self.pass_time()
            taken = self._claim(self.driver.worker())
            assert taken is not None, f"nothing was claimed of {list(self.model.claimable())}"
        return taken

    @rule(worker=st.integers(0, _WORKERS - 1), words=_SOME_WORDS, pieces=st.booleans())
    def claim_and_work(self, worker: int, words: Sequence[str], pieces: bool) -> None:
        """The usual way."""
        taken = self._claim_something(worker)
        if taken is not None:
            self._work(taken, words, pieces)

    @rule(pick=_ANY, words=_SOME_WORDS, pieces=st.booleans())
    def work(self, pick: int, words: Sequence[str], pieces: bool) -> None:
        """Something claimed some time ago, perhaps lost since, perhaps settled already."""
        taken = self._some_claim(pick)
        if taken is not None:
            self._work(taken, words, pieces)

    def _work(self, taken: Taken, words: Sequence[str], pieces: bool) -> None:
        match taken.claim.work.kind:
            case "items":
                # Claims of several leases are settled as a whole.
                able = len(taken.held) == 1 and len(taken.left) > 1
                self._settle(taken, words, pieces and able)
            case "ingest":
                self._ingest(taken, len(words) - 1, fails=words[0] == "fail")
            case _:
                self._finish(taken)

    def _claim(self, worker: Worker) -> Taken | None:
        claimed = self.driver.run(worker._claim())
        if claimed is None:
            return None
        held = held_by(claimed)
        self.model.claim(held)
        taken = Taken(claimed, held, list(range(len(claimed.items))))
        self.taken = [*self.taken[-_KEPT_CLAIMS:], taken]
        return taken

    def _some_claim(self, pick: int) -> Taken | None:
        """No precondition asks for one: what the engine picks is not the machine's to repeat."""
        return self.taken[pick % len(self.taken)] if self.taken else None

    def _settle(self, taken: Taken, words: Sequence[str], some: bool) -> None:
        places = taken.left[: len(taken.left) // 2] if some else list(taken.left)
        chosen = {place: words[place % len(words)] for place in places}
        worked = ClaimOutcomes([], [], 1.0)
        for place in places:
            worked.outcomes.append(self._outcome(taken.claim, place, chosen[place]))
            if chosen[place] == "child crash":
                worked.crashed.append([len(worked.outcomes) - 1])
        alive = [held for held in taken.held if held.id in self.model.leases]
        done = self.driver.run(self.driver.settle(taken.claim, places, worked, last=not some))
        assert done == bool(alive), "written without a lease, or not written with one"
        self._settled(taken, chosen, alive)
        if done and some:
            taken.left = [place for place in taken.left if place not in chosen]
        elif done:
            for held in alive:
                self.model.drop(held)
        for held in alive:
            self.model.complete(self.model.jobs[held.job])

    def _outcome(self, claim: Claim, place: int, word: str) -> Any:
        row = claim.items[place]
        job = self.model.jobs[row.job_id]
        return outcome_of(
            "none" if word == "child crash" else word, row.row_no,
            last=claim.work.position == job.shape.stages - 1,
            spawns=job.shape.pipeline == "spawning",
            is_child=job.items[row.row_no].key is not None,
        )  # fmt: skip

    def _settled(self, taken: Taken, chosen: dict[int, str], alive: Sequence[Held]) -> None:
        by_id = {held.id: held for held in alive}
        # Crashes are written after all else, as the engine does.
        for late in (False, True):
            for place, word in chosen.items():
                row = taken.claim.items[place]
                held = by_id.get(row.slice_id)
                if held is None or (word == "child crash") != late:
                    continue
                if late:
                    self.model.crash(held, [row.row_no])
                else:
                    self.model.settle(held, row.row_no, word)

    def _ingest(self, taken: Taken, batches: int, fails: bool) -> None:
        (held,) = taken.held
        job = self.model.jobs[held.job]
        batches = batches if fails else max(1, batches)
        self.driver.run(self.driver.ingest(taken.claim, batches, fails))
        if held.id not in self.model.leases:
            return
        self.model.drop(held)
        needed = math.ceil((job.shape.rows - job.stored) / job.shape.batch)
        if batches and needed:
            job.ingest.crashes = 0
        job.store(min(job.shape.rows, job.stored + batches * job.shape.batch))
        if batches > needed or (not needed and not fails):
            job.ingest_done, job.failures = True, 0
        elif fails:
            job.failures += 1
            job.ingest.due = False
            if job.failures > INGEST_RETRIES:
                self.model.end(job, "failed")
        self.model.complete(job)

    def _finish(self, taken: Taken) -> None:
        (held,) = taken.held
        self.driver.run(self.driver.finish(taken.claim))
        if held.id in self.model.leases:
            self.model.drop(held)
            job = self.model.jobs[held.job]
            job.ended, job.paused = "done", False

    # Time and death

    @rule(what=st.sampled_from(_TIMES), pick=_ANY)
    def time(self, what: str, pick: int) -> None:
        taken = self._some_claim(pick)
        match what:
            case "passes":
                self.pass_time()
            case "sweep":
                self.sweep()
            case "beat" if taken is not None:
                self._beat(taken)
            case "lease runs out" if taken is not None:
                # Until somebody sweeps, its holder may still write.
                self._run_out(taken)
            case "holder dies" if taken is not None:
                # Or only sleeps: what it holds is taken from it, and it may come back with results.
                self._run_out(taken)
                self.sweep()

    def _run_out(self, taken: Taken) -> None:
        ids = [held.id for held in taken.held if held.id in self.model.leases]
        self.driver.run(self.driver.expire(ids))
        self.expired.update(ids)

    def _beat(self, taken: Taken) -> None:
        ids = [held.id for held in taken.held]
        kept = self.driver.run(self.driver.beat(ids))
        assert kept == {one for one in ids if one in self.model.leases}
        self.expired -= kept

    def sweep(self) -> None:
        self.driver.run(self.driver.sweep())
        for one in self.expired:
            if one in self.model.leases:
                self.model.expire(self.model.leases[one])
        self.expired.clear()

    def pass_time(self) -> None:
        self.driver.run(self.driver.pass_time())
        for job in self.model.jobs.values():
            job.ingest.due = job.summary.due = True
            for item in job.items.values():
                item.due = True

    # Control

    @rule(pick=_ANY, from_start=st.booleans(), verb=st.sampled_from(_VERBS))
    def control(self, pick: int, verb: str, from_start: bool) -> None:
        ids = list(self.model.jobs)
        if not ids:
            return
        job = self.model.jobs[ids[pick % len(ids)]]
        self.driver.run(self.driver.control(verb, job.id, job.shape.org, from_start))
        match verb:
            case "pause" | "resume" if job.ended is None:
                job.paused = verb == "pause"
            case "cancel" if job.ended is None:
                self.model.end(job, "cancelled")
            case "reprocess":
                self.model.reprocess(job, from_start=from_start)

    # What must be true at all times

    @invariant()
    def items_are_as_modelled(self) -> None:
        found: dict[UUID, list[tuple[Any, ...]]] = {job_id: [] for job_id in self.model.jobs}
        for row in self.driver.run(self.driver.rows(_ITEMS)):
            found[row["job_id"]].append(tuple(row.values())[1:])
        for job in self.model.jobs.values():
            assert sorted(found[job.id]) == sorted(i.shown for i in job.items.values()), job

    @invariant()
    def jobs_are_as_modelled(self) -> None:
        for row in self.driver.run(self.driver.rows(_JOBS)):
            job = self.model.jobs[row["id"]]
            assert (row["ended"], row["generation"]) == (job.ended, job.generation), job
            assert row["paused"] == job.paused, job
            counted = {name.upper(): row[name] for name in (
                "pending", "processing", "done", "error", "not_found", "skipped")}  # fmt: skip
            assert {k: v for k, v in counted.items() if v} == dict(job.counters), job
            assert row["total"] == len(job.items)

    @invariant()
    def leases_are_as_modelled(self) -> None:
        found = {row["id"] for row in self.driver.run(self.driver.rows("SELECT id FROM slices"))}
        assert found == set(self.model.leases)

    # The end

    def _drain(self) -> None:
        """Whatever happened, all comes to its end, and the history is clean."""
        for job in self.model.jobs.values():
            self.driver.run(self.driver.control("resume", job.id, job.shape.org, False))
            job.paused = job.paused and job.ended is not None
        ids = list(self.model.leases)
        self.driver.run(self.driver.expire(ids))
        self.expired.update(ids)
        self.sweep()
        for _ in range(_MOST_TURNS):
            self.pass_time()
            if not any(self.model.claimable()):
                break
            taken = self._claim(self.driver.worker())
            assert taken is not None, f"nothing was claimed of {list(self.model.claimable())}"
            match taken.claim.work.kind:
                case "items":
                    self._settle(taken, ["done"], some=False)
                case "ingest":
                    self._ingest(taken, 100, fails=False)
                case _:
                    self._finish(taken)
        self.items_are_as_modelled()
        self.jobs_are_as_modelled()
        assert all(job.ended for job in self.model.jobs.values()), "not all came to an end"
        found = self.driver.run(self.driver.violations(self.sent))
        assert not found, "\n".join(map(str, found))
