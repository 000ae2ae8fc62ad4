"""A look at what a job would do, without one: nothing is written."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from penstock.engine.context import StopSign, stage_context
from penstock.engine.parts import Parts
from penstock.engine.submit import Order, file_of_order, submitted_pipeline, valid_config
from penstock.model.errors import BadInput, ChildCrashed, Unavailable
from penstock.model.ids import new_id
from penstock.model.pipeline import FileRef, Job
from penstock.store.accounts import Principal
from penstock.store.database import Connection


async def prepare_preview(parts: Parts, conn: Connection, who: Principal, order: Order) -> Job:
    """The job as its pipeline would see it; refused where submitting it would be."""
    pipeline = submitted_pipeline(parts, order.pipeline)
    config = valid_config(pipeline, order)
    row = await file_of_order(parts, conn, who, pipeline, order)
    file = None
    if row is not None:
        file = FileRef(
            row["id"], row["name"], row["sha256"], row["size"], row["media_type"], row["blob_key"]
        )
    return Job(new_id(), who.org_id, order.pipeline, config, file)


async def preview(parts: Parts, job: Job) -> Mapping[str, Any]:
    """PREVIEW_TIMEOUT where it takes longer than a caller should wait."""
    seconds = parts.settings.preview_seconds
    ctx = stage_context(parts, StopSign(), seconds, parts.log)
    ctx.children = parts.preview_children.for_owner(job.org_id)
    try:
        async with asyncio.timeout(seconds):
            return await parts.pipeline(job.pipeline).preview(job, ctx)
    except TimeoutError:
        raise Unavailable(
            "PREVIEW_TIMEOUT",
            f"The preview took longer than {seconds:g} s. Submit the job itself: with the intent"
            " `check` it writes nothing either.",
        ) from None
    except ChildCrashed as error:
        raise BadInput("FILE_CORRUPT", f"The file cannot be read: {error}.") from error
