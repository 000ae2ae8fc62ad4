"""Targets of notifications and alerts as the API takes and shows them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from penstock.api.http.schemas import Shape
from penstock.app.notifications import TargetOrder
from penstock.model.monitor.checks import Severity, runbook_link
from penstock.monitor.measure import camel
from penstock.store.monitor.alerts import Alert
from penstock.store.monitor.notifications import (
    LoggedNotification,
    StoredTarget,
    TargetChange,
)

Kind = Literal["slack", "webhook", "pagerduty", "email"]
Level = Literal["info", "warning", "critical"]
_SEVERITIES = (
    "Alerts of the installation of these severities are sent. Left out: `critical` for PagerDuty,"
    " `warning` for Slack, both for webhooks, none for e-mail."
)
_EVENTS = (
    "Events that are sent besides. Left out: `alert.dlq` for e-mail of the installation,"
    " `job.failed` and `job.dead_lettered` for an org's target."
)
_MONTH = 60 * 24 * 31


class NewTargetOrder(Shape):
    kind: Kind
    address: str = Field(
        min_length=1,
        max_length=4096,
        description="The URL of a Slack or other webhook, PagerDuty's integration key, or an e-mail"
        " address. It is stored sealed and never shown again.",
    )
    name: str = Field("", max_length=200)
    installation: bool = Field(
        False, description="Whether it gets alerts of the whole installation; admins only."
    )
    severities: list[Level] | None = Field(None, max_length=3, description=_SEVERITIES)
    events: list[str] | None = Field(None, max_length=50, description=_EVENTS)

    def order(self) -> TargetOrder:
        return TargetOrder(
            self.kind, self.address, self.name, self.installation, self.severities, self.events
        )


class TargetChangeOrder(Shape):
    """What is left out stays as it is."""

    name: str | None = Field(None, min_length=1, max_length=200)
    enabled: bool | None = None
    severities: list[Level] | None = Field(None, max_length=3)
    events: list[str] | None = Field(None, max_length=50)
    silence_minutes: float | None = Field(
        None, ge=0, le=_MONTH, description="Send nothing there for so long; 0 ends it."
    )

    def change(self) -> TargetChange:
        return TargetChange(
            self.name, self.enabled, self.severities, self.events, self.silence_minutes
        )


class TargetShape(Shape):
    id: UUID
    org: str
    user_id: int = Field(description="Its creator.")
    name: str
    kind: Kind
    address: str = Field(description="Only the host, the last characters, or the e-mail address.")
    installation: bool
    severities: list[Level]
    events: list[str]
    enabled: bool
    silenced_until: datetime | None
    created_at: datetime


class TargetPage(Shape):
    items: list[TargetShape]


class TestReceipt(Shape):
    notification_id: UUID = Field(description="In the log: `GET /api/notifications/log`.")


class NotificationShape(Shape):
    id: UUID
    target_id: UUID | None = Field(description="Null: an e-mail to a user.")
    target: str | None
    kind: Kind
    event: str
    phase: Literal["opened", "resolved", "event", "test"]
    title: str
    text: str
    state: Literal["waiting", "pending", "sent", "failed", "dropped"]
    tries: int
    error: dict[str, Any] | None
    created_at: datetime
    settled_at: datetime | None


class NotificationPage(Shape):
    items: list[NotificationShape]
    next: str | None = Field(description="Pass as `after` for the next page; null on the last.")


class LogQuery(Shape):
    after: str | None = Field(None, max_length=1000)
    page_size: int = Field(50, ge=1, le=500)


class AlertShape(Shape):
    id: UUID
    check: str = Field(description="The check, with its pipeline or provider after a colon.")
    event: str
    severity: Severity
    message: str
    value: float | None
    threshold: float | None
    opened_at: datetime
    resolved_at: datetime | None
    silenced_until: datetime | None
    silence_reason: str | None
    runbook: str


class AlertPage(Shape):
    items: list[AlertShape] = Field(description="The newest first.")
    next: str | None = Field(description="Pass as `after` for the next page; null on the last.")


class AlertsQuery(LogQuery):
    state: Literal["open", "all"] = "all"


class SilenceOrder(Shape):
    minutes: float = Field(ge=0, le=_MONTH, description="0 ends the silence.")
    reason: str = Field("", max_length=500)


class JobMails(Shape):
    jobs: Literal["none", "failed", "all"] = Field(
        description="About which of your jobs you get an e-mail when they end."
    )


class JobWatch(Shape):
    watched: bool = Field(description="Whether you get an e-mail when this job ends.")


def target_shape(target: StoredTarget) -> dict[str, Any]:
    return {
        "id": str(target.id),
        "org": target.org,
        "userId": target.user_id,
        "name": target.name,
        "kind": target.kind,
        "address": target.shown_address,
        "installation": target.installation,
        "severities": target.severities,
        "events": target.events,
        "enabled": target.enabled,
        "silencedUntil": target.silenced_until,
        "createdAt": target.created_at,
    }


def notification_shape(row: LoggedNotification) -> dict[str, Any]:
    message = row.message
    return {
        "id": str(row.id),
        "targetId": None if row.target_id is None else str(row.target_id),
        "target": row.target,
        "kind": row.kind or "email",
        "event": row.event,
        "phase": row.phase,
        "title": message["title"],
        "text": message["text"],
        "state": row.state,
        "tries": row.tries,
        "error": row.error,
        "createdAt": row.created_at,
        "settledAt": row.settled_at,
    }


def alert_shape(alert: Alert, runbook_url: str) -> dict[str, Any]:
    name, colon, scope = alert.key.partition(":")
    return {
        "id": str(alert.id),
        "check": camel(name) + colon + scope,
        "event": alert.event,
        "severity": alert.severity,
        "message": alert.message,
        "value": alert.value,
        "threshold": alert.threshold,
        "openedAt": alert.opened_at,
        "resolvedAt": alert.resolved_at,
        "silencedUntil": alert.silenced_until,
        "silenceReason": alert.silence_reason,
        "runbook": runbook_link(runbook_url, camel(name)),
    }
