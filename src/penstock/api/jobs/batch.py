"""Many jobs in one request: each is checked by itself and has its own answer."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
from fastapi import APIRouter, Request, Response

from penstock.api.files.job_requests import ask_about_rows, order_from
from penstock.api.http.access import Api, ApiParts, Writer, caller_of
from penstock.api.http.answers import answer
from penstock.api.http.bodies import body_of, json_object, strictly
from penstock.api.http.errors import status_of
from penstock.api.http.idempotency import IdempotencyKey, idempotency_key
from penstock.api.jobs.batch_schemas import MAX_JOBS, BatchAnswer, BatchOrder, JobBatch
from penstock.engine.submit import Receipt
from penstock.model.errors import BadInput, PenstockError
from penstock.model.text.redaction import redacted, redacted_values
from penstock.store.accounts.accounts import Principal

router = APIRouter(tags=["jobs"])
_BODY_BYTES = 4 * 1024 * 1024
# Files of one batch whose first rows are looked at side by side.
_LOOKS = 8


@router.post(
    "/jobs/batch",
    status_code=202,
    summary="Create many jobs",
    responses={202: {"model": BatchAnswer}},
    openapi_extra=body_of(JobBatch),
)
async def create_jobs(
    request: Request, api: ApiParts, who: Writer, _: IdempotencyKey = None
) -> Response:
    """Up to 200 jobs without files, or of files uploaded before. `results` has an answer for each,
    in order: a job that is refused does not keep the others from being accepted. An
    `Idempotency-Key` of the request stands for the key `<key>/<n>` of the n-th job, counted from 1,
    unless that job has one of its own."""
    given = await json_object(request, _BODY_BYTES)
    wanted = _jobs_of(given)
    key = idempotency_key(request)
    looks = asyncio.Semaphore(_LOOKS)

    async def submit(number: int, one: Any) -> dict[str, Any]:
        try:
            order = _order(one, None if key is None else f"{key}/{number}")
            return _accepted(await _submit(request, api, who, order, looks))
        except PenstockError as error:
            return _refused(error)

    results = await asyncio.gather(*(submit(n, one) for n, one in enumerate(wanted, 1)))
    accepted = sum(one["status"] == 202 for one in results)
    counts = {"accepted": accepted, "refused": len(results) - accepted}
    return answer({**counts, "results": results}, 202)


def _jobs_of(given: dict[str, object]) -> list[Any]:
    wanted = given.get("jobs")
    if given.keys() != {"jobs"} or not isinstance(wanted, list):
        raise BadInput("INVALID_PARAMETERS", 'Send {"jobs": [...]} and nothing else.')
    if not 1 <= len(wanted) <= MAX_JOBS:
        advice = "Split it into several batches." if wanted else "Add a job."
        raise BadInput(
            "INVALID_PARAMETERS",
            f"A batch has 1 to {MAX_JOBS} jobs, and this one has {len(wanted):,}. {advice}",
            limit=MAX_JOBS,
        )
    return wanted


def _order(given: Any, key: str | None) -> BatchOrder:
    if not isinstance(given, dict):
        raise BadInput("INVALID_PARAMETERS", "A job of a batch is a JSON object.")
    order = strictly(BatchOrder, given)
    if order.idempotency_key is None and key is not None:
        order = order.model_copy(update={"idempotency_key": key})
    return order


async def _submit(
    request: Request, api: Api, who: Principal, asked: BatchOrder, looks: asyncio.Semaphore
) -> Receipt:
    order = order_from(request, asked, asked.idempotency_key, None)
    if order.file_id is not None:
        async with looks:
            await ask_about_rows(api, who, order, None)
    return await api.submissions.submit(caller_of(request, who), order, None)


def _accepted(receipt: Receipt) -> dict[str, Any]:
    return {"status": 202, "replayed": receipt.replayed, **orjson.loads(receipt.body)}


def _refused(error: PenstockError) -> dict[str, Any]:
    shown = {
        "code": error.code,
        "message": redacted(error.message),
        "category": error.category,
        "source": "api",
        "details": redacted_values(error.details),
    }
    wait = {} if error.retry_after_ms is None else {"retryAfterMs": error.retry_after_ms}
    return {"status": status_of(error), "error": shown, **wait}
