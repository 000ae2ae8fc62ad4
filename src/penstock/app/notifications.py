"""Create, change, delete and test targets of notifications; silence alerts; e-mails about jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from penstock.engine.runtime import Runtime
from penstock.model.errors import BadInput, NotAllowed, NotThere, PermanentError
from penstock.model.ids import new_id
from penstock.model.network.fetching import FetchPurpose
from penstock.model.network.notifications import (
    TEST_EVENT,
    Message,
    check_address,
    check_events,
    check_severities,
    default_events,
    default_severities,
    shown_address,
)
from penstock.monitor.outbox import links_of
from penstock.store.accounts.audit_log import Caller, audit
from penstock.store.database import Connection
from penstock.store.monitor import alerts, notifications
from penstock.store.monitor.alerts import Alert
from penstock.store.monitor.notifications import (
    NewNotification,
    NewTarget,
    StoredTarget,
    TargetChange,
    owner_of_address,
)

MOST_TARGETS = 100


@dataclass(frozen=True, slots=True)
class TargetOrder:
    """What a new target should be; None takes the default of its kind."""

    kind: str
    address: str
    name: str = ""
    installation: bool = False
    severities: Sequence[str] | None = None
    events: Sequence[str] | None = None


def no_such_target() -> NotThere:
    """The same for an id that is unknown, another org's, or no id at all."""
    return NotThere("NOT_FOUND", "There is no such notification target.")


def no_such_alert() -> NotThere:
    return NotThere("NOT_FOUND", "There is no such alert.")


async def get_target(conn: Connection, target_id: UUID) -> StoredTarget:
    target = await notifications.get_target(conn, target_id)
    if target is None:
        raise no_such_target()
    return target


async def check_order(runtime: Runtime, order: TargetOrder) -> TargetOrder:
    """Refuse what is not allowed. Call this outside of a transaction: it may take long to resolve a
    host name."""
    address = check_address(order.kind, order.address)
    if order.kind in ("slack", "webhook"):
        await runtime.fetchers[FetchPurpose.WEBHOOK].check(address)
    if order.kind == "email":
        _require_smtp(runtime, "kind")
    installation = order.installation
    # An org's target gets events of jobs; how bad an alert is concerns the installation.
    usual = default_severities(order.kind) if installation else ()
    severities = usual if order.severities is None else order.severities
    events = default_events(order.kind, installation=installation)
    return TargetOrder(
        order.kind, address, order.name or f"{order.kind} {shown_address(order.kind, address)}",
        installation, check_severities(severities),
        check_events(events if order.events is None else order.events, installation=installation),
    )  # fmt: skip


def _require_smtp(runtime: Runtime, field: str) -> None:
    """Without a server each message would fail and become a dead letter."""
    if runtime.settings.smtp_url is None:
        raise BadInput(
            "INVALID_PARAMETERS", f"{field}: e-mail needs an SMTP server: set PENSTOCK_SMTP_URL."
        )


async def create(
    runtime: Runtime, conn: Connection, caller: Caller, order: TargetOrder, org_id: int
) -> StoredTarget:
    """``order`` as `check_order` gave it."""
    if order.installation and caller.who.role != "admin":
        raise NotAllowed(
            "INSUFFICIENT_PERMISSIONS", "Only admins may add targets of the installation."
        )
    if await notifications.has_targets(conn, org_id, MOST_TARGETS):
        raise PermanentError(
            "INVALID_STATE",
            f"An org has at most {MOST_TARGETS} notification targets. Delete one first.",
        )
    target_id = new_id()
    sealed = runtime.sealer.seal(order.address.encode(), owner_of_address(target_id))
    await notifications.add_target(
        conn,
        NewTarget(
            target_id, org_id, caller.who.user_id, order.installation, order.name, order.kind,
            sealed, shown_address(order.kind, order.address), list(order.severities or ()),
            list(order.events or ()),
        ),
    )  # fmt: skip
    target = await get_target(conn, target_id)
    await _audit(conn, caller, target, "create", after=_audit_values(target))
    return target


async def change(
    conn: Connection, caller: Caller, target_id: UUID, change: TargetChange
) -> StoredTarget:
    before = await _get_changeable(conn, caller, target_id)
    if change.severities is not None:
        check_severities(change.severities)
    if change.events is not None:
        check_events(change.events, installation=before.installation)
    if not await notifications.change_target(conn, target_id, change):
        raise no_such_target()
    after = await get_target(conn, target_id)
    await _audit(
        conn, caller, after, "change", before=_audit_values(before), after=_audit_values(after)
    )
    return after


async def delete(conn: Connection, caller: Caller, target_id: UUID) -> None:
    target = await _get_changeable(conn, caller, target_id)
    if not await notifications.delete_target(conn, target_id):
        raise no_such_target()
    await _audit(conn, caller, target, "delete", before=_audit_values(target))


async def send_test(runtime: Runtime, conn: Connection, caller: Caller, target_id: UUID) -> UUID:
    """Ask for a test message; answers the id of the notice."""
    target = await _get_changeable(conn, caller, target_id)
    notice_id, links = new_id(), links_of(runtime.settings)
    message = Message(
        f"test:{notice_id}", TEST_EVENT, "info", "test", "Test of a notification target",
        f"{caller.who.email} asked for this test of {target.name!r}.",
        datetime.now(UTC).isoformat(timespec="seconds"), f"{links.public_url}/settings",
        links.runbook_url,
    )  # fmt: skip
    notice = NewNotification(
        notice_id, target.org_id, target.user_id, target_id, TEST_EVENT, "test", message.as_json()
    )
    await notifications.add_notifications(conn, [notice])
    await _audit(conn, caller, target, "test", after={"notificationId": str(notice_id)})
    return notice_id


async def silence_alert(
    conn: Connection, caller: Caller, alert_id: UUID, minutes: float, reason: str
) -> Alert:
    """Send nothing about this check for so many minutes; 0 ends the silence."""
    alert = await alerts.get_alert(conn, alert_id)
    if alert is None:
        raise no_such_alert()
    await alerts.silence(conn, alert.key, minutes, reason, caller.who.user_id)
    await audit(
        conn, caller.who.org_id, caller.who.user_id, "alert.silence", f"alert:{alert.key}",
        ip=caller.ip, after={"minutes": minutes, "reason": reason},
    )  # fmt: skip
    found = await alerts.get_alert(conn, alert_id)
    assert found is not None
    return found


async def watch_job(
    runtime: Runtime, conn: Connection, caller: Caller, job_id: UUID, *, watched: bool
) -> None:
    """Whether the caller gets an e-mail when the job ends."""
    who = caller.who
    if watched:
        _require_smtp(runtime, "watched")
        await notifications.watch_job(conn, job_id, who.user_id, who.org_id)
    else:
        await notifications.unwatch_job(conn, job_id, who.user_id)
    await audit(
        conn, who.org_id, who.user_id, "job.watch", f"job:{job_id}", ip=caller.ip,
        after={"watched": watched},
    )  # fmt: skip


async def set_job_mails(runtime: Runtime, conn: Connection, caller: Caller, jobs: str) -> None:
    who = caller.who
    if jobs != "none":
        _require_smtp(runtime, "jobs")
    before = await notifications.job_mails(conn, who.user_id)
    await notifications.set_job_mails(conn, who.user_id, who.org_id, jobs)
    await audit(
        conn, who.org_id, who.user_id, "user.job_mails", f"user:{who.user_id}", ip=caller.ip,
        before={"jobs": before}, after={"jobs": jobs},
    )  # fmt: skip


async def _get_changeable(conn: Connection, caller: Caller, target_id: UUID) -> StoredTarget:
    """All users of an org see its targets; the creator and admins change them."""
    target = await get_target(conn, target_id)
    if caller.who.role != "admin" and target.user_id != caller.who.user_id:
        raise NotAllowed(
            "INSUFFICIENT_PERMISSIONS",
            "Only the user who created this target, or an admin, may change it.",
        )
    return target


def _audit_values(target: StoredTarget) -> dict[str, Any]:
    return {
        "name": target.name,
        "kind": target.kind,
        "address": target.shown_address,
        "installation": target.installation,
        "severities": target.severities,
        "events": target.events,
        "enabled": target.enabled,
        "silencedUntil": target.silenced_until,
    }


async def _audit(
    conn: Connection, caller: Caller, target: StoredTarget, verb: str, *, before: Any = None,
    after: Any = None,
) -> None:  # fmt: skip
    await audit(
        conn, target.org_id, caller.who.user_id, f"notification.{verb}",
        f"notification:{target.id}", ip=caller.ip, before=before, after=after,
    )  # fmt: skip
