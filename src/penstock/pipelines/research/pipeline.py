"""The pipeline `research`, and the job types `research-process` and `research-retry`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, ClassVar

from penstock.catalog.products.grid import AMOUNTS
from penstock.model.pipeline import Config, Job, Pipeline, Row, RowBatch, Stage, Traits
from penstock.model.ports import Context
from penstock.pipelines.research.calls import call, collect
from penstock.pipelines.research.config import (
    ProcessConfig,
    ResearchConfig,
    RetryConfig,
    priority_number,
)
from penstock.pipelines.research.request import validate
from penstock.pipelines.research.results import COLUMNS, FIRST_KEY, normalise, notify, store
from penstock.pipelines.research.steps import KIND, POLICY, SHARES
from penstock.pipelines.research.summary import summary_of

_STAGES = {
    "validate": validate, "call": call, "collect": collect, "normalise": normalise, "store": store,
    "notify": notify,
}  # fmt: skip
_ROW = Row({KIND: "request"}, "request")


class Research(Pipeline):
    name: ClassVar[str] = "research"
    amount_columns = AMOUNTS
    Config: ClassVar[type[Config]] = ResearchConfig
    columns: ClassVar[tuple[str, ...] | None] = COLUMNS
    meter: ClassVar[str | None] = "research"
    first_result_key: ClassVar[str | None] = FIRST_KEY
    # The longest timeout of a source, and some seconds to store its answer.
    item_timeouts_ms: ClassVar[Mapping[str, int]] = {"call": 310_000}
    # Requests of several jobs go out at the same time, and wait for their answers side by side.
    items_at_once: ClassVar[Mapping[str, int]] = {"call": 16}
    waiting_stages: ClassVar[frozenset[str]] = frozenset(("call",))
    settles_each: ClassVar[frozenset[str]] = frozenset(("call",))
    phases: ClassVar[Mapping[str, str]] = {
        "validate": "validating",
        "call": "calling_sources",
        "collect": "collecting",
        "normalise": "normalising",
        "store": "storing",
        "notify": "notifying",
    }

    def stages(self, config: Any) -> tuple[Stage, ...]:
        return tuple(
            Stage(name, run=run, policy=POLICY, share=SHARES[name], barrier=name == "store")
            for name, run in _STAGES.items()
        )

    def traits(self, config: Any) -> Traits:
        return Traits(spawns=True, summarizes=True)

    def inline(self, config: Any) -> Sequence[Row]:
        return [_ROW]

    async def rows(
        self, job: Job, ctx: Context, cursor: Mapping[str, Any] | None
    ) -> AsyncGenerator[RowBatch, None]:
        if cursor is None:
            yield RowBatch([_ROW], {"next": 1}, 1, 1)

    async def summarize(self, job: Job, ctx: Context) -> Mapping[str, Any]:
        return await summary_of(job, ctx)


class ResearchProcess(Research):
    """A research request in the form of a queue message."""

    name: ClassVar[str] = "research-process"
    Config: ClassVar[type[Config]] = ProcessConfig

    def priority_of(self, config: ProcessConfig) -> int | None:
        return priority_number(config.priority)


class ResearchRetry(Research):
    """Ask the sources of a request again that failed before."""

    name: ClassVar[str] = "research-retry"
    Config: ClassVar[type[Config]] = RetryConfig
