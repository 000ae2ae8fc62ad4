"""Webhooks as the API takes and shows them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit
from uuid import UUID

from pydantic import BeforeValidator, Field

from penstock.api.http.answers import stored
from penstock.api.http.schemas import OrgQuery, Shape, split_commas
from penstock.model.network.webhooks import DEFAULT_EVENTS, message_id
from penstock.store.accounts.accounts import Principal
from penstock.store.database import from_json
from penstock.store.webhooks import Delivery, DeliveryDetails, Endpoint
from penstock.webhooks.endpoints import DEFAULT_OVERLAP_HOURS, EndpointSettings

DeliveryState = Literal["waiting", "pending", "delivered", "failed", "dropped"]
_EVENTS = "Names of events, `job.*` or `*`; these leave out `job.progress`, which has to be named."
_NEXT = "Pass as `after` for the next page; null on the last."


class NewWebhook(Shape):
    url: str = Field(max_length=4096, description="Where events are posted to: http or https.")
    description: str = Field("", max_length=500)
    events: list[str] = Field(default=list(DEFAULT_EVENTS), description=_EVENTS)
    enabled: bool = True

    def settings(self) -> EndpointSettings:
        return EndpointSettings(self.url, self.description, self.events, self.enabled)


class ChangedWebhook(Shape):
    """What is left out stays as it is."""

    url: str | None = Field(None, max_length=4096)
    description: str | None = Field(None, max_length=500)
    events: list[str] | None = Field(None, description=_EVENTS)
    enabled: bool | None = None

    def settings(self) -> EndpointSettings:
        return EndpointSettings(self.url, self.description, self.events, self.enabled)


class RotateOrder(Shape):
    overlap_hours: float = Field(
        DEFAULT_OVERLAP_HOURS, ge=0, le=168, description="How long the old secret signs, too."
    )


class WebhookShape(Shape):
    id: UUID
    org: str
    user_id: int = Field(description="Its creator: events of this user's jobs are sent.")
    url: str = Field(
        description="Callers who may not change it see only the host: `https://host/…`."
    )
    description: str
    events: list[str]
    enabled: bool
    disabled_reason: str | None = Field(description="Why it was disabled automatically.")
    old_secret_until: datetime | None = Field(description="Until then the old secret signs, too.")
    created_at: datetime
    updated_at: datetime


class MadeWebhook(WebhookShape):
    secret: str = Field(description="Shown this once; keep it where the receiver finds it.")


class WebhookPage(Shape):
    items: list[WebhookShape]
    next: str | None = Field(description=_NEXT)


class WebhooksQuery(OrgQuery):
    page_size: int = Field(50, ge=1, le=200)
    after: str = Field("", description="`next` of the page before.")


class DeliveriesQuery(Shape):
    state: Annotated[list[DeliveryState], BeforeValidator(split_commas)] = Field(
        default_factory=list, description="One or several, with commas; none: all."
    )
    page_size: int = Field(50, ge=1, le=200)
    after: str = Field("", description="`next` of the page before.")


class TryError(Shape):
    code: str
    message: str


class TryShape(Shape):
    at: datetime
    status: int | None = Field(description="What the receiver answered; null: nothing.")
    ms: int
    error: TryError | None = None
    response: str | None = Field(None, description="The beginning of an answer that was no 2xx.")


class DeliveryShape(Shape):
    id: UUID
    message_id: str = Field(description="The header `webhook-id`, the same on every try.")
    webhook_id: UUID
    event: str
    job_id: UUID | None = Field(description="The job that the event is about.")
    state: DeliveryState
    tries: int
    status: int | None = Field(description="What the receiver answered last.")
    created_at: datetime
    settled_at: datetime | None


class FullDelivery(DeliveryShape):
    url: str
    next_try_at: datetime | None
    attempts: list[TryShape] = Field(description="The latest tries, oldest first.")
    payload: Any = Field(description="What is posted; null once it is no longer kept.")


class DeliveryPage(Shape):
    items: list[DeliveryShape]
    next: str | None = Field(description=_NEXT)


class DeliveryReceipt(Shape):
    delivery_id: UUID


def webhook_shape(endpoint: Endpoint, who: Principal) -> dict[str, Any]:
    return {
        "id": str(endpoint.id),
        "org": endpoint.org,
        "userId": endpoint.user_id,
        "url": _url_for(who, endpoint),
        "description": endpoint.description,
        "events": endpoint.events,
        "enabled": endpoint.enabled,
        "disabledReason": endpoint.disabled_reason,
        "oldSecretUntil": endpoint.old_until,
        "createdAt": endpoint.created_at,
        "updatedAt": endpoint.updated_at,
    }


def delivery_shape(delivery: Delivery) -> dict[str, Any]:
    return {
        "id": str(delivery.id),
        "messageId": message_id(delivery.id),
        "webhookId": str(delivery.endpoint_id),
        "event": delivery.event,
        "jobId": None if delivery.about_job is None else str(delivery.about_job),
        "state": delivery.state,
        "tries": delivery.tries,
        "status": delivery.status,
        "createdAt": delivery.created_at,
        "settledAt": delivery.settled_at,
    }


def _url_for(who: Principal, owned: Endpoint | DeliveryDetails) -> str:
    """Paths and parameters of receivers are often secrets: a caller who may not change the webhook
    sees only its host."""
    if who.writes and who.scope.owner_id in (None, owned.user_id):
        return owned.url
    found = urlsplit(owned.url)
    host = found.netloc.rpartition("@")[2]
    return f"{found.scheme}://{host}/…"


def full_delivery_shape(delivery: DeliveryDetails, who: Principal) -> dict[str, Any]:
    sent = None if delivery.input is None else from_json(delivery.input)
    return delivery_shape(delivery) | {
        "url": _url_for(who, delivery),
        "nextTryAt": delivery.due_at if delivery.state == "pending" else None,
        "attempts": stored(delivery.attempts),
        "payload": None if sent is None else sent["payload"],
    }
