"""The job that an action of a schedule submits."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any, assert_never

from penstock.app.crawl.runs import RunOrder, run_upload
from penstock.app.downloads import fetched_from
from penstock.app.job_control import get_job
from penstock.app.research.requests import ResearchOrder, research_order
from penstock.app.shop_imports import ShopImport, import_order
from penstock.app.uploads import Upload
from penstock.app.watchers.watchers import get_watcher
from penstock.engine.runtime import Runtime
from penstock.engine.submit import Order, submitted_pipeline, valid_config
from penstock.model.errors import BadInput, NotAllowed
from penstock.model.exports.order import PIPELINE as EXPORT
from penstock.model.network.fetching import FetchPurpose
from penstock.model.places.names import is_selected, matches
from penstock.model.schedules.actions import (
    Action,
    CrawlAction,
    ExportAction,
    FileAction,
    ResearchAction,
    ScanAction,
    ShopAction,
)
from penstock.store.accounts.audit_log import Caller
from penstock.store.crawl.runs import PIPELINE as CRAWL
from penstock.store.database import Connection, Transaction

JobSubmitting = FileAction | ShopAction | CrawlAction | ResearchAction | ExportAction


async def check_action(
    runtime: Runtime, transaction: Transaction, caller: Caller, action: Action
) -> None:
    """Refuse an action that could not be submitted now. No transaction is open meanwhile."""
    if not caller.who.writes:
        raise NotAllowed("INSUFFICIENT_PERMISSIONS", "Viewers may not submit jobs.")
    match action:
        case FileAction():
            await runtime.fetchers[FetchPurpose.FILE].check(action.url)
            pipeline = submitted_pipeline(runtime, action.pipeline)
            if not (pipeline.needs_file or pipeline.takes_file):
                raise BadInput(
                    "INVALID_PARAMETERS", f"action.pipeline: {action.pipeline} takes no file."
                )
            order = Order(action.pipeline, _file_config(action))
        case CrawlAction():
            order = Order(CRAWL, dict(action.config))
        case ShopAction() | ResearchAction():
            async with transaction() as conn:
                order = await _order_of(runtime, conn, caller, action, "")
        case ExportAction():
            await check_export(runtime, transaction, action)
            return
        case ScanAction():
            if action.watcher_id is not None:
                async with transaction() as conn:
                    await get_watcher(conn, action.watcher_id)
            return
        case _:
            assert_never(action)
    valid_config(submitted_pipeline(runtime, order.pipeline), order)


@asynccontextmanager
async def prepared_order(
    runtime: Runtime, caller: Caller, action: JobSubmitting, name: str
) -> AsyncIterator[tuple[Order, Upload | None]]:
    """The job of a run, and its file where it has one; an error leaves nothing of it behind."""
    match action:
        case FileAction():
            async with fetched_from(runtime, action.url) as upload:
                yield (
                    Order(
                        pipeline=action.pipeline, config=_file_config(action), file_id=upload.id,
                        priority=action.priority, name=upload.name,
                        content_sha256=upload.blob.sha256,
                    ),
                    upload,
                )  # fmt: skip
        case CrawlAction():
            plan = [one.model_dump(by_alias=True, exclude_none=True) for one in action.companies]
            asked = RunOrder(plan, action.config, name, action.priority)
            async with run_upload(runtime, caller, asked, None) as (order, upload):
                yield order, upload
        case ShopAction() | ResearchAction():
            async with runtime.db.scoped(caller.who.scope) as conn:
                order = await _order_of(runtime, conn, caller, action, name)
            yield order, None
        case ExportAction():
            await check_export(runtime, partial(runtime.db.scoped, caller.who.scope), action)
            yield (
                Order(
                    pipeline=EXPORT, config=action.config(), priority=action.priority, name=name,
                    internal=True,
                ),
                None,
            )  # fmt: skip
        case _:
            assert_never(action)


async def check_export(runtime: Runtime, transaction: Transaction, action: ExportAction) -> None:
    """Refuse an export of a job, or to a place, that the user does not see."""
    if action.to.url is not None:
        await runtime.fetchers[FetchPurpose.WEBHOOK].check(action.to.url)
    async with transaction() as conn:
        if action.job_id is not None:
            await get_job(conn, action.job_id)
        if action.to.watcher_id is not None:
            watcher = await get_watcher(conn, action.to.watcher_id)
            name = action.name_at(datetime.now(UTC))
            if watcher.enabled and is_selected(name) and matches(watcher.pattern, name):
                raise BadInput(
                    "INVALID_PARAMETERS",
                    f"action.fileName: the watcher itself would take {name!r}, because its pattern"
                    " selects this name. Use another name or another watcher.",
                )


def _file_config(action: FileAction) -> dict[str, Any]:
    config = dict(action.config)
    if action.profile is not None:
        config["profile"] = action.profile
    return config


async def _order_of(
    runtime: Runtime, conn: Connection, caller: Caller, action: ShopAction | ResearchAction,
    name: str,
) -> Order:  # fmt: skip
    if isinstance(action, ShopAction):
        wanted = ShopImport(
            action.connection_id, action.all, None, None if action.all else "last", action.config,
            action.priority, name,
        )  # fmt: skip
        return await import_order(conn, caller, wanted, runtime.settings, None)
    config = {**action.config, "query": action.query}
    if action.sources is not None:
        config["sources"] = action.sources
    return await research_order(conn, caller, ResearchOrder(config, action.priority, name), None)
