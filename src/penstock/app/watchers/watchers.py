"""Create, change, test and delete watchers of places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from penstock.app.owned import audit_owned, may_change, require_change
from penstock.engine.runtime import Runtime
from penstock.engine.submit import Order, require_profile, submitted_pipeline, valid_config
from penstock.model.errors import (
    BadInput,
    NotThere,
    PenstockError,
    PermanentError,
    TransientError,
)
from penstock.model.ids import new_id
from penstock.model.places.names import depth_of, is_selected, matches, patterns_of
from penstock.model.places.ports import Place, PlaceAddress, PlaceFile, PlaceKind, PlaceLimits
from penstock.model.text.redaction import redacted
from penstock.store.accounts.audit_log import Caller
from penstock.store.database import Connection, Transaction
from penstock.store.watchers import files
from penstock.store.watchers import watchers as store
from penstock.store.watchers.watchers import NewWatcher, WatcherRow, WatcherTask

MOST_WATCHERS = 200
_TEST_SECONDS = 20.0
_TEST_FILES = 10
_MAX_PATTERNS = 20


@dataclass(frozen=True, slots=True)
class WatcherOrder:
    kind: str
    address: str
    credentials: Mapping[str, str]
    task: WatcherTask


@dataclass(frozen=True, slots=True)
class CheckedOrder(WatcherOrder):
    """An order that `check_order` accepted, with its address as it is stored."""


@dataclass(frozen=True, slots=True)
class WatcherTest:
    """What a test found: how many files the place has, how many of them match, and the first of
    those; or why it cannot be read."""

    listed: int = 0
    matching: int = 0
    first: tuple[PlaceFile, ...] = ()
    error: PenstockError | None = None


def no_such_watcher() -> NotThere:
    """The same for an id that is unknown, another org's, or no id at all."""
    return NotThere("NOT_FOUND", "There is no such watcher.")


async def check_order(runtime: Runtime, caller: Caller, order: WatcherOrder) -> CheckedOrder:
    """Refuse what is not allowed. Call this outside of a transaction: it may take long to resolve a
    host name."""
    check_task(runtime, order.task)
    kind = PlaceKind(order.kind)
    _require_readable(kind, order.task)
    wanted = PlaceAddress(kind, order.address, caller.who.org, order.credentials)
    address = await runtime.places.check(wanted)
    return CheckedOrder(order.kind, address, order.credentials, order.task)


def check_task(runtime: Runtime, task: WatcherTask) -> None:
    if not 1 <= len(patterns_of(task.pattern)) <= _MAX_PATTERNS:
        raise BadInput(
            "INVALID_PARAMETERS",
            f"pattern: name 1 to {_MAX_PATTERNS} patterns, such as `*.csv, *.xlsx`.",
        )
    pipeline = submitted_pipeline(runtime, str(task.job["pipeline"]))
    if not pipeline.needs_file and not pipeline.takes_file:
        raise BadInput(
            "INVALID_PARAMETERS", f"job: pipeline {pipeline.name} takes no file.", field="job"
        )
    valid_config(pipeline, order_of(task))


def _require_readable(kind: PlaceKind, task: WatcherTask) -> None:
    if kind is PlaceKind.IMAP and task.after_taken != "keep":
        raise BadInput("INVALID_PARAMETERS", "then: mailboxes are only read; choose `keep`.")


def order_of(task: WatcherTask) -> Order:
    return Order(pipeline=str(task.job["pipeline"]), config=dict(task.job["config"]))


async def _require_profile(runtime: Runtime, conn: Connection, org_id: int, of: Order) -> None:
    pipeline = submitted_pipeline(runtime, of.pipeline)
    await require_profile(conn, org_id, pipeline.traits(valid_config(pipeline, of)))


async def get_watcher(conn: Connection, watcher_id: UUID) -> WatcherRow:
    found = await store.get_watcher(conn, watcher_id)
    if found is None:
        raise no_such_watcher()
    return found


async def require_place(runtime: Runtime, caller: Caller, order: CheckedOrder) -> str | None:
    """Refuse a place that cannot be read with these credentials. Returns the key of its server.
    Call this outside of a transaction."""
    address = PlaceAddress(PlaceKind(order.kind), order.address, caller.who.org, order.credentials)
    try:
        return (await _test_place(runtime, address, order.task.pattern))[1]
    except PenstockError as error:
        told = (
            f"The place cannot be read, so the watcher is not created. {error.message}"
            " To create it all the same, create it without a test."
        )
        raise _failed(error, told) from error


def _failed(error: PenstockError, message: str) -> PenstockError:
    """The refusal of the place must not look like one of ours."""
    kind = TransientError if isinstance(error, TransientError) else PermanentError
    return kind(
        "PLACE_FAILED", redacted(message), retry_after_ms=error.retry_after_ms, cause=error.code
    )


async def create(
    runtime: Runtime, conn: Connection, caller: Caller, order: CheckedOrder,
    host_key: str | None = None,
) -> WatcherRow:  # fmt: skip
    """Create a watcher of the caller, in whose name its jobs will run."""
    org_id = caller.who.org_id
    if await store.count_watchers(conn, org_id, MOST_WATCHERS) >= MOST_WATCHERS:
        raise PermanentError(
            "INVALID_STATE", f"An org has at most {MOST_WATCHERS} watchers. Delete one first."
        )
    await _require_profile(runtime, conn, org_id, order_of(order.task))
    watcher_id = new_id()
    sealed = store.seal_credentials(runtime.sealer, watcher_id, order.credentials)
    await store.add_watcher(
        conn,
        NewWatcher(
            watcher_id, org_id, caller.who.user_id, order.kind, order.address, sealed, order.task
        ),
    )
    if host_key is not None:
        await store.save_host_key(conn, watcher_id, host_key)
    made = await get_watcher(conn, watcher_id)
    await audit_owned(conn, caller, "watcher", made, "create", after=_audit_values(made))
    return made


async def change(
    runtime: Runtime, conn: Connection, caller: Caller, watcher_id: UUID, given: Mapping[str, Any]
) -> WatcherRow:
    """Change some of the task. The place stays: credentials are never sent elsewhere."""
    before = await _get_changeable(conn, caller, watcher_id)
    task = replace(before.task, **given)
    check_task(runtime, task)
    _require_readable(PlaceKind(before.kind), task)
    await _require_profile(runtime, conn, before.org_id, order_of(task))
    await store.change_watcher(conn, watcher_id, task)
    after = await get_watcher(conn, watcher_id)
    await audit_owned(
        conn,
        caller,
        "watcher",
        after,
        "change",
        before=_audit_values(before),
        after=_audit_values(after),
    )
    return after


async def rotate(
    runtime: Runtime, transaction: Transaction, caller: Caller, watcher_id: UUID,
    credentials: Mapping[str, str], *, tested: bool = True,
) -> WatcherRow:  # fmt: skip
    """Replace the credentials, once the place can be read with the new ones; without ``tested``,
    at once. The key of the server is learned again."""
    async with transaction() as conn:
        found = await _get_changeable(conn, caller, watcher_id)
    address = PlaceAddress(PlaceKind(found.kind), found.address, found.org, credentials)
    await runtime.places.check(address)
    host_key = await _accepted(runtime, address, found.pattern) if tested else None
    async with transaction() as conn:
        sealed = store.seal_credentials(runtime.sealer, watcher_id, credentials)
        if not await store.rotate_credentials(conn, watcher_id, sealed):
            raise no_such_watcher()
        if host_key is not None:
            await store.save_host_key(conn, watcher_id, host_key)
        after = await get_watcher(conn, watcher_id)
        audited = {"fields": sorted(credentials), "tested": tested}
        await audit_owned(conn, caller, "watcher", after, "rotate", after=audited)
    return after


async def _accepted(runtime: Runtime, address: PlaceAddress, pattern: str) -> str | None:
    """The key of the server that accepts new credentials. Raises if it does not accept them."""
    try:
        return (await _test_place(runtime, address, pattern))[1]
    except PenstockError as error:
        told = (
            f"The new credentials do not work. The old ones are kept. {error.message}"
            " To replace them all the same, store them without a test."
        )
        raise _failed(error, told) from error


async def delete(conn: Connection, caller: Caller, watcher_id: UUID) -> None:
    found = await _get_changeable(conn, caller, watcher_id)
    if not await store.delete_watcher(conn, watcher_id):
        raise no_such_watcher()
    await audit_owned(conn, caller, "watcher", found, "delete", before=_audit_values(found))


async def retry_file(
    conn: Connection, caller: Caller, watcher_id: UUID, file_id: UUID
) -> WatcherRow:
    """Let the next scan try a file again that failed."""
    found = await get_watcher(conn, watcher_id)
    name = await files.retry(conn, watcher_id, file_id)
    if name is None:
        raise PermanentError("INVALID_STATE", "There is no such file that failed.")
    await audit_owned(conn, caller, "watcher", found, "retry", after={"file": name})
    return found


def address_of(row: WatcherRow, credentials: Mapping[str, str]) -> PlaceAddress:
    return PlaceAddress(PlaceKind(row.kind), row.address, row.org, credentials, row.host_key)


async def test(
    runtime: Runtime, transaction: Transaction, caller: Caller, watcher_id: UUID
) -> WatcherTest:
    """List the place. No transaction is open meanwhile, and nothing is taken."""
    async with transaction() as conn:
        row = await get_watcher(conn, watcher_id)
        credentials = await store.open_credentials(conn, runtime.sealer, watcher_id)
    host_key = None
    try:
        result, host_key = await _test_place(runtime, address_of(row, credentials), row.pattern)
    except PenstockError as error:
        result = WatcherTest(error=error)
    async with transaction() as conn:
        if host_key is not None:
            await store.save_host_key(conn, watcher_id, host_key)
        outcome = "ok" if result.error is None else result.error.code
        await audit_owned(conn, caller, "watcher", row, "test", after={"result": outcome})
    return result


async def _test_place(
    runtime: Runtime, address: PlaceAddress, pattern: str
) -> tuple[WatcherTest, str | None]:
    """What a place contains, and the key of its server."""
    limits = PlaceLimits(wait_seconds=_TEST_SECONDS / 2, list_seconds=_TEST_SECONDS)
    async with runtime.places.open(address, limits) as place:
        return await _list_matching(place, pattern), place.host_key


async def _list_matching(place: Place, pattern: str) -> WatcherTest:
    found = (await place.list(depth_of(pattern))).files
    fitting = [one for one in found if is_selected(one.name) and matches(pattern, one.name)]
    return WatcherTest(len(found), len(fitting), tuple(fitting[:_TEST_FILES]))


async def _get_changeable(conn: Connection, caller: Caller, watcher_id: UUID) -> WatcherRow:
    found = await get_watcher(conn, watcher_id)
    require_change(may_change(caller, found), "watcher")
    return found


def _audit_values(row: WatcherRow) -> dict[str, Any]:
    task = row.task
    return {
        "name": row.name, "kind": row.kind, "address": row.address, "pattern": row.pattern,
        "then": row.after_taken, "job": task.job, "enabled": row.enabled,
        "everySeconds": row.every_seconds,
    }  # fmt: skip
