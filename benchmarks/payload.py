"""Rows of a fixed size, made by us: the same for ours and for the baseline."""

from __future__ import annotations

import random
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, ClassVar

from pydantic import Field

from benchmarks.peers.marks import mark
from penstock.model.outcomes import Done, Outcome
from penstock.model.pipeline import (
    MAX_INLINE_ROWS,
    Config,
    Item,
    Job,
    Pipeline,
    Row,
    RowBatch,
    Stage,
)
from penstock.model.ports import Context
from penstock.pipelines.registry import PIPELINES, TEST_PIPELINES

SEED = 20240607
_WORDS = (
    "oak", "walnut", "steel", "brushed", "matte", "chair", "table", "lamp", "outdoor", "foldable",
    "kitchen", "garden", "compact", "heavy", "stackable", "classic", "linen", "ceramic", "glass",
)  # fmt: skip


def text_of(number: int, length: int) -> str:
    """Words of ``length`` characters, always the same for the same number."""
    chosen = random.Random(SEED + number % 997)
    text = " ".join(chosen.choice(_WORDS) for _ in range(length // 4))
    return text[:length]


_DESCRIPTIONS = [text_of(number, 270) for number in range(997)]
_NOTES = [text_of(number + 500, 180) for number in range(997)]


def make_input(number: int) -> dict[str, Any]:
    """About 400 bytes as JSON."""
    return {
        "sku": f"SKU-{number:08}",
        "title": _NOTES[number % 997][:40],
        "price": f"{number % 90000 / 100:.2f}",
        "quantity": str(number % 500),
        "description": _DESCRIPTIONS[number % 997],
    }


def make_result(row: Mapping[str, Any]) -> dict[str, Any]:
    """About 600 bytes as JSON."""
    return {**row, "id": row["sku"].lower(), "note": _NOTES[int(row["sku"][4:]) % 997]}


class PayloadConfig(Config):
    items: int = Field(1, ge=0)
    marks: int | None = Field(None, ge=0, description="Mark the begin of the handler as this.")


class Payload(Pipeline):
    """A stage that costs almost nothing: what is measured is the engine."""

    name: ClassVar[str] = "payload"
    Config: ClassVar[type[Config]] = PayloadConfig

    def stages(self, config: PayloadConfig) -> tuple[Stage, ...]:
        return (Stage("work", run=_work),)

    def inline(self, config: PayloadConfig) -> Sequence[Row] | None:
        if config.items > MAX_INLINE_ROWS:
            return None
        return [Row(make_input(number)) for number in range(config.items)]

    async def rows(
        self, job: Job, ctx: Context, cursor: Mapping[str, Any] | None
    ) -> AsyncGenerator[RowBatch, None]:
        config: PayloadConfig = job.config
        start = cursor["next"] if cursor else 0
        while start < config.items:
            stop = min(start + ctx.batch_rows, config.items)
            rows = [Row(make_input(number)) for number in range(start, stop)]
            yield RowBatch(rows, {"next": stop}, stop, config.items)
            start = stop


async def _work(batch: Sequence[Item], ctx: Context) -> Sequence[Outcome | None]:
    for item in batch:
        config: PayloadConfig = item.job.config
        if config.marks is not None:
            mark(config.marks)
    return [Done(make_result(item.input)) for item in batch]


BENCH_PIPELINES: Mapping[str, Pipeline] = {
    pipeline.name: pipeline for pipeline in (*PIPELINES, *TEST_PIPELINES, Payload())
}
