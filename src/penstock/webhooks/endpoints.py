"""Create, change, delete and test webhooks, rotate their secrets, and deliver messages again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from penstock.engine import reprocess
from penstock.engine.runtime import Runtime
from penstock.model.errors import BadInput, NotAllowed, NotThere, PermanentError
from penstock.model.ids import new_id
from penstock.model.network.fetching import FetchPurpose
from penstock.model.network.webhooks import (
    DEFAULT_EVENTS,
    TEST_EVENT,
    checked_filters,
    new_secret,
    secret_bytes,
)
from penstock.model.reprocess import Selection
from penstock.model.states import TERMINAL_ITEM_STATUSES
from penstock.store import webhooks
from penstock.store.accounts.audit_log import Caller, audit
from penstock.store.database import Connection, Transaction
from penstock.store.jobs import dead_letters
from penstock.store.webhooks import DeliveryDetails, Endpoint, NewEndpoint, owner_of_secret

MOST_ENDPOINTS = 50
DEFAULT_OVERLAP_HOURS = 24.0


@dataclass(frozen=True, slots=True)
class EndpointSettings:
    """Settings of an endpoint; for a change, None keeps a setting."""

    url: str | None = None
    description: str | None = None
    events: Sequence[str] | None = None
    enabled: bool | None = None


@dataclass(frozen=True, slots=True)
class CheckedSettings(EndpointSettings):
    """Settings that `check_settings` accepted."""


@dataclass(frozen=True, slots=True)
class EndpointSecret:
    """An endpoint with its new secret, which is shown this once."""

    endpoint: Endpoint
    secret: str

    @property
    def id(self) -> UUID:
        return self.endpoint.id


def no_such_webhook() -> NotThere:
    """The same for an id that is unknown, another org's, or no id at all."""
    return NotThere("NOT_FOUND", "There is no such webhook.")


def no_such_delivery() -> NotThere:
    return NotThere("NOT_FOUND", "There is no such delivery.")


async def get_endpoint(conn: Connection, endpoint_id: UUID) -> Endpoint:
    endpoint = await webhooks.get_endpoint(conn, endpoint_id)
    if endpoint is None:
        raise no_such_webhook()
    return endpoint


async def get_delivery(conn: Connection, delivery_id: UUID) -> DeliveryDetails:
    delivery = await webhooks.get_delivery(conn, delivery_id)
    if delivery is None:
        raise no_such_delivery()
    return delivery


async def check_settings(runtime: Runtime, settings: EndpointSettings) -> CheckedSettings:
    """Refuse settings that are not allowed. Call this outside of a transaction: it may take long to
    resolve a host name."""
    events = None if settings.events is None else checked_filters(settings.events)
    if settings.url is not None:
        await runtime.fetchers[FetchPurpose.WEBHOOK].check(settings.url)
    return CheckedSettings(settings.url, settings.description, events, settings.enabled)


async def create(
    runtime: Runtime, conn: Connection, caller: Caller, settings: CheckedSettings,
    org_id: int | None = None,
) -> EndpointSecret:  # fmt: skip
    """Create an endpoint of the caller, in their org or in the given one."""
    if settings.url is None:
        raise BadInput("INVALID_PARAMETERS", "url: give the URL that events are posted to.")
    org_id = caller.who.org_id if org_id is None else org_id
    if await webhooks.count_endpoints(conn, org_id, MOST_ENDPOINTS) >= MOST_ENDPOINTS:
        raise PermanentError(
            "INVALID_STATE", f"An org has at most {MOST_ENDPOINTS} webhooks. Delete one first."
        )
    endpoint_id, secret = new_id(), new_secret()
    await webhooks.add_endpoint(
        conn,
        NewEndpoint(
            endpoint_id, org_id, caller.who.user_id, settings.url, settings.description or "",
            DEFAULT_EVENTS if settings.events is None else settings.events,
            True if settings.enabled is None else settings.enabled,
            _seal(runtime, endpoint_id, secret),
        ),
    )  # fmt: skip
    endpoint = await get_endpoint(conn, endpoint_id)
    await _audit(conn, caller, endpoint, "create", after=_audit_values(endpoint))
    return EndpointSecret(endpoint, secret)


async def change(
    runtime: Runtime, transaction: Transaction, caller: Caller, endpoint_id: UUID,
    settings: EndpointSettings,
) -> Endpoint:  # fmt: skip
    async with transaction() as conn:
        await _get_changeable(conn, caller, endpoint_id)
    checked = await check_settings(runtime, settings)
    async with transaction() as conn:
        before = await _get_changeable(conn, caller, endpoint_id)
        changed = await webhooks.change_endpoint(
            conn, endpoint_id, url=checked.url, description=checked.description,
            events=checked.events, enabled=checked.enabled,
        )  # fmt: skip
        if not changed:
            raise no_such_webhook()
        after = await get_endpoint(conn, endpoint_id)
        await _audit(
            conn, caller, after, "change", before=_audit_values(before), after=_audit_values(after)
        )
    return after


async def delete(conn: Connection, caller: Caller, endpoint_id: UUID) -> None:
    endpoint = await _get_changeable(conn, caller, endpoint_id)
    if not await webhooks.delete_endpoint(conn, endpoint_id):
        raise no_such_webhook()
    await _audit(conn, caller, endpoint, "delete", before=_audit_values(endpoint))


async def rotate(
    runtime: Runtime, conn: Connection, caller: Caller, endpoint_id: UUID, overlap_hours: float
) -> EndpointSecret:
    """Give an endpoint a new secret; the old one signs, too, for so many hours."""
    await _get_changeable(conn, caller, endpoint_id)
    secret = new_secret()
    sealed = _seal(runtime, endpoint_id, secret)
    if not await webhooks.rotate_secret(conn, endpoint_id, sealed, overlap_hours * 3600):
        raise no_such_webhook()
    endpoint = await get_endpoint(conn, endpoint_id)
    await _audit(conn, caller, endpoint, "rotate", after={"overlapHours": overlap_hours})
    return EndpointSecret(endpoint, secret)


async def send_test(conn: Connection, caller: Caller, endpoint_id: UUID) -> UUID:
    """Ask for a delivery of the event `webhook.test`; return its id."""
    endpoint = await _get_changeable(conn, caller, endpoint_id)
    if not endpoint.enabled:
        raise _disabled_error()
    delivery_id = new_id()
    await webhooks.add_test(conn, delivery_id, endpoint, TEST_EVENT)
    await _audit(conn, caller, endpoint, "test", after={"deliveryId": str(delivery_id)})
    return delivery_id


async def redeliver(runtime: Runtime, conn: Connection, caller: Caller, delivery_id: UUID) -> str:
    """Send a message again and close its dead letter, if it has one. Return the lane to wake after
    the commit."""
    delivery = await get_delivery(conn, delivery_id)
    lane = await send_again(runtime, conn, delivery, caller.who.user_id)
    assert delivery.stream_job is not None
    assert delivery.row_no is not None
    await dead_letters.close_of_items(
        conn, delivery.stream_job, [delivery.row_no], caller.who.user_id
    )
    await audit(
        conn, delivery.org_id, caller.who.user_id, "webhook.redeliver",
        f"webhook:{delivery.endpoint_id}", ip=caller.ip, after={"deliveryId": str(delivery_id)},
    )  # fmt: skip
    return lane


async def send_again(
    runtime: Runtime, conn: Connection, delivery: DeliveryDetails, user_id: int
) -> str:
    """Send a message again under the same id, with all its tries."""
    if not delivery.enabled:
        raise _disabled_error()
    job_id, row_no = delivery.stream_job, delivery.row_no
    if delivery.state in ("waiting", "pending") or job_id is None or row_no is None:
        raise PermanentError(
            "INVALID_STATE", "This delivery is still on its way.", state=delivery.state
        )
    which = Selection(whole_job=False, statuses=tuple(TERMINAL_ITEM_STATUSES), rows=(row_no,))
    reopened = await reprocess.begin(runtime, conn, job_id, which, holder=new_id(), user_id=user_id)
    if reopened.lane is None:
        raise PermanentError("INVALID_STATE", "This delivery is still on its way.")
    await webhooks.reopen_delivery(conn, delivery.id)
    return reopened.lane


async def _get_changeable(conn: Connection, caller: Caller, endpoint_id: UUID) -> Endpoint:
    """All users of an org see its webhooks. Only the creator and admins may change one: it receives
    the events of its creator's jobs."""
    endpoint = await get_endpoint(conn, endpoint_id)
    who = caller.who
    if who.scope.owner_id is not None and endpoint.user_id != who.user_id:
        raise NotAllowed(
            "INSUFFICIENT_PERMISSIONS",
            "Only the user who created this webhook, or an admin, may change it.",
        )
    return endpoint


def _seal(runtime: Runtime, endpoint_id: UUID, secret: str) -> bytes:
    return runtime.sealer.seal(secret_bytes(secret), owner_of_secret(endpoint_id))


def _disabled_error() -> PermanentError:
    return PermanentError("INVALID_STATE", "This webhook is disabled. Enable it first.")


def _audit_values(endpoint: Endpoint) -> dict[str, Any]:
    return {
        "url": endpoint.url,
        "description": endpoint.description,
        "events": endpoint.events,
        "enabled": endpoint.enabled,
    }


async def _audit(
    conn: Connection, caller: Caller, endpoint: Endpoint, verb: str, *, before: Any = None,
    after: Any = None,
) -> None:  # fmt: skip
    await audit(
        conn, endpoint.org_id, caller.who.user_id, f"webhook.{verb}", f"webhook:{endpoint.id}",
        ip=caller.ip, before=before, after=after,
    )  # fmt: skip
