"""What `penstock bulk` does on the database, in the name of the local admin."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from penstock.cli.errors import FAILURE, NOT_FOUND, USAGE, CliError
from penstock.cli.orders import priority_of, to_the_end
from penstock.cli.session import local_admin, opened, opened_engine, quiet_logs, transaction
from penstock.engine import bulk
from penstock.model.bulk import BulkAction, JobFilter
from penstock.model.reprocess import Selection
from penstock.model.states import ItemStatus
from penstock.settings import Settings
from penstock.store import accounts
from penstock.store import bulk as store
from penstock.store.bulk import Reach
from penstock.store.database import Connection


def filter_of(chosen: dict[str, Any], everything: bool) -> JobFilter:
    given = {name: value for name, value in chosen.items() if value}
    if bool(given) == everything:
        raise CliError(USAGE, "Say which jobs by options, or all of them by --all.")
    for name in ("created_after", "created_before"):
        if isinstance(at := given.get(name), datetime):
            given[name] = at.replace(tzinfo=at.tzinfo or UTC)
    for name in ("states", "job_ids"):
        if name in given:
            given[name] = tuple(getattr(one, "value", one) for one in given[name])
    return JobFilter(**given)


def params_of(
    action: BulkAction, priority: str | None, statuses: Sequence[Any], codes: Sequence[str], *,
    from_start: bool, keep_attempts: bool,
) -> dict[str, Any]:  # fmt: skip
    if (priority is not None) != (action is BulkAction.PRIORITY):
        raise CliError(USAGE, "--priority goes with `priority`, and `priority` with --priority.")
    if action is BulkAction.PRIORITY:
        return {"priority": priority_of(priority or "")}
    if action is BulkAction.REPROCESS:
        return Selection(
            statuses=tuple(ItemStatus(one.value) for one in statuses),
            codes=tuple(codes),
            reset_attempts=not keep_attempts,
            from_start=from_start,
        ).as_json()
    if statuses or codes or from_start or keep_attempts:
        raise CliError(
            USAGE, "--status, --code, --from-start and --keep-attempts go with `reprocess`."
        )
    return {}


async def counted(wanted: JobFilter) -> dict[str, Any]:
    async with transaction() as conn:
        found = await bulk.count(conn, await _reach(conn, wanted), wanted)
    return {"count": found.count, "capped": found.capped}


async def run(
    action: BulkAction, wanted: JobFilter, params: dict[str, Any], *, detach: bool
) -> dict[str, Any]:
    """Start it and, unless ``detach``, go on with it here: it needs no worker."""
    quiet_logs()
    async with opened_engine(Settings(), "control", listens=False) as parts:
        async with parts.db.transaction() as conn:
            who = await local_admin(conn)
            reach = await _reach(conn, wanted)
            operation_id, _ = await bulk.start(conn, who, action, wanted, params, reach=reach)
        if not detach:
            await to_the_end(parts, operation_id)
        async with parts.db.acquire() as conn:
            return bulk.shape_of(await store.get(conn, operation_id))


async def listed(limit: int) -> list[dict[str, Any]]:
    quiet_logs()
    async with opened(Settings()) as session, session.db.acquire() as conn:
        return [bulk.shape_of(row) for row in await store.listed(conn, None, limit)]


async def found(operation_id: UUID) -> dict[str, Any]:
    async with transaction() as conn:
        return bulk.shape_of(await _require(conn, operation_id))


async def aborted(operation_id: UUID) -> dict[str, Any]:
    async with transaction() as conn:
        await _require(conn, operation_id)
        stopped = await bulk.abort(conn, await local_admin(conn), operation_id, None)
        after = bulk.shape_of(await _require(conn, operation_id))
        if not stopped and after["state"] != "aborted":
            raise CliError(
                FAILURE, f"The operation is {after['state']}: there is nothing to abort."
            )
        return after


async def _reach(conn: Connection, wanted: JobFilter) -> Reach:
    org = None if wanted.org is None else await accounts.find_org(conn, wanted.org)
    return Reach(None if org is None else org["id"], None)


async def _require(conn: Connection, operation_id: UUID) -> Any:
    row = await store.get(conn, operation_id)
    if row is None:
        raise CliError(NOT_FOUND, f"There is no operation {operation_id}.")
    return row
