"""The webhooks pipeline: each item delivers one event to one endpoint.

The job runs for as long as there are endpoints; `webhooks/outbox.py` adds its items. The result of
each attempt is written to the delivery log in the settle transaction, so that log and item agree.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar
from urllib.parse import urlsplit
from uuid import UUID

import orjson

from penstock import __version__
from penstock.model.effects import NoteDelivery
from penstock.model.errors import ItemError, PenstockError, PermanentError
from penstock.model.network.fetching import FetchLimits, FetchPurpose, FetchRequest, FetchResponse
from penstock.model.network.webhooks import (
    PIPELINE,
    POLICY,
    REJECTED,
    TRIES,
    Receiver,
    message_id,
    signature,
)
from penstock.model.outcomes import Done, Fail, Outcome, Retry, Skip
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
    retry_of,
)
from penstock.model.ports import Context, Receivers
from penstock.model.text.redaction import redacted

# Parallel deliveries, so that a slow receiver does not delay others.
_AT_ONCE = 16
# Bytes kept of a receiver's answer.
_RESPONSE_BYTES = 1000
_GONE = 410


class WebhooksConfig(Config):
    """No settings: endpoints contain the URL, and items the event."""


class Webhooks(Pipeline):
    name: ClassVar[str] = PIPELINE
    Config: ClassVar[type[Config]] = WebhooksConfig
    internal: ClassVar[bool] = True
    columns: ClassVar[tuple[str, ...] | None] = ("event", "jobId", "host", "status", "ms")

    def stages(self, config: Any) -> tuple[Stage, ...]:
        return (Stage("deliver", run=_deliver_all, policy=POLICY),)

    def traits(self, config: Any) -> Traits:
        return Traits(standing=True)

    def inline(self, config: Any) -> Sequence[Row]:
        """None: deliveries are added by the outbox."""
        return ()

    async def rows(
        self, job: Job, ctx: Context, cursor: Mapping[str, Any] | None
    ) -> AsyncGenerator[RowBatch, None]:
        return
        yield


@dataclass(frozen=True, slots=True)
class _Delivery:
    """The parsed input of an item."""

    id: UUID
    endpoint_id: UUID
    event: str
    payload: Mapping[str, Any]

    @staticmethod
    def of(item: Item) -> _Delivery:
        told = item.input
        return _Delivery(
            UUID(told["deliveryId"]), UUID(told["endpointId"]), told["event"], told["payload"]
        )


async def _deliver_all(batch: Sequence[Item], ctx: Context) -> Sequence[Outcome | None]:
    ids = list({UUID(item.input["endpointId"]) for item in batch})
    # Read for each batch, so that a new secret, a new URL or a disabled endpoint takes effect.
    receivers = await ctx.port(Receivers).find(ids)
    return await each(partial(_deliver, receivers=receivers), _AT_ONCE)(batch, ctx)


async def _deliver(item: Item, ctx: Context, receivers: Mapping[UUID, Receiver]) -> Outcome:
    delivery = _Delivery.of(item)
    receiver = receivers.get(delivery.endpoint_id) or Receiver("", deleted=True)
    note = NoteDelivery(
        delivery.id, delivery.endpoint_id, delivery.event, receiver.url,
        urlsplit(receiver.url).hostname or "", "dropped",
    )  # fmt: skip
    if receiver.deleted:
        return Skip("The endpoint was deleted", effects=[note])
    if receiver.objection is not None:
        error = ItemError("ENDPOINT_DISABLED", f"{receiver.objection}.")
        return Fail(error, effects=[replace(note, state="failed")])
    if receiver.locked is not None:
        # No attempt is used up: an operator can correct the key.
        ctx.log.error("a webhook cannot be signed", error=receiver.locked.message)
        return retry_of(receiver.locked)
    began = time.monotonic()
    try:
        answer = await ctx.fetchers[FetchPurpose.WEBHOOK].fetch(_request(delivery, receiver, ctx))
    except Exception as error:
        if not isinstance(error, PenstockError):
            ctx.log.error("a webhook could not be sent", error=repr(error))
        tried = replace(note, ms=round((time.monotonic() - began) * 1000))
        is_final = isinstance(error, PermanentError) and error.code == "URL_NOT_ALLOWED"
        return _failed_outcome(item, tried, ItemError.of(error), is_final=is_final)
    return _outcome_of(item, replace(note, ms=answer.ms, status=answer.status), answer)


def _request(delivery: _Delivery, receiver: Receiver, ctx: Context) -> FetchRequest:
    body = orjson.dumps(dict(delivery.payload))
    message, now = message_id(delivery.id), int(time.time())
    # Shorter than the timeout of an item, so that the error names the cause.
    patience = min(ctx.limits["webhook_ms"], round(ctx.item_timeout_ms * 0.9))
    return FetchRequest(
        receiver.url,
        "POST",
        {
            "Content-Type": "application/json",
            "User-Agent": f"Penstock-Webhooks/{__version__}",
            "webhook-id": message,
            "webhook-timestamp": str(now),
            "webhook-signature": signature(receiver.secrets, message, now, body),
        },
        body,
        # Redirects are not followed: the endpoint's URL must be changed.
        FetchLimits(
            most_bytes=_RESPONSE_BYTES, total_ms=patience, silent_ms=patience, hops=0,
            head_only=True,
        ),
    )  # fmt: skip


def _outcome_of(item: Item, note: NoteDelivery, answer: FetchResponse) -> Outcome:
    status = answer.status
    if 200 <= status < 300:
        shown = {"event": note.event, "jobId": item.input["payload"].get("jobId"),
                 "host": note.host, "status": status, "ms": note.ms}  # fmt: skip
        return Done(shown, effects=[replace(note, state="delivered")])
    said = answer.body.decode("utf-8", "replace").replace("\0", "\ufffd")
    note = replace(note, response=redacted(said))
    error = ItemError(_code(status), f"The receiver answered {status}.", details={"status": status})
    if status == _GONE:
        return _failed_outcome(item, replace(note, gone=True), error, is_final=True)
    return _failed_outcome(item, note, error, after_ms=answer.retry_after_ms)


def _code(status: int) -> str:
    if status == 429:
        return "API_RATE_LIMIT"
    return "SERVICE_UNAVAILABLE" if status >= 500 else REJECTED


def _failed_outcome(
    item: Item,
    note: NoteDelivery,
    error: ItemError,
    *,
    is_final: bool = False,
    after_ms: int | None = None,
) -> Outcome:
    """A retry, or a permanent failure, which the log records with the last attempt."""
    if is_final or item.attempts >= TRIES.retries:
        shown = {"event": note.event, "host": note.host, "status": note.status, "ms": note.ms}
        return Fail(error, shown, effects=[replace(note, state="failed")])
    return Retry(error, after_ms, effects=[replace(note, state="pending")])
