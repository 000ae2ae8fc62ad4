"""Opens and resolves alerts by the checks of the monitor, and chooses the targets to notify."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from penstock.model.backpressure import Level
from penstock.model.ids import new_id
from penstock.model.monitor.checks import HealthCheck, Severity, runbook_link
from penstock.model.monitor.health import HealthStatus
from penstock.model.network.notifications import Message, wants
from penstock.monitor.measure import camel
from penstock.store.database import Connection
from penstock.store.monitor import alerts, notifications
from penstock.store.monitor.alerts import Alert, NewAlert
from penstock.store.monitor.notifications import AlertTarget, NewNotification

# Alerts that stand for more than one check.
OVERALL, OVERLOAD = "status", "overload"
_EVENTS = {
    "dead_letters": "alert.dlq",
    OVERLOAD: "alert.backpressure",
}


@dataclass(frozen=True, slots=True)
class Links:
    """Where notices lead to."""

    public_url: str
    runbook_url: str


@dataclass(frozen=True, slots=True)
class AlertChanges:
    opened: tuple[NewAlert, ...] = ()
    resolved: tuple[Alert, ...] = ()


def alerts_of(
    checks: Sequence[HealthCheck], status: HealthStatus, level: Level
) -> dict[str, NewAlert]:
    """What should be open now, by key."""
    found = {}
    for check in checks:
        if not check.ok:
            event = _EVENTS.get(check.name) or f"health.{check.severity.value}"
            found[check.key] = NewAlert(
                new_id(), check.key, event, check.severity, check.message, check.value,
                check.threshold,
            )  # fmt: skip
    if status is HealthStatus.UNHEALTHY:
        problems = sum(not check.ok for check in checks)
        text = f"The installation is unhealthy: {problems} checks fail."
        found[OVERALL] = NewAlert(new_id(), OVERALL, "health.critical", Severity.CRITICAL, text)
    if level is Level.OVERLOAD:
        text = "The queue is overloaded: no job is accepted until it is shorter."
        found[OVERLOAD] = NewAlert(new_id(), OVERLOAD, _EVENTS[OVERLOAD], Severity.CRITICAL, text)
    return found


async def apply(
    conn: Connection, wanted: dict[str, NewAlert], links: Links, brief: Collection[str] = ()
) -> AlertChanges:
    """Open what is new, resolve what passed, and write the notices; alerts of checks that fail
    briefly stay as they are. Under the lock of the monitor's row, so that of two leaders only one
    opens an alert."""
    is_open = await alerts.open_alerts(conn)
    opened, resolved = [], []
    for key, new in wanted.items():
        if key in is_open:
            await alerts.update_alert(conn, is_open[key].id, new)
        elif await alerts.add_alert(conn, new):
            opened.append(new)
    for key, old in is_open.items():
        if key not in wanted and key not in brief and await alerts.resolve_alert(conn, old.id):
            resolved.append(old)
    if opened or resolved:
        await notifications.add_notifications(conn, await _notices(conn, opened, resolved, links))
    return AlertChanges(tuple(opened), tuple(resolved))


async def _notices(
    conn: Connection, opened: Sequence[NewAlert], resolved: Sequence[Alert], links: Links
) -> list[NewNotification]:
    silenced = await alerts.silenced_keys(conn)
    made = []
    targets = await notifications.alert_targets(conn) if opened else []
    for new in opened:
        for target in targets:
            if wants(target.severities, target.events, new.event, new.severity):
                quiet = target.silenced or new.key in silenced
                made.append(_notice(target, new, "opened", links, quiet=quiet))
    for old in resolved:
        for target in await notifications.targets_of_alert(conn, old.id):
            made.append(_notice(target, old, "resolved", links, quiet=old.key in silenced))
    return made


def _notice(
    target: AlertTarget, alert: NewAlert | Alert, phase: str, links: Links, *, quiet: bool
) -> NewNotification:
    return NewNotification(
        new_id(), target.org_id, target.user_id, target.id, alert.event, phase,
        message_of(alert, phase, links).as_json(), alert_id=alert.id, silenced=quiet,
    )  # fmt: skip


def message_of(alert: NewAlert | Alert, phase: str, links: Links) -> Message:
    name, _, scope = alert.key.partition(":")
    words = name.replace("_", " ") + (f" ({scope})" if scope else "")
    resolved = phase == "resolved"
    title = f"Resolved: {words}" if resolved else f"{alert.severity.capitalize()}: {words}"
    text = f"It was: {alert.message}" if resolved else alert.message
    return Message(
        alert.key, alert.event, alert.severity, phase, title, text,
        datetime.now(UTC).isoformat(timespec="seconds"), f"{links.public_url}/monitor",
        runbook_link(links.runbook_url, camel(name)),
    )  # fmt: skip


def event_data(alert: NewAlert) -> dict[str, Any]:
    return {
        "alertId": str(alert.id),
        "check": alert.key,
        "message": alert.message,
        "value": alert.value,
        "threshold": alert.threshold,
    }
