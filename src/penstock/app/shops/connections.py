"""Create, rename, rotate, delete and test connections to shops, and browse their products."""

from __future__ import annotations

import asyncio
import ipaddress
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from penstock.app.owned import audit_owned, may_change, require_change
from penstock.engine.runtime import Runtime
from penstock.model.errors import (
    BadInput,
    NotThere,
    PenstockError,
    PermanentError,
    TransientError,
    Waiting,
    error_shape,
)
from penstock.model.ids import new_id
from penstock.model.network.fetching import FetchPurpose
from penstock.model.shops.provider import (
    ListPage,
    Provider,
    ProviderCall,
    ShopConnection,
    ShopInfo,
)
from penstock.model.text.redaction import redacted
from penstock.store.accounts.audit_log import Caller
from penstock.store.database import Connection, Transaction, from_json
from penstock.store.shops import connections as store
from penstock.store.shops.connections import ConnectionRow, NewConnection

MOST_CONNECTIONS = 200
# Products of a deleted connection are counted up to this number.
_MOST_COUNTED = 100_000
_TEST_SECONDS = 25.0
# How long a change of credentials waits for our own limits.
_WAIT_SECONDS = 10.0
_BROWSE_SECONDS = 20.0
_CREDENTIAL = re.compile(r"[\x21-\x7e]{1,500}")


@dataclass(frozen=True, slots=True)
class ConnectionOrder:
    name: str
    provider: str
    address: str
    credentials: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class CheckedOrder(ConnectionOrder):
    """An order that `check_order` accepted, with its address as it is stored."""


@dataclass(frozen=True, slots=True)
class ConnectionTestResult:
    """``error`` is why the shop cannot be read."""

    info: ShopInfo | None
    error: PenstockError | None


def no_such_connection() -> NotThere:
    """The same for an id that is unknown, another org's, or no id at all."""
    return NotThere("NOT_FOUND", "There is no such connection.")


def provider_of(runtime: Runtime, key: str) -> Provider:
    found = runtime.providers.get(key)
    if found is None:
        known = ", ".join(sorted(runtime.providers))
        raise BadInput("INVALID_PARAMETERS", f"provider: choose one of {known}.")
    return found


async def check_order(runtime: Runtime, order: ConnectionOrder) -> CheckedOrder:
    """Refuse what is not allowed. Call this outside of a transaction: it may take long to resolve a
    host name."""
    provider = provider_of(runtime, order.provider)
    credentials = check_credentials(provider, order.credentials)
    address = await check_address(runtime, provider, order.address)
    name = order.name.strip() or urlsplit(address).hostname or provider.title
    return CheckedOrder(name, provider.key, address, credentials)


async def check_address(runtime: Runtime, provider: Provider, given: str) -> str:
    """The address as it is stored. It must lead to the public internet, or where the operator
    allows it to."""
    address = provider.normalize_address(given)
    if len(address) > 1000:
        raise BadInput("INVALID_PARAMETERS", "address: it is too long.")
    await runtime.fetchers[FetchPurpose.PROVIDER].check(address)
    plain = address.startswith("http://") and not provider.signs_requests
    if plain and not is_exempt(runtime, address):
        raise BadInput(
            "INVALID_PARAMETERS",
            f"address: {provider.title} must be reached over https, because the credentials could"
            " be read on the way.",
        )
    return address


def is_exempt(runtime: Runtime, address: str) -> bool:
    """Whether the operator named the host in `PENSTOCK_PROVIDER_ALLOW`."""
    parts = urlsplit(address)
    host, port = parts.hostname or "", parts.port or 80
    exempt = runtime.settings.fetch_exempt(FetchPurpose.PROVIDER)
    try:
        literal = ipaddress.ip_address(host)
    except ValueError:
        return any(one.host == host and one.port in (None, port) for one in exempt)
    return any(one.covers(host, literal, port) for one in exempt)


def check_credentials(provider: Provider, given: Mapping[str, str]) -> dict[str, str]:
    """Messages never contain a value."""
    known = {one.name: one for one in provider.credential_fields}
    unknown = [name for name in given if name not in known]
    if unknown:
        names = ", ".join(known)
        raise BadInput(
            "INVALID_PARAMETERS",
            f"credentials: {provider.title} has no field {unknown[0][:50]!r}. Known: {names}.",
        )
    kept = {name: value.strip() for name, value in given.items() if value.strip()}
    missing = [one.name for one in known.values() if one.required and one.name not in kept]
    if missing:
        raise BadInput("INVALID_PARAMETERS", f"credentials: {missing[0]} is missing.")
    for name, value in kept.items():
        if not _CREDENTIAL.fullmatch(value):
            raise BadInput(
                "INVALID_PARAMETERS",
                f"credentials: {name} must be 1 to 500 printable characters without spaces.",
            )
    return kept


async def get_connection(conn: Connection, connection_id: UUID) -> ConnectionRow:
    found = await store.get_connection(conn, connection_id)
    if found is None:
        raise no_such_connection()
    return found


async def create(
    runtime: Runtime, conn: Connection, caller: Caller, order: CheckedOrder,
    org_id: int | None = None,
) -> ConnectionRow:  # fmt: skip
    """Create a connection of the caller, in their org or in the given one."""
    org_id = caller.who.org_id if org_id is None else org_id
    if await store.count_connections(conn, org_id, MOST_CONNECTIONS) >= MOST_CONNECTIONS:
        raise PermanentError(
            "INVALID_STATE",
            f"An org has at most {MOST_CONNECTIONS} connections. Delete one first.",
        )
    connection_id = new_id()
    sealed = store.credentials.seal(runtime.sealer, connection_id, order.credentials)
    await store.add_connection(
        conn,
        NewConnection(
            connection_id, org_id, caller.who.user_id, order.provider, order.name, order.address,
            sealed,
        ),
    )  # fmt: skip
    made = await get_connection(conn, connection_id)
    await audit_owned(conn, caller, "connection", made, "create", after=_audit_values(made))
    return made


async def rename(conn: Connection, caller: Caller, connection_id: UUID, name: str) -> ConnectionRow:
    before = await _get_changeable(conn, caller, connection_id)
    await store.rename_connection(conn, connection_id, name)
    after = await get_connection(conn, connection_id)
    await audit_owned(
        conn,
        caller,
        "connection",
        after,
        "change",
        before=_audit_values(before),
        after=_audit_values(after),
    )
    return after


async def rotate(
    runtime: Runtime, transaction: Transaction, caller: Caller, connection_id: UUID,
    credentials: Mapping[str, str], *, tested: bool = True,
) -> ConnectionRow:  # fmt: skip
    """Replace the credentials, once the shop accepts the new ones; without ``tested``, at once.
    Running imports use them from their next call on. No transaction is open while the shop is
    asked."""
    async with transaction() as conn:
        found = await _get_changeable(conn, caller, connection_id)
    checked = check_credentials(provider_of(runtime, found.provider), credentials)
    info = None
    if tested:
        info = await _test_credentials(runtime, found, checked)
    sealed = store.credentials.seal(runtime.sealer, connection_id, checked)
    async with transaction() as conn:
        if not await store.rotate_credentials(conn, connection_id, sealed):
            raise no_such_connection()
        if info is not None:
            await store.save_test(conn, connection_id, details=_details(info), error=None)
        after = await get_connection(conn, connection_id)
        audited = {"fields": sorted(checked), "tested": tested}
        await audit_owned(conn, caller, "connection", after, "rotate", after=audited)
    return after


async def _test_credentials(
    runtime: Runtime, row: ConnectionRow, credentials: Mapping[str, str]
) -> ShopInfo:
    """What the shop answers to new credentials. Raises if it does not accept them."""
    shop = ShopConnection(
        row.id, row.org_id, row.provider, row.address, credentials, row.name, details_of(row)
    )
    until = time.monotonic() + _WAIT_SECONDS
    while True:
        result = await _test_shop(runtime, shop)
        if result.info is not None:
            return result.info
        error = result.error
        assert error is not None
        if not isinstance(error, Waiting):
            break
        # Our own limit: this form was perhaps sent after some tests. A short wait is worth it.
        wait = None if error.retry_after_ms is None else error.retry_after_ms / 1000
        if wait is None or time.monotonic() + wait > until:
            message = f"Not tested, and the old credentials are kept: {error.message}"
            raise Waiting(error.code, message, retry_after_ms=error.retry_after_ms) from error
        await asyncio.sleep(wait)
    advice = ""
    if isinstance(error, TransientError):
        advice = " To replace them although the shop does not answer, store them without a test."
    why = error.message.rstrip(".")
    message = f"The new credentials do not work. The old ones are kept. {why}.{advice}"
    raise _provider_error(error, message) from error


async def delete(conn: Connection, caller: Caller, connection_id: UUID) -> int:
    """Delete a connection and its credentials; return how many of its products stay."""
    found = await _get_changeable(conn, caller, connection_id)
    source = source_of(found)
    kept = await store.count_products(conn, found.org_id, source, _MOST_COUNTED)
    if not await store.delete_connection(conn, connection_id):
        raise no_such_connection()
    await audit_owned(
        conn,
        caller,
        "connection",
        found,
        "delete",
        before=_audit_values(found),
        after={"kept": kept},
    )
    return kept


async def test(
    runtime: Runtime, transaction: Transaction, caller: Caller, connection_id: UUID
) -> ConnectionTestResult:
    """Ask the shop, and store the result. No transaction is open meanwhile."""
    async with transaction() as conn:
        row = await get_connection(conn, connection_id)
        shop = await _open_shop(runtime, conn, connection_id)
    result = await _test_shop(runtime, shop)
    info, error = result.info, result.error
    details = None if info is None else _details(info)
    async with transaction() as conn:
        # Our own limits say nothing about the shop.
        if not isinstance(error, Waiting):
            problem = None if error is None else error_shape(error)
            await store.save_test(conn, connection_id, details=details, error=problem)
        outcome = "ok" if error is None else error.code
        await audit_owned(conn, caller, "connection", row, "test", after={"result": outcome})
    return result


def _details(info: ShopInfo) -> dict[str, Any]:
    """What is stored of a successful test."""
    known = {"name": info.name, "currency": info.currency, "products": info.products}
    found = {**known, **{name: one for name, one in info.details.items() if one is not None}}
    return {name: one for name, one in found.items() if one is not None}


async def _test_shop(runtime: Runtime, shop: ShopConnection) -> ConnectionTestResult:
    provider = provider_of(runtime, shop.provider)
    try:
        return ConnectionTestResult(await provider.test(_call(runtime, shop, _TEST_SECONDS)), None)
    except PenstockError as error:
        return ConnectionTestResult(None, error)


async def browse(
    runtime: Runtime, transaction: Transaction, connection_id: UUID, text: str,
    cursor: str | None,
) -> ListPage:  # fmt: skip
    """A page of the shop's products, for choosing some of them."""
    async with transaction() as conn:
        await get_connection(conn, connection_id)
        shop = await _open_shop(runtime, conn, connection_id)
    provider = provider_of(runtime, shop.provider)
    try:
        return await provider.search(_call(runtime, shop, _BROWSE_SECONDS), text, cursor)
    except Waiting:
        raise
    except PenstockError as error:
        raise _provider_error(error, error.message) from error


def _provider_error(error: PenstockError, message: str) -> PenstockError:
    """The shop's refusal must not look like one of ours: 401 would mean the caller's own key."""
    kind = TransientError if isinstance(error, TransientError) else PermanentError
    return kind(
        "PROVIDER_FAILED", redacted(message), retry_after_ms=error.retry_after_ms,
        cause=error.code,
    )  # fmt: skip


def _call(runtime: Runtime, shop: ShopConnection, seconds: float) -> ProviderCall:
    assert runtime.shop_calls is not None
    return runtime.shop_calls(shop, seconds)


async def _open_shop(runtime: Runtime, conn: Connection, connection_id: UUID) -> ShopConnection:
    found = await store.open_connection(conn, runtime.sealer, connection_id)
    if found is None:
        raise no_such_connection()
    return found


def source_of(row: ConnectionRow) -> str:
    """The source of the connection's products in the catalog."""
    return ShopConnection(row.id, row.org_id, row.provider, row.address, {}).source


async def _get_changeable(conn: Connection, caller: Caller, connection_id: UUID) -> ConnectionRow:
    found = await get_connection(conn, connection_id)
    require_change(may_change(caller, found), "connection")
    return found


def details_of(row: ConnectionRow) -> Mapping[str, Any]:
    found: Mapping[str, Any] = from_json(row.details) or {}
    return found


def _audit_values(row: ConnectionRow) -> dict[str, Any]:
    return {"name": row.name, "provider": row.provider, "address": row.address}
