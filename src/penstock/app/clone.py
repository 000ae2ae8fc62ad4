"""Clone a job: submit the same work again."""

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
from penstock.store.jobs.dead_letters import LetterDetails
from penstock.store.jobs.job_rows import JobDetails


@dataclass(frozen=True, slots=True)
class Copy:
    """What differs from the old job, and data of the request."""

    priority: int | None = None
    # Fields that replace those of the old job.
    config: Mapping[str, Any] = field(default_factory=dict)
    ip: str | None = None
    idempotency_key: str | None = None


async def clone(
    runtime: Runtime, conn: Connection, asks: Principal, job: JobDetails, copy: Copy
) -> Receipt:
    """Submit the work of ``job`` again, in the caller's transaction and with all checks of a new
    job. The clone belongs to the caller; if an admin clones a job of another org, to the user of
    the old job. Wake `Receipt.lane` after the commit."""
    who = asks if asks.org_id == job.org_id else owner_of(job)
    order = order_of(job, copy, f"job:{job.id}")
    order = replace(order, more_files=await jobs.more_files(conn, job.id))
    receipt = await submit(runtime, conn, who, order, asks)
    if not receipt.replayed:
        await audit(
            conn, job.org_id, asks.user_id, "job.clone", f"job:{job.id}", ip=copy.ip,
            after={"jobId": str(receipt.job_id), "priority": order.priority,
                   "config": dict(copy.config)},
        )  # fmt: skip
    return receipt


def order_of(row: JobDetails | LetterDetails, copy: Copy, made_from: str) -> Order:
    """The order of a new job, from a job or a dead letter."""
    order = Order(
        pipeline=row.pipeline,
        config={**from_json(row.config), **copy.config},
        file_id=row.file_id,
        priority=row.priority,
        name=row.name,
        ip=copy.ip,
        idempotency_key=copy.idempotency_key,
        made_from=made_from,
    )
    return order if copy.priority is None else replace(order, priority=copy.priority)


def owner_of(row: JobDetails | LetterDetails) -> Principal:
    """The user of the job or letter, as a member: a submit needs no more rights."""
    return Principal(row.user_id, row.org_id, "", "member", row.org, row.plan)
