"""The job type `webhook-dispatch`: one message to one URL, signed with the org's secret."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import urlsplit
from uuid import UUID, uuid5

import orjson
from pydantic import Field

from penstock import __version__
from penstock.model.errors import ItemError, PermanentError
from penstock.model.network.fetching import FetchLimits, FetchPurpose, FetchRequest
from penstock.model.network.webhooks import REJECTED, message_id, signature
from penstock.model.outcomes import Done, Fail, Outcome, Retry
from penstock.model.pipeline import (
    Config,
    Item,
    Job,
    Pipeline,
    Row,
    RowBatch,
    Stage,
    each,
    retry_of,
)
from penstock.model.policy import RetryPolicy, RetryRule
from penstock.model.ports import Context, Receivers

# Five attempts in all: after 5 s, 25 s, 2 min and 10 min.
_TRIES = RetryRule(4, base_ms=5000, factor=5.0, cap_ms=15 * 60_000)
_POLICY = RetryPolicy(
    dict.fromkeys(
        ("API_RATE_LIMIT", "SERVICE_UNAVAILABLE", "NETWORK_ERROR", "FETCH_TIMEOUT", "API_TIMEOUT",
         REJECTED, "INTERNAL_ERROR"),
        _TRIES,
    )
)  # fmt: skip
_RESPONSE_BYTES = 1000
_NAMESPACE = UUID("6f1a4c52-1b7c-4f0b-9e21-3a2b8f0c7d11")


class DispatchConfig(Config):
    webhook_id: str = Field(min_length=1, max_length=100, description="The same on every try.")
    url: str = Field(min_length=8, max_length=4096)
    event: str = Field(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9_.-]+$")
    data: dict[str, Any] = Field(default_factory=dict)
    signature: str | None = Field(
        None, max_length=500, description="Of the sender, passed on as `x-signature`."
    )


class WebhookDispatch(Pipeline):
    name: ClassVar[str] = "webhook-dispatch"
    Config: ClassVar[type[Config]] = DispatchConfig
    columns: ClassVar[tuple[str, ...] | None] = ("webhookId", "event", "host", "status", "ms")

    def stages(self, config: Any) -> tuple[Stage, ...]:
        return (Stage("deliver", run=each(_deliver), policy=_POLICY),)

    def inline(self, config: DispatchConfig) -> Sequence[Row]:
        return [_row(config)]

    async def rows(
        self, job: Job, ctx: Context, cursor: Mapping[str, Any] | None
    ) -> AsyncGenerator[RowBatch, None]:
        if cursor is None:
            yield RowBatch([_row(job.config)], {"next": 1}, 1, 1)


def _row(config: DispatchConfig) -> Row:
    return Row({"webhookId": config.webhook_id, "event": config.event}, config.webhook_id)


async def _deliver(item: Item, ctx: Context) -> Outcome:
    config: DispatchConfig = item.job.config
    receiver = await ctx.port(Receivers).of_org(item.job.org_id, config.url)
    if receiver.locked is not None:
        return retry_of(receiver.locked)
    try:
        answer = await ctx.fetchers[FetchPurpose.WEBHOOK].fetch(
            _request(item, config, receiver.secrets, ctx)
        )
    except PermanentError as error:
        return Fail(ItemError.of(error))
    shown = {
        "webhookId": config.webhook_id, "event": config.event,
        "host": urlsplit(config.url).hostname or "", "status": answer.status, "ms": answer.ms,
    }  # fmt: skip
    if 200 <= answer.status < 300:
        return Done(shown)
    refusal = ItemError(_code(answer.status), f"The receiver answered {answer.status}.")
    if answer.status == 410:
        return Fail(refusal, shown)
    return Retry(refusal, answer.retry_after_ms)


def _code(status: int) -> str:
    if status == 429:
        return "API_RATE_LIMIT"
    return "SERVICE_UNAVAILABLE" if status >= 500 else REJECTED


def _request(
    item: Item, config: DispatchConfig, keys: Sequence[bytes], ctx: Context
) -> FetchRequest:
    body = orjson.dumps(
        {"type": config.event, "event": config.event, "webhookId": config.webhook_id,
         "data": config.data}
    )  # fmt: skip
    message = message_id(uuid5(_NAMESPACE, f"{item.job.org_id}:{config.webhook_id}"))
    now = int(time.time())
    patience = min(ctx.limits.get("webhook_ms", 10_000), round(ctx.item_timeout_ms * 0.9))
    headers = {
        "Content-Type": "application/json",
        "User-Agent": f"Penstock-Webhooks/{__version__}",
        "webhook-id": message,
        "webhook-timestamp": str(now),
        "webhook-signature": signature(keys, message, now, body),
    }
    if config.signature is not None:
        headers["x-signature"] = "".join(one for one in config.signature if " " <= one <= "~")
    limits = FetchLimits(
        most_bytes=_RESPONSE_BYTES, total_ms=patience, silent_ms=patience, hops=0, head_only=True
    )
    return FetchRequest(config.url, "POST", headers, body, limits)
