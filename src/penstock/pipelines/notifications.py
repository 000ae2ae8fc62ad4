"""The notifications pipeline: each item sends one message to one target.

The job runs for as long as there are targets; `monitor/outbox.py` adds its items. What came of a
try is written to the log of notifications in the settle, so that log and item agree.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar
from uuid import UUID

from penstock import __version__
from penstock.model.effects import NoteNotification
from penstock.model.errors import ItemError, PenstockError, PermanentError
from penstock.model.network.fetching import FetchLimits, FetchPurpose, FetchRequest
from penstock.model.network.notifications import (
    PIPELINE,
    POLICY,
    REJECTED,
    TRIES,
    Message,
    Target,
    email_of,
    pagerduty_body,
    slack_body,
    webhook_body,
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
from penstock.model.ports import Context, Mailer, NotificationTargets

# Parallel sends, so that a slow target does not delay others.
_AT_ONCE = 16
_RESPONSE_BYTES = 1000


class NotificationsConfig(Config):
    """No settings: targets contain the address, and items the message."""


class Notifications(Pipeline):
    name: ClassVar[str] = PIPELINE
    Config: ClassVar[type[Config]] = NotificationsConfig
    internal: ClassVar[bool] = True
    columns: ClassVar[tuple[str, ...] | None] = ("event", "kind", "messages", "status")

    def stages(self, config: Any) -> tuple[Stage, ...]:
        return (Stage("send", run=_send_all, policy=POLICY),)

    def traits(self, config: Any) -> Traits:
        return Traits(standing=True)

    def inline(self, config: Any) -> Sequence[Row]:
        """None: messages are added by the outbox."""
        return ()

    async def rows(
        self, job: Job, ctx: Context, cursor: Mapping[str, Any] | None
    ) -> AsyncGenerator[RowBatch, None]:
        return
        yield


@dataclass(frozen=True, slots=True)
class _Order:
    """The parsed input of an item."""

    ids: tuple[UUID, ...]
    target_id: UUID | None
    email: str
    source: str
    messages: tuple[Message, ...]

    @staticmethod
    def of(item: Item) -> _Order:
        told = item.input
        target = told.get("targetId")
        return _Order(
            tuple(UUID(one) for one in told["notificationIds"]),
            None if target is None else UUID(target),
            told.get("email") or "",
            told.get("source") or "penstock",
            tuple(Message.of(one) for one in told["messages"]),
        )


async def _send_all(batch: Sequence[Item], ctx: Context) -> Sequence[Outcome | None]:
    ids = {_Order.of(item).target_id for item in batch} - {None}
    # Read for each batch, so that a new address or a deleted target takes effect.
    targets = await ctx.port(NotificationTargets).find([one for one in ids if one is not None])
    return await each(partial(_send, targets=targets), _AT_ONCE)(batch, ctx)


async def _send(item: Item, ctx: Context, targets: Mapping[UUID, Target]) -> Outcome:
    order = _Order.of(item)
    note = NoteNotification(order.ids, order.messages[0].title, "pending")
    if order.target_id is None:
        target: Target | None = Target("email", order.email)
    else:
        target = targets.get(order.target_id)
    if target is None:
        return Skip("The target was deleted", effects=[replace(note, state="dropped")])
    if target.objection is not None:
        return Skip(target.objection, effects=[replace(note, state="dropped")])
    if target.locked is not None:
        # No attempt is used up: an operator can correct the key.
        ctx.log.error("a notification's address cannot be read", error=target.locked.message)
        return retry_of(target.locked)
    try:
        status = await _transmit(ctx, order, target)
    except Exception as error:
        if not isinstance(error, (PenstockError, _Answered)):
            ctx.log.error("a notification could not be sent", error=repr(error))
        return _failed_outcome(item, note, error)
    first = order.messages[0]
    shown = {"event": first.event, "kind": target.kind, "messages": len(order.ids),
             "status": status}  # fmt: skip
    return Done(shown, effects=[replace(note, state="sent")])


async def _transmit(ctx: Context, order: _Order, target: Target) -> int:
    if target.kind == "email":
        mailer = ctx.port(Mailer)
        mail = email_of(order.messages, mailer.sender, target.address, order.ids[0].hex)
        await mailer.send(target.address, mail)
        return 250
    url, body = target.address, b""
    if target.kind == "slack":
        body = slack_body(order.messages)
    elif target.kind == "webhook":
        body = webhook_body(order.messages)
    else:
        url = target.pagerduty_url
        body = pagerduty_body(order.messages[0], target.address, order.source)
    answer = await ctx.fetchers[FetchPurpose.WEBHOOK].fetch(_request(ctx, order, url, body))
    if 200 <= answer.status < 300:
        return answer.status
    code = "API_RATE_LIMIT" if answer.status == 429 else REJECTED
    code = "SERVICE_UNAVAILABLE" if answer.status >= 500 else code
    raise _Answered(code, f"The receiver answered {answer.status}.", answer.retry_after_ms)


class _Answered(Exception):
    """The receiver refused the message."""

    def __init__(self, code: str, message: str, after_ms: int | None) -> None:
        super().__init__(message)
        self.error = ItemError(code, message)
        self.after_ms = after_ms


def _request(ctx: Context, order: _Order, url: str, body: bytes) -> FetchRequest:
    # Shorter than the timeout of an item, so that the error names the cause.
    patience = min(ctx.limits["webhook_ms"], round(ctx.item_timeout_ms * 0.9))
    headers = {
        "Content-Type": "application/json",
        "User-Agent": f"Penstock-Notifications/{__version__}",
        "Penstock-Notification-Id": order.ids[0].hex,
    }
    limits = FetchLimits(
        most_bytes=_RESPONSE_BYTES, total_ms=patience, silent_ms=patience, hops=0, head_only=True
    )
    return FetchRequest(url, "POST", headers, body, limits)


def _failed_outcome(item: Item, note: NoteNotification, error: Exception) -> Outcome:
    """A retry, or a permanent failure, which becomes a dead letter."""
    after_ms = None
    if isinstance(error, _Answered):
        shown, after_ms = error.error, error.after_ms
    else:
        shown = ItemError.of(error)
    is_final = isinstance(error, PermanentError)
    if is_final or item.attempts >= TRIES.retries:
        return Fail(shown, {"event": note.title}, effects=[replace(note, state="failed")])
    return Retry(shown, after_ms, effects=[note])
