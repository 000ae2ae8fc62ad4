"""A new job from an old one: the same work, asked for again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from penstock.engine.runtime import Runtime
from penstock.engine.submit import Order, Receipt, submit
from penstock.store.accounts.accounts import Principal
from penstock.store.accounts.audit_log import audit
from penstock.store.database import Connection, from_json
from penstock.store.jobs import jobs


@dataclass(frozen=True, slots=True)
class Copy:
    """What shall be different, and what a request says of itself."""

    priority: int | None = None
    # Fields that take the place of the old job's.
    config: Mapping[str, Any] = field(default_factory=dict)
    ip: str | None = None
    idempotency_key: str | None = None


async def clone(
    runtime: Runtime, conn: Connection, asks: Principal, job: Any, copy: Copy
) -> Receipt:
    """Submit ``job`` (its row) again, in the caller's transaction and with every check that a new
    one has to pass. It belongs to who asks, or, where an admin helps another org, to the same user
    as before. Wake `Receipt.lane` after the commit."""
    who = asks if asks.org_id == job["org_id"] else owner_of(job)
    order = order_of(job, copy, f"job:{job['id']}")
    order = replace(order, more_files=await jobs.more_files(conn, job["id"]))
    receipt = await submit(runtime, conn, who, order, asks)
    if not receipt.replayed:
        await audit(
            conn, job["org_id"], asks.user_id, "job.clone", f"job:{job['id']}", ip=copy.ip,
            after={"jobId": str(receipt.job_id), "priority": order.priority,
                   "config": dict(copy.config)},
        )  # fmt: skip
    return receipt


def order_of(row: Any, copy: Copy, made_from: str) -> Order:
    """What to ask for, from a job's row or a letter's."""
    order = Order(
        pipeline=row["pipeline"],
        config={**from_json(row["config"]), **copy.config},
        file_id=row["file_id"],
        priority=row["priority"],
        name=row["name"],
        ip=copy.ip,
        idempotency_key=copy.idempotency_key,
        made_from=made_from,
    )
    return order if copy.priority is None else replace(order, priority=copy.priority)


def owner_of(row: Any) -> Principal:
    """In whose name the job or letter was. A member sees no more than what is theirs, which a
    submit has to see anyhow."""
    return Principal(row["user_id"], row["org_id"], "", "member", row["org"], row["plan"])
