"""What may be done with webhooks: made, changed, given a new secret, tested, delivered again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from penstock.engine import reprocess
from penstock.engine.runtime import Runtime
from penstock.model.errors import BadInput, NotThere, PermanentError
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
from penstock.store.database import Connection
from penstock.store.jobs import dead_letters
from penstock.store.webhooks import NewEndpoint, owner_of_secret

MOST_ENDPOINTS = 50
DEFAULT_OVERLAP_HOURS = 24.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """What somebody wants an endpoint to be; what is None stays as it is."""

    url: str | None = None
    description: str | None = None
    events: Sequence[str] | None = None
    enabled: bool | None = None


@dataclass(frozen=True, slots=True)
class Checked(Wanted):
    """Seen to be allowed, by `checked`."""


@dataclass(frozen=True, slots=True)
class Made:
    """The secret is shown this once."""

    id: UUID
    secret: str


def no_such_webhook() -> NotThere:
    """The same for an id that is unknown, another org's, or no id at all."""
    return NotThere("NOT_FOUND", "There is no such webhook.")


def no_such_delivery() -> NotThere:
    return NotThere("NOT_FOUND", "There is no such delivery.")


async def checked(runtime: Runtime, wanted: Wanted) -> Checked:
    """Refuse what cannot be. Before any transaction, since names may take long to resolve."""
    events = None if wanted.events is None else checked_filters(wanted.events)
    if wanted.url is not None:
        await runtime.fetchers[FetchPurpose.WEBHOOK].check(wanted.url)
    return Checked(wanted.url, wanted.description, events, wanted.enabled)


async def create(
    runtime: Runtime, conn: Connection, org_id: int, user_id: int, wanted: Checked
) -> Made:
    if wanted.url is None:
        raise BadInput("INVALID_PARAMETERS", "url: say where events shall go.")
    if await webhooks.count_endpoints(conn, org_id, MOST_ENDPOINTS) >= MOST_ENDPOINTS:
        raise PermanentError(
            "INVALID_STATE", f"An org has at most {MOST_ENDPOINTS} webhooks. Delete one first."
        )
    made = Made(new_id(), new_secret())
    sealed = runtime.sealer.seal(secret_bytes(made.secret), owner_of_secret(made.id))
    await webhooks.add_endpoint(
        conn,
        NewEndpoint(
            made.id, org_id, user_id, wanted.url, wanted.description or "",
            DEFAULT_EVENTS if wanted.events is None else wanted.events,
            True if wanted.enabled is None else wanted.enabled, sealed,
        ),
    )  # fmt: skip
    return made


async def change(conn: Connection, endpoint_id: UUID, wanted: Checked) -> bool:
    """False where it is not there, or not to be changed by who asks."""
    return await webhooks.change_endpoint(
        conn, endpoint_id, url=wanted.url, description=wanted.description, events=wanted.events,
        enabled=wanted.enabled,
    )  # fmt: skip


async def rotate(
    runtime: Runtime, conn: Connection, endpoint_id: UUID, overlap_hours: float
) -> Made | None:
    """A new secret; for some hours the one before signs too."""
    made = Made(endpoint_id, new_secret())
    sealed = runtime.sealer.seal(secret_bytes(made.secret), owner_of_secret(endpoint_id))
    changed = await webhooks.rotate_secret(conn, endpoint_id, sealed, overlap_hours * 3600)
    return made if changed else None


async def ask_test(conn: Connection, endpoint: Any) -> UUID:
    """A test goes the way of every delivery; answers its id."""
    if not endpoint["enabled"]:
        raise _disabled()
    delivery_id = new_id()
    await webhooks.add_test(conn, delivery_id, endpoint, TEST_EVENT)
    return delivery_id


async def redeliver(runtime: Runtime, conn: Connection, delivery: Any, user_id: int) -> str:
    """Send it again; its dead letter, if it has one, needs nobody any more. Answers the lane to
    wake after the commit."""
    lane = await send_again(runtime, conn, delivery, user_id)
    rows = [delivery["row_no"]]
    await dead_letters.close_of_items(conn, delivery["stream_job"], rows, user_id)
    return lane


async def send_again(runtime: Runtime, conn: Connection, delivery: Any, user_id: int) -> str:
    """Once more, with the same id and all its tries."""
    if not delivery["enabled"]:
        raise _disabled()
    if delivery["state"] in ("waiting", "pending"):
        raise PermanentError(
            "INVALID_STATE", "This delivery is still on its way.", state=delivery["state"]
        )
    which = Selection(
        whole_job=False, statuses=tuple(TERMINAL_ITEM_STATUSES), rows=(delivery["row_no"],)
    )
    begun = await reprocess.begin(
        runtime, conn, delivery["stream_job"], which, holder=new_id(), user_id=user_id
    )
    if begun.lane is None:
        raise PermanentError("INVALID_STATE", "This delivery is still on its way.")
    await webhooks.reopen_delivery(conn, delivery["id"])
    return begun.lane


def _disabled() -> PermanentError:
    return PermanentError("INVALID_STATE", "This webhook is disabled. Enable it first.")
