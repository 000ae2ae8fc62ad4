"""A pipeline whose work, input and summary a test writes itself."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from typing import Any, ClassVar

from penstock.model.outcomes import Advance, Done, Outcome
from penstock.model.pipeline import (
    Config,
    Item,
    Job,
    Pipeline,
    Row,
    RowBatch,
    Stage,
    Traits,
    each,
)
from penstock.model.policy import NOT_FOUND, RetryPolicy, RetryRule
from penstock.model.ports import Context

Work = Callable[[Item, int, Context], Outcome | Awaitable[Outcome]]
SOON = RetryRule(3, base_ms=1)
# As patient as the real policy, but quick.
QUICK = RetryPolicy(
    {"API_TIMEOUT": SOON, "INTERNAL_ERROR": SOON, "API_RATE_LIMIT": RetryRule(5, base_ms=1)},
    not_found=RetryRule(NOT_FOUND.retries, base_ms=1),
)


class ScriptedConfig(Config):
    rows: int = 1
    stages: int = 1
    barrier: int | None = None
    inline: bool = True
    batch: int = 0
    groups: int = 0
    pace_ms: int = 0
    grouped: bool = True
    payload: int = 0
    tag: str = ""


def done(item: Item, stage: int, ctx: Context) -> Outcome:
    """Through all stages, with the input as the result."""
    if stage + 1 < item.job.config.stages:
        return Advance({"stage": stage})
    return Done({"row": item.row_no})


def row_of(number: int, config: ScriptedConfig) -> Row:
    group = f"g{number % config.groups}" if config.groups else None
    return Row({"row": number, "pad": "x" * config.payload}, None, group)


class Scripted(Pipeline):
    name: ClassVar[str] = "scripted"
    Config: ClassVar[type[Config]] = ScriptedConfig
    kind: ClassVar[Traits] = Traits()

    def __init__(self) -> None:
        self.work: Work = done
        self.policy = QUICK
        # Each item a stage began, in order: row number and stage.
        self.began: list[tuple[int, int]] = []
        self.before_rows: Callable[[int], None] = lambda start: None
        self.after_rows: Callable[[], Mapping[str, Any]] = dict
        self.summary: Callable[[Job], Mapping[str, Any]] = lambda job: {}

    def traits(self, config: ScriptedConfig) -> Traits:
        return self.kind

    def stages(self, config: ScriptedConfig) -> tuple[Stage, ...]:
        return tuple(
            Stage(
                f"s{n}",
                run=each(self._at(n)),
                barrier=n == config.barrier,
                policy=self.policy,
                pace_ms=config.pace_ms,
                grouped=config.grouped,
            )
            for n in range(config.stages)
        )

    def _at(self, stage: int) -> Callable[[Item, Context], Awaitable[Outcome]]:
        async def work(item: Item, ctx: Context) -> Outcome:
            self.began.append((item.row_no, stage))
            outcome = self.work(item, stage, ctx)
            return await outcome if inspect.isawaitable(outcome) else outcome

        return work

    def inline(self, config: ScriptedConfig) -> Sequence[Row] | None:
        return [row_of(n, config) for n in range(config.rows)] if config.inline else None

    async def rows(
        self, job: Job, ctx: Context, cursor: Mapping[str, Any] | None
    ) -> AsyncGenerator[RowBatch, None]:
        config: ScriptedConfig = job.config
        start = cursor["next"] if cursor else 0
        self.before_rows(start)
        while start < config.rows:
            stop = min(start + (config.batch or ctx.batch_rows), config.rows)
            rows = [row_of(n, config) for n in range(start, stop)]
            yield RowBatch(rows, {"next": stop}, stop, config.rows)
            start = stop
            self.before_rows(start)

    async def after_ingest(
        self, job: Job, cursor: Mapping[str, Any], ctx: Context
    ) -> Mapping[str, Any]:
        return self.after_rows()

    async def summarize(self, job: Job, ctx: Context) -> Mapping[str, Any]:
        return self.summary(job)


class Spawning(Scripted):
    """Its stages may add children."""

    name: ClassVar[str] = "spawning"
    kind: ClassVar[Traits] = Traits(spawns=True)


class Whole(Scripted):
    """Learns from all rows and makes a summary."""

    name: ClassVar[str] = "whole"
    kind: ClassVar[Traits] = Traits(needs_full_input=True, summarizes=True)


class Standing(Scripted):
    """Never ends."""

    name: ClassVar[str] = "standing"
    kind: ClassVar[Traits] = Traits(standing=True)


def scripted_pipelines() -> dict[str, Scripted]:
    return {kind.name: kind() for kind in (Scripted, Spawning, Whole, Standing)}
