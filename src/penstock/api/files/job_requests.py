"""Turn a request into a job: a form with a file, or JSON that names one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response

from penstock.api.files.path_import import taken_in
from penstock.api.http.access import Api, address_of, caller_of
from penstock.api.http.answers import strict_json
from penstock.api.http.bodies import content_type, json_object, strictly
from penstock.api.http.disconnect import while_connected
from penstock.api.http.errors import invalid
from penstock.api.http.forms import FILE, Form, received_form
from penstock.api.http.idempotency import REPLAYED, idempotency_key
from penstock.api.http.work import PREVIEW
from penstock.api.jobs.extraction_schemas import ExtractionOrder
from penstock.api.jobs.schemas import JobOrder
from penstock.app.downloads import fetched_from
from penstock.app.preview import check_first_rows, job_of_upload, prepare_preview, preview
from penstock.app.uploads import Upload, keep_upload
from penstock.app.watchers.s3_objects import SCHEME, taken_from_bucket
from penstock.engine.submit import Order, Receipt, admit, is_known
from penstock.model.errors import BadInput, Unavailable
from penstock.store.accounts.accounts import Principal

# Not in a form, which contains the file itself.
_NAMES_OF_FILES = frozenset({"file_id", "file_ids", "upload_id", "path", "url"})
AnyOrder = type[JobOrder] | type[ExtractionOrder]


async def accept(request: Request, api: Api, who: Principal, kind: AnyOrder = JobOrder) -> Receipt:
    """Commit the job and wake a worker."""
    key = idempotency_key(request)
    await _turn_away(api, who, key)
    async with _asked(request, api, who, kind, key) as (asked, upload):
        if upload is not None:
            api.runtime.failpoints.reach("after_upload")
        order = order_from(request, asked, key, upload)
        await ask_about_rows(api, who, order, upload)
        receipt = await api.submissions.submit(caller_of(request, who), order, upload)
    api.runtime.failpoints.reach("after_submit")
    return receipt


async def look_into(request: Request, api: Api, who: Principal) -> dict[str, Any]:
    """A preview of the requested job. A file of the request is kept for a day, so that the job can
    be created without sending it again."""
    async with _asked(request, api, who, JobOrder) as (asked, upload):
        order = order_from(request, asked, None, upload)
        async with api.db.scoped(who.scope, readonly=upload is None) as conn:
            if upload is not None:
                await keep_upload(api.runtime, conn, who, upload, order.ip)
            job = await prepare_preview(api.runtime, conn, who, order)

    async def look() -> Mapping[str, Any]:
        await api.turns.exchange(request, PREVIEW, who)
        return await preview(api.runtime, job)

    found = await while_connected(request, look())
    return {"fileId": None if job.file is None else str(job.file.id), **found}


@asynccontextmanager
async def _asked(
    request: Request, api: Api, who: Principal, kind: AnyOrder, key: str | None = None
) -> AsyncIterator[tuple[JobOrder, Upload | None]]:
    """The requested job, and its file: from the form, a path or a URL. After an error the file is
    deleted."""
    sent, _ = content_type(request)
    if sent == "multipart/form-data":
        fields = {name: one.alias or name for name, one in kind.model_fields.items()}
        named = {fields[name] for name in fields.keys() - _NAMES_OF_FILES}
        allowed = frozenset({FILE, "config", *named})
        async with received_form(request, api.runtime, allowed) as form:
            yield _of_form(form, kind), form.upload
    elif sent == "application/json":
        asked = strictly(kind, await json_object(request)).job_order()
        async with _named_file(api, who, asked, key) as upload:
            yield asked, upload
    else:
        raise BadInput(
            "UNSUPPORTED_TYPE",
            "Send the file itself as multipart/form-data (curl: -F file=@goods.csv), or"
            " application/json that names one.",
        )


@asynccontextmanager
async def _named_file(
    api: Api, who: Principal, asked: JobOrder, key: str | None
) -> AsyncIterator[Upload | None]:
    if asked.path is not None:
        async with taken_in(api.runtime, who, asked.path) as upload:
            yield upload
    elif asked.url is not None and not await _answered_before(api, who, key):
        async with _fetched(api, who, asked.url) as upload:
            yield upload
    else:
        yield None


def _fetched(api: Api, who: Principal, url: str) -> AbstractAsyncContextManager[Upload]:
    if url.startswith(SCHEME):
        readonly = partial(api.db.scoped, who.scope, readonly=True)
        return taken_from_bucket(api.runtime, readonly, who, url)
    return fetched_from(api.runtime, url)


async def _answered_before(api: Api, who: Principal, key: str | None) -> bool:
    """For a repeated request nothing is fetched again: the file behind the URL may have changed."""
    if key is None:
        return False
    async with api.db.scoped(who.scope, readonly=True) as conn:
        return await is_known(conn, who, key)


async def ask_about_rows(api: Api, who: Principal, order: Order, upload: Upload | None) -> None:
    """Answer with 422 if the first rows of the file leave a question open, before a job exists. The
    file of the request is then deleted."""
    if order.file_id is None:
        return
    if await _answered_before(api, who, order.idempotency_key):
        return
    if upload is not None:
        job = job_of_upload(api.runtime, who, order, upload)
    else:
        async with api.db.scoped(who.scope, readonly=True) as conn:
            job = await prepare_preview(api.runtime, conn, who, order)
    await check_first_rows(api.runtime, job)


async def _turn_away(api: Api, who: Principal, key: str | None) -> None:
    """Refuse a request that `submit` would refuse in any case, before the body is read."""
    try:
        async with api.db.acquire() as conn:
            await admit(api.runtime, conn, who)
    except Unavailable:
        if not await _answered_before(api, who, key):
            raise


def receipt_answer(receipt: Receipt) -> Response:
    """`202` with the address of the job, and whether the request was repeated."""
    headers = {"Location": f"/api/jobs/{receipt.job_id}"}
    if receipt.replayed:
        headers |= REPLAYED
    return Response(receipt.body, 202, headers, media_type="application/json")


def order_from(request: Request, asked: JobOrder, key: str | None, upload: Upload | None) -> Order:
    first, more = asked.file_id, tuple(asked.file_ids or ())
    if more:
        first, more = more[0], more[1:]
    return Order(
        pipeline=asked.pipeline,
        config=asked.config,
        file_id=first if upload is None else upload.id,
        more_files=more,
        due_at=asked.due_at,
        priority=asked.priority,
        name=asked.name,
        ip=address_of(request),
        idempotency_key=key,
        content_sha256=_content(asked, upload),
    )


def _content(asked: JobOrder, upload: Upload | None) -> str:
    """For a URL the address is compared, not the file behind it."""
    if asked.url is not None:
        return f"url:{asked.url}"
    return "" if upload is None else upload.blob.sha256


def _of_form(form: Form, kind: AnyOrder) -> JobOrder:
    given: dict[str, Any] = dict(form.fields)
    if "config" in given:
        given["config"] = strict_json(given["config"].encode(), "The field 'config'")
    return _valid(given, kind)


def _valid(given: dict[str, Any], kind: AnyOrder) -> JobOrder:
    try:
        return kind.model_validate(given).job_order()
    except ValidationError as error:
        raise invalid(error.errors(include_url=False)) from error
