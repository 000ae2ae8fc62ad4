"""Notifications: kinds of targets, routing, and the message for each kind. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.message import EmailMessage
from email.policy import SMTP
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import orjson

from penstock.model.errors import BadInput, PenstockError
from penstock.model.policy import RetryPolicy, RetryRule

PIPELINE: Final = "notifications"
Kind = Literal["slack", "webhook", "pagerduty", "email"]
KINDS: Final = ("slack", "webhook", "pagerduty", "email")
SEVERITIES: Final = ("info", "warning", "critical")
PAGERDUTY_URL: Final = "https://events.pagerduty.com/v2/enqueue"

# Events of the installation, for targets of admins, and how bad each is.
SYSTEM_EVENTS: Final = {
    "health.warning": "warning",
    "health.critical": "critical",
    "alert.dlq": "warning",
    "alert.backpressure": "critical",
    "alert.job_failed": "info",
    "alert.job_retry": "info",
    "worker.lost": "warning",
    "worker.error": "info",
    "provider.circuit_opened": "warning",
    "provider.circuit_closed": "info",
}
# Events of jobs, for targets of an org.
JOB_EVENTS: Final = {
    "job.completed": "info",
    "job.failed": "warning",
    "job.cancelled": "info",
    "job.dead_lettered": "warning",
}
# Told by alerts, which also resolve, and not as single events.
ALERT_EVENTS: Final = ("health.warning", "health.critical", "alert.dlq")
TEST_EVENT: Final = "notification.test"

# Critical problems page, others are posted, dead letters are mailed.
_DEFAULT_SEVERITIES: Final[Mapping[str, tuple[str, ...]]] = {
    "pagerduty": ("critical",),
    "slack": ("warning",),
    "webhook": ("warning", "critical"),
    "email": (),
}
_DEFAULT_EVENTS: Final[Mapping[str, tuple[str, ...]]] = {"email": ("alert.dlq",)}
_DEFAULT_JOB_EVENTS: Final = ("job.failed", "job.dead_lettered")

# Five requests in all, after 5 s, 25 s, 2 min and 10 min.
TRIES: Final = RetryRule(4, base_ms=5000, factor=5.0, cap_ms=15 * 60_000)
REJECTED: Final = "NOTIFICATION_REJECTED"
_CODES: Final = (
    *("API_RATE_LIMIT", "SERVICE_UNAVAILABLE", "NETWORK_ERROR", "FETCH_TIMEOUT", REJECTED),
    *("INTERNAL_ERROR", "FETCH_TOO_LARGE", "API_TIMEOUT"),
)
POLICY: Final = RetryPolicy(dict.fromkeys(_CODES, TRIES))

_EMAIL: Final = re.compile(r"[^@\s<>,;:\"\\]{1,64}@[A-Za-z0-9.-]{1,190}")
_ROUTING_KEY: Final = re.compile(r"[A-Za-z0-9]{32}")


@dataclass(frozen=True, slots=True)
class Target:
    """Where to send to, with its address opened. ``objection``: why nothing is sent there;
    ``locked``: why its address cannot be read at the moment."""

    kind: Kind
    address: str
    # Where events for PagerDuty are posted to.
    pagerduty_url: str = PAGERDUTY_URL
    objection: str | None = None
    locked: PenstockError | None = None


def default_severities(kind: str) -> tuple[str, ...]:
    return _DEFAULT_SEVERITIES[kind]


def default_events(kind: str, *, installation: bool) -> tuple[str, ...]:
    return _DEFAULT_EVENTS.get(kind, ()) if installation else _DEFAULT_JOB_EVENTS


def check_events(events: Sequence[str], *, installation: bool) -> list[str]:
    known = {**SYSTEM_EVENTS, **JOB_EVENTS} if installation else JOB_EVENTS
    for one in events:
        if one not in known:
            raise BadInput(
                "INVALID_PARAMETERS",
                f"events: there is no event {one[:100]!r}. Known: {', '.join(known)}.",
            )
    return list(dict.fromkeys(events))


def check_severities(severities: Sequence[str]) -> list[str]:
    for one in severities:
        if one not in SEVERITIES:
            raise BadInput(
                "INVALID_PARAMETERS", f"severities: use {', '.join(SEVERITIES)}, not {one[:50]!r}."
            )
    return list(dict.fromkeys(severities))


def check_address(kind: str, address: str) -> str:
    """The address as it is stored. URLs are checked by the guarded fetch besides."""
    address = address.strip()
    if kind == "email" and not _EMAIL.fullmatch(address):
        raise BadInput("INVALID_PARAMETERS", "address: give one e-mail address.")
    if kind == "pagerduty" and not _ROUTING_KEY.fullmatch(address):
        raise BadInput(
            "INVALID_PARAMETERS",
            "address: give the integration key of PagerDuty's Events API v2, of 32 characters.",
        )
    return address


def shown_address(kind: str, address: str) -> str:
    """What may be shown: paths of URLs and keys are secrets."""
    if kind == "email":
        return address
    if kind == "pagerduty":
        return f"…{address[-4:]}"
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/…"


def wants(severities: Sequence[str], events: Sequence[str], event: str, severity: str) -> bool:
    """Whether a target gets an alert: by its event, or by how bad it is."""
    return event in events or severity in severities


@dataclass(frozen=True, slots=True)
class Message:
    """What a notification says, whatever it is sent to."""

    key: str
    event: str
    severity: str
    phase: str
    title: str
    text: str
    at: str
    link: str
    runbook: str = ""

    @staticmethod
    def of(stored: Mapping[str, Any]) -> Message:
        return Message(**{name: str(stored.get(name, "")) for name in Message.__slots__})

    def as_json(self) -> dict[str, str]:
        return {name: getattr(self, name) for name in Message.__slots__}


def slack_body(messages: Sequence[Message]) -> bytes:
    lines = []
    for one in messages:
        mark = "✅" if one.phase == "resolved" else "🔴" if one.severity == "critical" else "⚠️"
        links = f"<{_slack(one.link)}|Open>"
        if one.runbook.startswith("http"):
            links += f" · <{_slack(one.runbook)}|Runbook>"
        lines.append(f"{mark} *{_slack(one.title)}*\n{_slack(one.text)}\n{links}")
    return orjson.dumps({"text": "\n\n".join(lines)})


def _slack(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def webhook_body(messages: Sequence[Message]) -> bytes:
    first = messages[0]
    shown = [one.as_json() for one in messages]
    return orjson.dumps({"type": first.event, **first.as_json(), "notifications": shown})


def pagerduty_body(message: Message, routing_key: str, source: str) -> bytes:
    """Events API v2: the key of the alert joins the events of one incident."""
    resolved = message.phase == "resolved"
    body: dict[str, Any] = {
        "routing_key": routing_key,
        "event_action": "resolve" if resolved else "trigger",
        "dedup_key": f"penstock/{source}/{message.key}"[:255],
    }
    if not resolved:
        body["payload"] = {
            "summary": f"{message.title}: {message.text}"[:1024],
            "source": source,
            "severity": message.severity,
            "timestamp": message.at,
            "custom_details": {"runbook": message.runbook, "event": message.event},
        }
        links = [{"href": message.link, "text": "Open Penstock"}]
        if message.runbook.startswith("http"):
            links.append({"href": message.runbook, "text": "Runbook"})
        body["links"] = links
        body["client"], body["client_url"] = "Penstock", message.link
    return orjson.dumps(body)


def email_of(messages: Sequence[Message], sender: str, to: str, message_id: str) -> bytes:
    """A plain-text e-mail. Its id is the same on every try, so that receivers can deduplicate."""
    first, more = messages[0], len(messages) - 1
    mail = EmailMessage(policy=SMTP)
    mail["From"], mail["To"] = sender, to
    subject = first.title + (f" and {more} more" if more else "")
    mail["Subject"] = " ".join(f"[Penstock] {subject}".split())[:200]
    mail["Message-ID"] = f"<{message_id}@penstock>"
    mail["Auto-Submitted"] = "auto-generated"
    parts = []
    for one in messages:
        lines = [one.title, "", one.text, "", f"Open: {one.link}"]
        if one.runbook:
            lines.append(f"Runbook: {one.runbook}")
        lines.append(f"Time: {one.at}")
        parts.append("\n".join(lines))
    mail.set_content("\n\n--\n\n".join(parts) + "\n")
    return mail.as_bytes()
