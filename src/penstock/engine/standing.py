"""Standing jobs: their items are added from outside, one job per user that takes more of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from penstock.engine.runtime import Runtime
from penstock.engine.submit import Order, submit
from penstock.model.fairness import PRIORITIES
from penstock.model.states import TERMINAL_JOB_STATES
from penstock.store import outbox
from penstock.store.accounts.accounts import Principal
from penstock.store.database import Connection
from penstock.store.outbox import Maker


@dataclass(frozen=True, slots=True)
class StreamKind:
    """What the standing jobs of one kind are."""

    pipeline: str
    name: str


async def open_streams(
    runtime: Runtime, conn: Connection, kind: StreamKind, makers: Sequence[Maker], size: int
) -> dict[Maker, UUID]:
    """The job that takes each maker's items; a new one where there is none, where it has ``size``
    items, or where it was ended."""
    streams: dict[Maker, UUID] = {}
    for stream in await outbox.open_streams(conn, kind.pipeline, makers):
        if stream.total >= size or _is_ending(stream.state):
            await outbox.close_stream(conn, stream.job_id)
        else:
            streams[stream.org_id, stream.user_id] = stream.job_id
    for maker in makers:
        if maker not in streams:
            streams[maker] = await _new_stream(runtime, conn, kind, maker)
    return streams


async def _new_stream(runtime: Runtime, conn: Connection, kind: StreamKind, maker: Maker) -> UUID:
    org_id, user_id = maker
    name, plan = await outbox.org_of(conn, org_id)
    who = Principal(user_id, org_id, "", "member", name, plan)
    order = Order(kind.pipeline, priority=PRIORITIES["high"], name=kind.name, internal=True)
    receipt = await submit(runtime, conn, who, order)
    await outbox.add_stream(conn, receipt.job_id, kind.pipeline, maker)
    return receipt.job_id


def _is_ending(state: str) -> bool:
    return state == "cancelling" or state in TERMINAL_JOB_STATES
