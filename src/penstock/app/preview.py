"""Preview what a job would do; nothing is written."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from penstock.app.uploads import Upload
from penstock.engine.context import StopSign, stage_context
from penstock.engine.runtime import Runtime
from penstock.engine.submit import Order, file_of_order, submitted_pipeline, valid_config
from penstock.model.errors import BadInput, ChildCrashed, Unavailable
from penstock.model.ids import new_id
from penstock.model.pipeline import FileRef, Job
from penstock.store.accounts.accounts import Principal
from penstock.store.database import Connection

# Errors that are questions to the user, asked before a job exists.
_ASKS = frozenset({"MAPPING_NEEDED"})


async def prepare_preview(runtime: Runtime, conn: Connection, who: Principal, order: Order) -> Job:
    """The job as its pipeline would see it. Refused if a submit would be."""
    pipeline = submitted_pipeline(runtime, order.pipeline)
    config = valid_config(pipeline, order)
    row = await file_of_order(runtime, conn, who, pipeline, order)
    file = None
    if row is not None:
        file = FileRef(row.id, row.name, row.sha256, row.size, row.media_type, row.blob_key)
    return Job(new_id(), who.org_id, order.pipeline, config, file)


def job_of_upload(runtime: Runtime, who: Principal, order: Order, upload: Upload) -> Job:
    """The same for a file that is stored, but not yet known to the database."""
    pipeline = submitted_pipeline(runtime, order.pipeline)
    blob = upload.blob
    file = FileRef(upload.id, upload.name, blob.sha256, blob.size, upload.media_type, blob.key)
    return Job(new_id(), who.org_id, order.pipeline, valid_config(pipeline, order), file)


async def check_first_rows(runtime: Runtime, job: Job) -> None:
    """Refuse a file if its first rows show that it cannot be used. Other problems, and files that
    take too long to check, are left to the job."""
    pipeline, seconds = runtime.pipeline(job.pipeline), runtime.settings.submit_look_seconds
    if job.file is None or not pipeline.checks_first_rows or not seconds:
        return
    if runtime.submit_looks.locked():
        # In a burst of submits the check is skipped: the job makes it, too.
        return
    ctx = stage_context(runtime, StopSign(), seconds, runtime.log)
    ctx.children = runtime.preview_children.for_owner(job.org_id)
    try:
        async with runtime.submit_looks, asyncio.timeout(seconds):
            await pipeline.check_first_rows(job, ctx)
    except BadInput as error:
        if error.code in _ASKS:
            raise
    except Exception as error:
        runtime.log.info("the first rows were not checked", error=repr(error))


async def preview(runtime: Runtime, job: Job) -> Mapping[str, Any]:
    """Raises PREVIEW_TIMEOUT if it takes too long."""
    seconds = runtime.settings.preview_seconds
    ctx = stage_context(runtime, StopSign(), seconds, runtime.log)
    ctx.children = runtime.preview_children.for_owner(job.org_id)
    try:
        async with asyncio.timeout(seconds):
            return await runtime.pipeline(job.pipeline).preview(job, ctx)
    except TimeoutError:
        raise Unavailable(
            "PREVIEW_TIMEOUT",
            f"The preview took longer than {seconds:g} s. Submit the job itself: with the intent"
            " `check` it writes nothing either.",
        ) from None
    except ChildCrashed as error:
        raise BadInput("FILE_CORRUPT", f"The file cannot be read: {error}.") from error
