"""The pipeline `export`: one file to a watched place or a URL. Schedules submit it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, ClassVar

from penstock.model.errors import ItemError, PermanentError
from penstock.model.exports.order import PIPELINE, ExportConfig, ExportSender
from penstock.model.outcomes import Done, Fail, Outcome
from penstock.model.pipeline import (
    Config,
    Item,
    Job,
    Pipeline,
    Row,
    RowBatch,
    Stage,
    each,
)
from penstock.model.policy import RetryPolicy, RetryRule
from penstock.model.ports import Context

# Three attempts in all: after 5 s and 25 s.
_TRIES = RetryRule(2, base_ms=5000, factor=5.0, cap_ms=60_000)
_POLICY = RetryPolicy(
    dict.fromkeys(
        ("API_RATE_LIMIT", "SERVICE_UNAVAILABLE", "NETWORK_ERROR", "FETCH_TIMEOUT", "API_TIMEOUT",
         "PLACE_UNREACHABLE", "INTERNAL_ERROR"),
        _TRIES,
    )
)  # fmt: skip
_ROW = Row({"export": 1}, "export")


class Export(Pipeline):
    name: ClassVar[str] = PIPELINE
    Config: ClassVar[type[Config]] = ExportConfig
    internal: ClassVar[bool] = True
    columns: ClassVar[tuple[str, ...] | None] = ("name", "size", "to")

    def stages(self, config: Any) -> tuple[Stage, ...]:
        return (Stage("send", run=each(_send), policy=_POLICY),)

    def inline(self, config: Any) -> Sequence[Row]:
        return [_ROW]

    async def rows(
        self, job: Job, ctx: Context, cursor: Mapping[str, Any] | None
    ) -> AsyncGenerator[RowBatch, None]:
        if cursor is None:
            yield RowBatch([_ROW], {"next": 1}, 1, 1)


async def _send(item: Item, ctx: Context) -> Outcome:
    try:
        sent = await ctx.port(ExportSender).send(item.job.org_id, item.job.id, item.job.config)
    except PermanentError as error:
        return Fail(ItemError.of(error))
    return Done({"name": sent.name, "size": sent.size, "to": sent.to})
