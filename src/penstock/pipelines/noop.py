"""A pipeline that does nothing, in many configurations: for tests and benchmarks."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Literal
from uuid import UUID

from pydantic import Field, model_validator

from penstock.model.effects import CountInGroup, KeepBlob
from penstock.model.errors import ItemError, RateLimited
from penstock.model.outcomes import Advance, Child, Done, Fail, NotFound, Outcome, Retry, Skip
from penstock.model.pipeline import (
    MAX_INLINE_ROWS,
    Config,
    Item,
    Job,
    Pipeline,
    Row,
    RowBatch,
    Stage,
    StageFunction,
    Traits,
    each,
)
from penstock.model.ports import Context, JobRows

ALLOW_CRASH = "PENSTOCK_ALLOW_CRASH"
MAX_ITEMS = 10_000_000
MAX_PAYLOAD_BYTES = 256 * 1024 * 1024


class NoopConfig(Config):
    items: int = Field(100, ge=0, le=5_000_000)
    inline: bool = Field(True, description="Few items are written by submit itself.")
    work_ms: float = Field(0, ge=0, le=3_600_000, description="Sleep per item and stage.")
    cpu_ms: float = Field(
        0, ge=0, le=600_000, description="Work in a child process instead, without sleep."
    )
    stages: int = Field(1, ge=1, le=8)
    barrier: bool = Field(False, description="The last stage waits for all items.")
    concurrency: int = Field(1, ge=1, le=1000)
    groups: int = Field(0, ge=0, le=5_000_000)
    pace_ms: int = Field(0, ge=0, le=3_600_000, description="Least time between items of a group.")
    counts_groups: bool = Field(False, description="Count done items per group, in the summary.")
    keeps_blobs: bool = Field(False, description="Each item stores a blob and keeps it.")
    children_per: int = Field(0, ge=0, le=1000, description="Children of each first item.")
    needs_full_input: bool = Field(
        False, alias="learns", description="The first stage waits for the whole ingest."
    )
    summarizes: bool = Field(False, description="Make a summary at the end.")
    standing: bool = Field(False, description="Never end.")
    payload_bytes: int = Field(0, ge=0, le=1024 * 1024)
    # Failures and crashes happen in the last stage, after the others.
    fail_every: int = Field(0, ge=0, description="Every nth row fails; 0: none.")
    fail_how: Literal["fail", "retry", "notFound", "skip", "wait", "raise"] = "fail"
    fail_code: str = Field("VALIDATION_ERROR", max_length=64)
    fail_times: int = Field(0, ge=0, description="Succeed after so many failures; 0: never.")
    provider: str = Field("", max_length=50, description="Call this provider, which is not there.")
    domain: str = Field("", max_length=200)
    company: str | None = Field(
        None, max_length=200, description="With one, the provider's shared limits count."
    )
    throttle_every: int = Field(0, ge=0, description="It refuses every nth row at first; 0: none.")
    throttle_ms: int = Field(1000, ge=0, le=60_000, description="… for so long, as Retry-After.")
    crash_row: int | None = Field(None, description="This row kills the process working on it.")

    @model_validator(mode="after")
    def _is_bounded(self) -> NoopConfig:
        if self.items * (1 + self.children_per) > MAX_ITEMS:
            raise ValueError(f"at most {MAX_ITEMS:,} items, with their children")
        if self.items * (1 + self.children_per) * self.payload_bytes > MAX_PAYLOAD_BYTES:
            raise ValueError(f"at most {MAX_PAYLOAD_BYTES:,} bytes of payload in all")
        return self

    @model_validator(mode="after")
    def _crash_only_where_allowed(self) -> NoopConfig:
        if self.crash_row is not None and os.environ.get(ALLOW_CRASH) != "1":
            raise ValueError(f"crashRow needs {ALLOW_CRASH}=1 in the environment")
        return self


class Noop(Pipeline):
    name: ClassVar[str] = "noop"
    Config: ClassVar[type[Config]] = NoopConfig
    columns: ClassVar[tuple[str, ...] | None] = ("row", "payload")

    def stages(self, config: NoopConfig) -> tuple[Stage, ...]:
        last = config.stages - 1
        return tuple(
            self._stage(f"stage{number + 1}", config, is_last=number == last)
            for number in range(config.stages)
        )

    def _stage(self, name: str, config: NoopConfig, is_last: bool) -> Stage:
        barrier = config.barrier and is_last
        if config.cpu_ms:
            return Stage(name, cpu=partial(burn, is_last=is_last), barrier=barrier)
        return Stage(name, run=_run(config, is_last), barrier=barrier, pace_ms=config.pace_ms)

    def traits(self, config: NoopConfig) -> Traits:
        return Traits(
            spawns=config.children_per > 0,
            needs_full_input=config.needs_full_input,
            summarizes=config.summarizes,
            standing=config.standing,
        )

    def inline(self, config: NoopConfig) -> Sequence[Row] | None:
        if config.inline and config.items <= MAX_INLINE_ROWS:
            return _rows(config, 0, config.items)
        return None

    async def rows(
        self, job: Job, ctx: Context, cursor: Mapping[str, Any] | None
    ) -> AsyncGenerator[RowBatch, None]:
        config: NoopConfig = job.config
        start = cursor["next"] if cursor else 0
        while start < config.items:
            stop = min(start + ctx.batch_rows, config.items)
            yield RowBatch(_rows(config, start, stop), {"next": stop}, stop, config.items)
            start = stop

    async def after_ingest(
        self, job: Job, cursor: Mapping[str, Any], ctx: Context
    ) -> Mapping[str, Any]:
        return {"rows": cursor.get("next", 0)}

    async def summarize(self, job: Job, ctx: Context) -> Mapping[str, Any]:
        summary = {"counters": dict(job.counters), "learnt": dict(job.context)}
        if job.config.counts_groups:
            summary["groups"] = dict(await ctx.port(JobRows).group_counters(job.id, 1000))
        return summary


def burn(batch: Sequence[Item], is_last: bool) -> Sequence[Outcome]:
    """Use CPU time for each item. Runs in a child process."""
    outcomes = []
    for item in batch:
        config: NoopConfig = item.job.config
        end = time.process_time() + config.cpu_ms / 1000
        while time.process_time() < end:
            pass
        try:
            outcomes.append(_outcome(item, is_last))
        except RuntimeError as error:
            outcomes.append(Retry(ItemError.of(error)))
    return outcomes


def _run(config: NoopConfig, is_last: bool) -> StageFunction:
    eventful = (
        config.fail_every
        or config.crash_row is not None
        or config.children_per
        or config.keeps_blobs
        or config.counts_groups
    )
    if config.work_ms or config.provider or (is_last and eventful):
        return each(partial(_work, is_last=is_last), config.concurrency)
    return _pass_all if is_last else _advance_all


async def _pass_all(batch: Sequence[Item], ctx: Context) -> Sequence[Outcome | None]:
    # No coroutine per item, because benchmarks measure the engine with this.
    return [Done(item.input) for item in batch]


async def _advance_all(batch: Sequence[Item], ctx: Context) -> Sequence[Outcome | None]:
    return [Advance()] * len(batch)


async def _work(item: Item, ctx: Context, is_last: bool) -> Outcome:
    config: NoopConfig = item.job.config
    if config.provider:
        async with ctx.calls(config.provider, config.domain, company=config.company):
            await _call(item, config)
    elif config.work_ms:
        await asyncio.sleep(config.work_ms / 1000)
    outcome = _outcome(item, is_last)
    if config.counts_groups and item.group and isinstance(outcome, Done):
        counted = CountInGroup(item.group, {"done": 1})
        outcome = replace(outcome, effects=[*outcome.effects, counted])
    if config.keeps_blobs and isinstance(outcome, Done):
        blob = await ctx.blobs.put(_bytes(f"{item.job.id} {item.row_no}"), 1000)
        kept = KeepBlob(blob.key, "noop", str(item.job.id))
        return replace(outcome, effects=[*outcome.effects, kept])
    return outcome


async def _bytes(text: str) -> AsyncGenerator[bytes, None]:
    yield text.encode()


async def _call(item: Item, config: NoopConfig) -> None:
    """Simulate a provider that is slow and sometimes fails."""
    nth = config.throttle_every
    if nth and item.row_no % nth == 0 and item.attempts == 0:
        raise RateLimited(
            "API_RATE_LIMIT", "429 Too Many Requests", retry_after_ms=config.throttle_ms
        )
    if config.work_ms:
        await asyncio.sleep(config.work_ms / 1000)


def _outcome(item: Item, is_last: bool) -> Outcome:
    config: NoopConfig = item.job.config
    if not is_last:
        return Advance()
    if item.row_no == config.crash_row:
        os.kill(os.getpid(), signal.SIGKILL)
    if _is_to_fail(item, config):
        return _failure(config)
    # Children carry a key and have no children of their own.
    count = config.children_per if item.key is None else 0
    spawn = [Child(f"{item.row_no}.{number}", item.input) for number in range(count)]
    return Done(item.input, spawn=spawn)


# Waiting burns no attempt, so the engine does not count it: this process does.
_waits: Counter[tuple[UUID, int]] = Counter()


def _is_to_fail(item: Item, config: NoopConfig) -> bool:
    if not config.fail_every or item.row_no % config.fail_every:
        return False
    if not config.fail_times:
        return True
    if config.fail_how != "wait":
        return item.attempts < config.fail_times
    place = (item.job.id, item.row_no)
    _waits[place] += 1
    if _waits[place] <= config.fail_times:
        return True
    del _waits[place]
    return False


def _failure(config: NoopConfig) -> Outcome:
    error = ItemError(config.fail_code, "This row fails as configured")
    match config.fail_how:
        case "fail":
            return Fail(error)
        case "retry":
            return Retry(error)
        case "notFound":
            return NotFound(error)
        case "skip":
            return Skip("This row is skipped as configured")
        case "wait":
            return Retry(error, after_ms=10, counted=False)
        case "raise":
            raise RuntimeError("This row was told to raise")


def _rows(config: NoopConfig, start: int, stop: int) -> list[Row]:
    payload = {"payload": "x" * config.payload_bytes} if config.payload_bytes else {}
    groups = config.groups
    return [
        Row({"row": number, **payload}, None, f"group {number % groups}" if groups else None)
        for number in range(start, stop)
    ]
