"""Accept a job: everything valid and durable, in one transaction, or nothing at all."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from pydantic import ValidationError

from penstock.engine.parts import Parts, first_problem
from penstock.model.errors import BadInput, NotThere, PermanentError
from penstock.model.fairness import DEFAULT_PRIORITY, MAX_PRIORITY, lane_of
from penstock.model.ids import new_id
from penstock.model.pipeline import MOST_INLINE_ROWS, Pipeline, Row
from penstock.model.progress import shares_before
from penstock.store import jobs
from penstock.store.accounts import Principal
from penstock.store.database import Connection
from penstock.store.jobs import FINISH, INGEST, NewJob, NewStage


@dataclass(frozen=True, slots=True)
class Order:
    """What someone asks for."""

    pipeline: str = "extraction"
    config: dict[str, Any] = field(default_factory=dict)
    file_id: UUID | None = None
    priority: int = DEFAULT_PRIORITY
    name: str = ""
    due_at: datetime | None = None
    ip: str | None = None
    idempotency_key: str | None = None
    # What the key stands for besides the fields above: the uploaded file's content.
    content_sha256: str = ""


@dataclass(frozen=True, slots=True)
class Receipt:
    """The answer, exactly as it will be repeated for the same idempotency key."""

    job_id: UUID
    body: str
    lane: str
    replayed: bool = False


async def submit(parts: Parts, conn: Connection, who: Principal, order: Order) -> Receipt:
    """Write the job in the caller's transaction; wake `Receipt.lane` after the commit."""
    digest = _digest(order)
    if order.idempotency_key is not None:
        replay = await _replay(conn, who, order.idempotency_key, digest)
        if replay is not None:
            return replay
    pipeline = parts.pipeline(order.pipeline)
    config = _valid_config(pipeline, order)
    file = await _file(parts, conn, who, pipeline, order)
    rows = None if pipeline.traits(config).learns else pipeline.inline(config)
    if rows is not None and not 0 < len(rows) <= MOST_INLINE_ROWS:
        rows = None
    job = _new_job(who, order, pipeline, config, file, rows)
    await jobs.add_job(conn, job)
    position, wait = await parts.queue.place(conn)
    answer = {"jobId": str(job.id), "position": position, "estimatedWaitMs": wait}
    body = orjson.dumps(answer).decode()
    if order.idempotency_key is not None:
        await jobs.add_key(
            conn, who.org_id, who.user_id, order.idempotency_key, digest, job.id, body
        )
    return Receipt(job.id, body, job.lane)


def _new_job(
    who: Principal, order: Order, pipeline: Pipeline, config: Any, file: Any, rows: list[Row] | Any
) -> NewJob:
    name = order.name or (file["name"] if file is not None else order.pipeline)
    traits = pipeline.traits(config)
    return NewJob(
        id=new_id(),
        org_id=who.org_id,
        user_id=who.user_id,
        pipeline=order.pipeline,
        config=config.model_dump_json(by_alias=True),
        lane=lane_of(who.plan, who.org),
        priority=order.priority,
        stages=_stages(pipeline, config, rows),
        name=name[:200],
        file_id=order.file_id,
        bytes_total=0 if file is None else file["size"],
        ip=order.ip,
        standing=traits.standing,
        needs_finish=traits.summarizes,
        due_at=order.due_at,
        rows=rows,
        told={"pipeline": order.pipeline, "name": name[:200], "priority": order.priority},
    )


def _stages(pipeline: Pipeline, config: Any, rows: Any) -> list[NewStage]:
    """Ingest, the pipeline's stages, and finish. A job without rows to read skips the ingest."""
    stages = pipeline.stages(config)
    before = shares_before([stage.share for stage in stages])
    out = [] if rows else [NewStage(INGEST, "ingest", "ingest", ready=True)]
    for place, stage in enumerate(stages):
        waiting = len(rows) if rows and place == 0 else 0
        ready = waiting > 0
        out.append(
            NewStage(place, "items", stage.name, stage.barrier, before[place], waiting, ready)
        )
    out.append(NewStage(FINISH, "finish", "finish"))
    return out


def _valid_config(pipeline: Pipeline, order: Order) -> Any:
    if not 0 <= order.priority <= MAX_PRIORITY:
        raise BadInput("INVALID_PARAMETERS", f"priority must be from 0 to {MAX_PRIORITY}.")
    try:
        return pipeline.Config.model_validate_json(orjson.dumps(order.config))
    except ValidationError as error:
        unknown = any(one["type"] == "extra_forbidden" for one in error.errors())
        raise BadInput(
            "UNKNOWN_FIELD" if unknown else "INVALID_CONFIG", first_problem(error)
        ) from error


async def _file(
    parts: Parts, conn: Connection, who: Principal, pipeline: Pipeline, order: Order
) -> Any:
    """The file's row, if the pipeline can make anything of the file at first sight."""
    if order.file_id is None:
        if pipeline.needs_file:
            raise BadInput(
                "INVALID_PARAMETERS",
                f"Pipeline {pipeline.name} needs a file: send it as `file`, or its id as `fileId`.",
            )
        return None
    if not pipeline.needs_file:
        raise BadInput("INVALID_PARAMETERS", f"Pipeline {pipeline.name} takes no file.")
    file = await jobs.get_file(conn, order.file_id)
    # An admin sees other orgs' files, but a job of theirs must not carry one into their own org.
    if file is None or file["org_id"] != who.org_id:
        raise NotThere("FILE_NOT_FOUND", f"There is no file {order.file_id}.")
    pipeline.check(await parts.blobs.head(file["blob_key"]), file["size"], file["name"])
    return file


def _digest(order: Order) -> bytes:
    file = order.content_sha256 or str(order.file_id or "")
    meaning = [order.pipeline, order.config, file, order.priority, order.name, str(order.due_at)]
    return hashlib.sha256(orjson.dumps(meaning, option=orjson.OPT_SORT_KEYS)).digest()


async def _replay(conn: Connection, who: Principal, key: str, digest: bytes) -> Receipt | None:
    if not await jobs.try_key(conn, who.org_id, who.user_id, key):
        raise PermanentError(
            "IDEMPOTENCY_CONFLICT", "A request with this Idempotency-Key is still under way."
        )
    known = await jobs.find_key(conn, who.org_id, who.user_id, key)
    if known is None:
        return None
    if known[0] != digest:
        raise PermanentError(
            "IDEMPOTENCY_MISMATCH", "This Idempotency-Key was used for a different request."
        )
    return Receipt(UUID(orjson.loads(known[1])["jobId"]), known[1], "", replayed=True)
