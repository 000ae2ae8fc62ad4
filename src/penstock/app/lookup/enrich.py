"""Enrich the products of a job: look them up, then decide about what is proposed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from penstock.app import bulk
from penstock.app.clone import owner_of
from penstock.app.job_control import get_job
from penstock.engine.runtime import Runtime
from penstock.engine.submit import Order, Receipt, submit
from penstock.model.errors import BadInput, PermanentError
from penstock.model.held_rows import PROPOSED
from penstock.model.reprocess import Selection
from penstock.model.states import TERMINAL_JOB_STATES
from penstock.store.accounts.audit_log import Caller, audit
from penstock.store.database import Connection, from_json
from penstock.store.jobs import claims, reprocess
from penstock.store.jobs.job_rows import JobDetails

# Pipelines whose jobs write products.
_WRITERS = frozenset(("extraction", "shop_import"))
PIPELINE = "lookup"


@dataclass(frozen=True, slots=True)
class EnrichOrder:
    """What is asked for. ``sources`` None: all that are enabled."""

    fields: Sequence[str] | None = None
    sources: Sequence[str] | None = None
    idempotency_key: str | None = None


async def enrich_job(
    runtime: Runtime, conn: Connection, caller: Caller, job_id: UUID, asked: EnrichOrder
) -> Receipt:
    """Submit a lookup of the products that a job wrote. Wake `Receipt.lane` after the commit."""
    job = await get_job(conn, job_id)
    if job.pipeline not in _WRITERS:
        raise BadInput("INVALID_PARAMETERS", f"Jobs of {job.pipeline} write no products to enrich.")
    if job.state not in TERMINAL_JOB_STATES:
        raise PermanentError(
            "INVALID_STATE", "The job has not ended. Enrich its products when it has.",
            state=job.state,
        )  # fmt: skip
    enrich: dict[str, Any] = {"jobId": str(job_id)}
    if asked.fields is not None:
        enrich["fields"] = list(asked.fields)
    config: dict[str, Any] = {"enrich": enrich}
    if asked.sources is not None:
        config["sources"] = list(asked.sources)
    who = caller.who if caller.who.org_id == job.org_id else owner_of(job)
    order = Order(
        PIPELINE, config, priority=job.priority, name=f"Enrich {job.name}", ip=caller.ip,
        idempotency_key=asked.idempotency_key, made_from=f"job:{job_id}",
    )  # fmt: skip
    receipt = await submit(runtime, conn, who, order, caller.who)
    if not receipt.replayed:
        await audit(
            conn, job.org_id, caller.who.user_id, "job.enrich", f"job:{job_id}", ip=caller.ip,
            after={"jobId": str(receipt.job_id), "fields": asked.fields},
        )  # fmt: skip
    return receipt


async def decide_proposals(
    runtime: Runtime, conn: Connection, caller: Caller, job_id: UUID, rows: Sequence[int],
    *, accept: bool, fields: Sequence[str] | None = None,
) -> bulk.Reprocessed:  # fmt: skip
    """Accept or refuse the proposals of these rows, or of the whole job; accepted ones are written.
    ``fields``: accept only these of each row."""
    job = await get_job(conn, job_id)
    if not _is_enrichment(job):
        raise PermanentError("INVALID_STATE", "The job makes no proposals.")
    if fields is not None:
        if not rows or not accept:
            raise BadInput("INVALID_PARAMETERS", "`fields` goes with `itemIds` that are accepted.")
        await claims.lock_claims(conn)
        accepted = {"acceptedFields": list(fields)}
        await reprocess.add_to_documents(conn, job_id, rows, accepted)
    meant = Selection(
        whole_job=False, codes=(PROPOSED,), rows=tuple(sorted(set(rows))), accept=accept,
        refuse=not accept,
    )  # fmt: skip
    return await bulk.reprocess_job(runtime, conn, caller.who, job_id, meant, caller.ip)


def _is_enrichment(job: JobDetails) -> bool:
    config: dict[str, Any] = from_json(job.config)
    return job.pipeline == PIPELINE and "enrich" in config
