"""Accept a job: validate everything and write it in one transaction, or refuse it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import orjson
from pydantic import ValidationError

from penstock.engine.idempotency import Answer, digest_of, new_key, replay
from penstock.engine.queue_depth import Queue
from penstock.engine.runtime import Runtime, first_problem
from penstock.model.backpressure import Admission, admission, retry_after_ms
from penstock.model.errors import BadInput, NotThere, Unavailable
from penstock.model.fairness import (
    DEFAULT_PRIORITY,
    MAX_PRIORITY,
    PLAN_WEIGHTS,
    jobs_ahead,
    lane_of,
)
from penstock.model.ids import new_id
from penstock.model.monitor.traces import TraceParent, current_trace
from penstock.model.network.token_bucket import Rate
from penstock.model.pipeline import MAX_INLINE_ROWS, Pipeline, Row, Traits
from penstock.model.progress import shares_before
from penstock.store.accounts.accounts import Principal
from penstock.store.catalog import profiles
from penstock.store.database import Connection
from penstock.store.jobs import jobs
from penstock.store.jobs.job_rows import FileRow
from penstock.store.jobs.jobs import FINISH, INGEST, NewJob, NewKey, NewStage
from penstock.store.jobs.ranges import RANGES
from penstock.store.research import requests

MAX_CONFIG_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Order:
    """A request for a new job."""

    pipeline: str = "extraction"
    config: dict[str, Any] = field(default_factory=dict)
    file_id: UUID | None = None
    # Files beyond the first one.
    more_files: tuple[UUID, ...] = ()
    priority: int = DEFAULT_PRIORITY
    name: str = ""
    due_at: datetime | None = None
    ip: str | None = None
    idempotency_key: str | None = None
    # Part of the idempotency digest: the content of the uploaded file.
    content_sha256: str = ""
    # The caller processes the job itself, so it does not wait in the queue.
    at_once: bool = False
    # Created by the system itself (deliveries, schedules): internal pipelines and standing jobs are
    # allowed, and the job is neither delayed nor refused by the load of the queue.
    internal: bool = False
    # The origin of a repeated job: `job:<id>` or `dead-letter:<id>`.
    made_from: str = ""
    # The trace of the request that is handled now.
    trace: TraceParent | None = field(default_factory=current_trace)


@dataclass(frozen=True, slots=True)
class Receipt:
    """The answer, exactly as it will be repeated for the same idempotency key."""

    job_id: UUID
    body: str
    lane: str
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request that passed all checks. ``job`` is None if it was accepted before."""

    receipt: Receipt
    job: NewJob | None = None
    key: NewKey | None = None


async def submit(
    runtime: Runtime, conn: Connection, who: Principal, order: Order, asks: Principal | None = None
) -> Receipt:
    """Write a job of ``who`` in the caller's transaction; wake `Receipt.lane` after the commit.
    ``asks`` is the principal that made the request, if that is another one."""
    prepared = await prepare(runtime, conn, who, order, asks)
    await write(conn, [prepared])
    return prepared.receipt


async def write(conn: Connection, prepared: Sequence[Prepared], notify: str | None = None) -> None:
    """Write the jobs that were prepared on this connection, all or none. The commit wakes workers
    that listen on the channel ``notify``."""
    new = [one.job for one in prepared if one.job is not None]
    if new:
        await jobs.add_jobs(conn, new, notify)
        await jobs.add_keys(conn, [one.key for one in prepared if one.key is not None])


async def prepare(
    runtime: Runtime, conn: Connection, who: Principal, order: Order, asks: Principal | None = None
) -> Prepared:
    """Check a request and build its job, or raise; writes nothing. An idempotency key is locked
    until the transaction ends."""
    digest = b""
    key_of = asks or who
    if order.idempotency_key is not None:
        digest = _digest(order)
        known = await replay(conn, key_of, order.idempotency_key, digest)
        if known is not None:
            job_id = UUID(orjson.loads(known.body)["jobId"])
            return Prepared(Receipt(job_id, known.body, "", replayed=True))
    if order.internal:
        pipeline = runtime.pipeline(order.pipeline)
    else:
        pipeline = submitted_pipeline(runtime, order.pipeline)
    config = valid_config(pipeline, order)
    order = _with_priority(pipeline, config, order)
    pipeline.check_order(config, 0 if order.file_id is None else 1 + len(order.more_files))
    traits = pipeline.traits(config)
    if traits.standing and not order.internal and not runtime.settings.test_pipelines:
        raise BadInput("INVALID_CONFIG", "Jobs that never end are not submitted.")
    await require_profile(conn, who.org_id, traits)
    queue = await runtime.queue.look(conn)
    is_exempt = order.at_once or order.internal or traits.standing
    delay = None if is_exempt else _verdict(runtime, queue, who)
    # No await since the look: concurrent submits see each other's jobs.
    ahead = _join(runtime, queue, who, order, traits, delay)
    wait = round(ahead * queue.job_ms)
    if delay is not None:
        until = await jobs.delayed_until(conn, order.due_at, runtime.settings.depth_delay_ms)
        order, wait = replace(order, due_at=until), max(wait, runtime.settings.depth_delay_ms)
    if not is_exempt:
        order = _in_lane(runtime, who, order)
    if order.due_at is not None:
        wait = max(wait, round((order.due_at - datetime.now(UTC)) / timedelta(milliseconds=1)))
    file = await file_of_order(runtime, conn, who, pipeline, order)
    # Last, since a request that is refused must not count.
    order = await _meter(runtime, conn, who, pipeline, order)
    job = _new_job(who, order, pipeline, config, file, _inline(pipeline, config, traits), delay)
    job = replace(job, told={**job.told, "position": ahead + 1, "estimatedWaitMs": wait})
    body = _body(job, ahead + 1, wait)
    key = None
    if order.idempotency_key is not None:
        accepted = Answer(202, body)
        key = new_key(key_of, order.idempotency_key, digest, accepted, job.id)
    return Prepared(Receipt(job.id, body, job.lane), job, key)


def _join(
    runtime: Runtime, queue: Queue, who: Principal, order: Order, traits: Traits, delay: str | None
) -> int:
    """Count the job as waiting; answers how many are ahead of it."""
    weight = PLAN_WEIGHTS[who.plan]
    ahead = jobs_ahead(queue.lines, who.org_id, weight, order.priority)
    if not traits.standing:
        is_delayed = delay is not None or order.due_at is not None
        runtime.queue.joined(who.org_id, weight, order.priority, delayed=is_delayed)
    return ahead


def _body(job: NewJob, position: int, wait: int) -> str:
    answer: dict[str, Any] = {"jobId": str(job.id), "position": position, "estimatedWaitMs": wait}
    if job.due_at is not None:
        answer["delayedUntil"] = job.due_at
    return orjson.dumps(answer, option=orjson.OPT_UTC_Z).decode()


def _with_priority(pipeline: Pipeline, config: Any, order: Order) -> Order:
    wanted = pipeline.priority_of(config)
    return order if wanted is None else replace(order, priority=wanted)


async def _meter(
    runtime: Runtime, conn: Connection, who: Principal, pipeline: Pipeline, order: Order
) -> Order:
    """Count the job towards the quotas of its user and org, and begin it at the pace of its kind.
    Raises `QUOTA_EXCEEDED`."""
    meter, settings = pipeline.meter, runtime.settings
    if meter is None or order.internal:
        return order
    quota = await requests.quota_of(conn, who.org_id, settings.research_quota)
    await requests.count(conn, who.org_id, who.user_id, quota, datetime.now(UTC))
    begin = await requests.begin_at(conn, meter, Rate.parse(settings.research_rate))
    if begin is None:
        return order
    return replace(order, due_at=max(begin, order.due_at) if order.due_at else begin)


def _in_lane(runtime: Runtime, who: Principal, order: Order) -> Order:
    """With a later begin, where the lane's limit is reached."""
    now = datetime.now(UTC)
    held = runtime.lane_limit.delay_ms(lane_of(who.plan, who.org), now.timestamp() * 1000)
    if not held:
        return order
    until = now + timedelta(milliseconds=held)
    return replace(order, due_at=max(until, order.due_at) if order.due_at else until)


def _inline(pipeline: Pipeline, config: Any, traits: Traits) -> Sequence[Row] | None:
    """Rows that are written with the job; None: an ingest reads them. A standing job may have none:
    its items are added later."""
    rows = None if traits.needs_full_input else pipeline.inline(config)
    if rows is None or len(rows) > MAX_INLINE_ROWS or not (rows or traits.standing):
        return None
    return rows


def submitted_pipeline(runtime: Runtime, name: str) -> Pipeline:
    """The pipeline with that name, if its jobs may be submitted."""
    allowed = {one.name: one for one in runtime.pipelines.values() if not one.internal}
    if name not in allowed:
        raise BadInput(
            "INVALID_PARAMETERS",
            f"There is no pipeline {name[:100]!r} to submit jobs to. Known: "
            f"{', '.join(sorted(allowed))}.",
        )
    return allowed[name]


async def admit(runtime: Runtime, conn: Connection, who: Principal) -> None:
    """Refuse early if the queue is too full for any job of this org."""
    _verdict(runtime, await runtime.queue.look(conn), who)


def _verdict(runtime: Runtime, queue: Queue, who: Principal) -> str | None:
    """Refuse a job of this org if the queue is too full; answers the reason if the job is accepted
    but delayed."""
    verdict = admission(who.plan, queue.level)
    if verdict is Admission.ACCEPT:
        return None
    found = f"The queue is at level {queue.level} with {queue.depth:,} jobs"
    if verdict is Admission.DELAY:
        return f"{found}, so that jobs of plan {who.plan} begin later."
    wait = retry_after_ms(who.plan, queue.depth, runtime.queue.levels, queue.job_ms)
    raise Unavailable(
        "QUEUE_FULL",
        f"{found} and takes no more of plan {who.plan} for now. Nothing was stored: send the same "
        f"request again in {math.ceil(wait / 1000)} s.",
        retry_after_ms=wait,
        level=queue.level,
        depth=queue.depth,
        plan=who.plan,
    )


async def is_known(conn: Connection, who: Principal, key: str) -> bool:
    """Whether a job was accepted with this key: then it is answered even if the queue is full."""
    return await jobs.find_key(conn, who.org_id, who.user_id, key) is not None


def _new_job(
    who: Principal,
    order: Order,
    pipeline: Pipeline,
    config: Any,
    file: FileRow | None,
    rows: list[Row] | Any,
    delay: str | None,
) -> NewJob:
    name = order.name or (file.name if file is not None else order.pipeline)
    traits = pipeline.traits(config)
    told = {"pipeline": order.pipeline, "name": name[:200], "priority": order.priority}
    if order.made_from:
        told["madeFrom"] = order.made_from
    if delay is not None:
        told |= {"delayedUntil": order.due_at, "reason": delay}
    return NewJob(
        id=new_id(),
        org_id=who.org_id,
        user_id=who.user_id,
        pipeline=order.pipeline,
        # As requested, without defaults: workers of the previous version do not know newer options.
        config=config.model_dump_json(by_alias=True, exclude_unset=True),
        lane=lane_of(who.plan, who.org),
        priority=order.priority,
        stages=stages_of(pipeline, config, rows),
        name=name[:200],
        file_id=order.file_id,
        more_files=order.more_files,
        bytes_total=0 if file is None else file.size,
        ip=order.ip,
        standing=traits.standing,
        needs_finish=traits.summarizes,
        due_at=order.due_at,
        rows=rows,
        told=told,
        traceparent=None if order.trace is None else str(order.trace),
    )


def stages_of(pipeline: Pipeline, config: Any, rows: Any) -> list[NewStage]:
    """Ingest, the pipeline's stages, and finish. A job without rows to read skips the ingest."""
    stages = pipeline.stages(config)
    before = shares_before([stage.share for stage in stages])
    out = []
    if rows is None:
        out = [NewStage(INGEST, "ingest", "ingest", ready=True)]
        if pipeline.ranges is not None:
            # The first stage over whole ranges of rows; a worker that serves it takes both.
            out.append(NewStage(RANGES, "ranges", stages[0].name))
    for place, stage in enumerate(stages):
        waiting = len(rows) if rows and place == 0 else 0
        ready = waiting > 0
        shown = NewStage(
            place, "items", stage.name, stage.barrier, before[place], waiting, ready,
            stage.pace_ms, not stage.grouped,
        )  # fmt: skip
        out.append(shown)
    out.append(NewStage(FINISH, "finish", "finish"))
    return out


def valid_config(pipeline: Pipeline, order: Order) -> Any:
    if not 0 <= order.priority <= MAX_PRIORITY:
        raise BadInput("INVALID_PARAMETERS", f"priority must be from 0 to {MAX_PRIORITY}.")
    text = orjson.dumps(order.config)
    if len(text) > MAX_CONFIG_BYTES:
        raise BadInput(
            "INVALID_CONFIG",
            f"The config has {len(text):,} bytes; at most {MAX_CONFIG_BYTES:,} are allowed. Keep a"
            " long mapping as a profile, and name it.",
            limit=MAX_CONFIG_BYTES,
        )
    try:
        return pipeline.Config.model_validate_json(text)
    except ValidationError as error:
        unknown = any(one["type"] == "extra_forbidden" for one in error.errors())
        raise BadInput(
            "UNKNOWN_FIELD" if unknown else "INVALID_CONFIG", first_problem(error)
        ) from error


async def require_profile(conn: Connection, org_id: int, traits: Traits) -> None:
    """Refuse an unknown profile when the job is submitted, not when it runs."""
    name = traits.profile
    if name is not None and await profiles.get(conn, org_id, name) is None:
        raise BadInput(
            "INVALID_CONFIG", f"profile: there is no profile {name!r}. Save it first, or leave it"
            " out.", profile=name,
        )  # fmt: skip


async def file_of_order(
    runtime: Runtime, conn: Connection, who: Principal, pipeline: Pipeline, order: Order
) -> FileRow | None:
    """The row of the first file, if the pipeline accepts the heads of all files."""
    if order.file_id is None:
        if pipeline.needs_file:
            raise BadInput(
                "INVALID_PARAMETERS",
                f"Pipeline {pipeline.name} needs a file: send it as `file`, or its id as `fileId`.",
            )
        return None
    if not pipeline.needs_file and not pipeline.takes_file:
        raise BadInput("INVALID_PARAMETERS", f"Pipeline {pipeline.name} takes no file.")
    if 1 + len(order.more_files) > pipeline.max_files:
        raise BadInput(
            "INVALID_PARAMETERS",
            f"A job of pipeline {pipeline.name} takes {pipeline.max_files} of your"
            f" {1 + len(order.more_files)} files. Create a job for each.",
        )
    file = await _checked_file(runtime, conn, who, pipeline, order.file_id)
    for file_id in order.more_files:
        await _checked_file(runtime, conn, who, pipeline, file_id)
    return file


async def _checked_file(
    runtime: Runtime, conn: Connection, who: Principal, pipeline: Pipeline, file_id: UUID
) -> FileRow:
    file = await jobs.get_file(conn, file_id)
    # Admins see files of other orgs, but a job must not use a file of another org.
    if file is None or file.org_id != who.org_id:
        raise NotThere("FILE_NOT_FOUND", f"There is no file {file_id}.")
    pipeline.check(await runtime.blobs.head(file.blob_key), file.size, file.name)
    return file


def _digest(order: Order) -> bytes:
    file = order.content_sha256 or str(order.file_id or "")
    meaning = [order.pipeline, order.config, file, order.priority, order.name, str(order.due_at)]
    if order.made_from:
        meaning.append(order.made_from)
    if order.more_files:
        meaning.append([str(one) for one in order.more_files])
    return digest_of(meaning)
