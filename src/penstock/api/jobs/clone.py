"""Clone a job: the same work as a new job."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from penstock.api.files.job_requests import receipt_answer
from penstock.api.http.access import ApiParts, JobId, Writer, address_of
from penstock.api.http.bodies import body_of, order_of
from penstock.api.http.idempotency import IdempotencyKey, idempotency_key
from penstock.api.jobs.control_schemas import CloneOrder
from penstock.api.jobs.schemas import Receipt
from penstock.app.clone import Copy, clone
from penstock.app.job_control import get_job
from penstock.model.ticket import Ticket

router = APIRouter(tags=["control"])


@router.post(
    "/jobs/{job_id}/clone",
    status_code=202,
    summary="Clone a job",
    responses={202: {"model": Receipt, "headers": {"Location": {"schema": {"type": "string"}}}}},
    openapi_extra=body_of(CloneOrder),
)
async def clone_job(
    request: Request,
    api: ApiParts,
    who: Writer,
    job_id: JobId,
    _: IdempotencyKey = None,
) -> Response:
    """Create a job with the same pipeline, config, file and name, whatever state the old job is in.
    The body is optional."""
    key = idempotency_key(request)
    asked = await order_of(request, CloneOrder)
    copy = Copy(asked.priority, asked.config, address_of(request), key)
    async with api.db.scoped(who.scope) as conn:
        job = await get_job(conn, job_id)
        receipt = await clone(api.runtime, conn, who, job, copy)
    if not receipt.replayed:
        await api.runtime.broker.send(Ticket(receipt.lane))
    return receipt_answer(receipt)
