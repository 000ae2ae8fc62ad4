"""Create, change, delete and test configured sources."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from penstock.app.owned import audit_owned, may_change, require_change
from penstock.app.shops.connections import is_exempt
from penstock.engine.runtime import Runtime
from penstock.model.errors import BadInput, NotThere, PermanentError, Waiting, error_shape
from penstock.model.ids import new_id
from penstock.model.network.fetching import FetchPurpose
from penstock.model.ports import Profiles
from penstock.model.sources.config import SourceConfig
from penstock.model.sources.document import SourceDocument
from penstock.model.sources.search import PROVIDER, SearchQuery, SourceTrial
from penstock.store.accounts.audit_log import Caller
from penstock.store.database import Connection, Transaction
from penstock.store.providers import states
from penstock.store.sources import sources as store
from penstock.store.sources.sources import SourceRow

MOST_SOURCES = 100
_CREDENTIAL = re.compile(r"[\x20-\x7e]{1,2000}")


def no_such_source() -> NotThere:
    """The same for an id that is unknown, another org's, or no id at all."""
    return NotThere("NOT_FOUND", "There is no such source.")


async def check_document(runtime: Runtime, document: SourceDocument) -> SourceConfig:
    """The configuration, if it can be used. Call this outside of a transaction: it may take long to
    resolve a host name."""
    config = document.config()
    assert runtime.source_search is not None
    try:
        runtime.source_search.check(config)
        await _check_address(runtime, "url", config.origin + "/", config)
        if config.auth.token_url:
            await _check_address(runtime, "auth.tokenUrl", config.auth.token_url, config)
        check_credentials(config, document.credentials, partial=True)
    except BadInput as error:
        field = str(error.details.get("field") or "")
        if error.code != "INVALID_CONFIG" or not field:
            raise
        head, _, rest = field.partition(".")
        reason = error.message.removeprefix(f"{field}: ")
        raise document.refused([head, rest] if rest else [head], reason) from error
    return config


async def _check_address(runtime: Runtime, field: str, url: str, config: SourceConfig) -> None:
    """The address must lead to the public internet, or where the operator allows it to."""
    try:
        await runtime.fetchers[FetchPurpose.PROVIDER].check(url)
    except BadInput as error:
        raise BadInput("INVALID_CONFIG", f"{field}: {error.message}", field=field) from error
    sends_secrets = config.auth.kind != "none"
    if url.startswith("http://") and sends_secrets and not is_exempt(runtime, url):
        raise BadInput(
            "INVALID_CONFIG",
            f"{field}: a source with credentials must be reached over https, because they could be"
            " read on the way.",
            field=field,
        )


def check_credentials(
    config: SourceConfig, given: Mapping[str, str], *, partial: bool = False
) -> dict[str, str]:
    """Messages never contain a value. ``partial``: some may be missing, but none unknown."""
    names = config.auth.credential_names
    unknown = [name for name in given if name not in names]
    if unknown:
        known = ", ".join(names) or "none"
        raise BadInput(
            "INVALID_CONFIG",
            f"credentials.{unknown[0][:40]}: `{config.auth.kind}` has no such credential. Known:"
            f" {known}.",
            field="credentials",
        )
    missing = [name for name in names if not given.get(name)]
    if missing and not partial:
        raise BadInput(
            "INVALID_CONFIG", f"credentials.{missing[0]}: it is missing.", field="credentials"
        )
    for name, value in given.items():
        if not _CREDENTIAL.fullmatch(value):
            raise BadInput(
                "INVALID_CONFIG",
                f"credentials.{name}: 1 to 2000 printable characters are expected.",
                field="credentials",
            )
    return dict(given)


async def get_source(conn: Connection, source_id: UUID) -> SourceRow:
    found = await store.get_source(conn, source_id)
    if found is None:
        raise no_such_source()
    return found


async def create(
    runtime: Runtime, conn: Connection, caller: Caller, config: SourceConfig,
    credentials: Mapping[str, str], org_id: int,
) -> SourceRow:  # fmt: skip
    checked = check_credentials(config, credentials)
    if await store.count_sources(conn, org_id, MOST_SOURCES) >= MOST_SOURCES:
        raise PermanentError(
            "INVALID_STATE", f"An org has at most {MOST_SOURCES} sources. Delete one first."
        )
    source_id = new_id()
    sealed = store.credentials.seal(runtime.sealer, source_id, checked)
    if not await store.add_source(conn, source_id, org_id, caller.who.user_id, config, sealed):
        raise _name_taken(config.name)
    made = await get_source(conn, source_id)
    await audit_owned(conn, caller, "source", made, "create", after=_audit_values(made))
    return made


async def change(
    runtime: Runtime, conn: Connection, caller: Caller, source_id: UUID, config: SourceConfig,
    credentials: Mapping[str, str],
) -> SourceRow:  # fmt: skip
    """Replace the configuration. Without new credentials the stored ones stay, unless they would be
    sent elsewhere."""
    before = await _get_changeable(conn, caller, source_id)
    sealed = None
    if credentials:
        checked = check_credentials(config, credentials)
        sealed = store.credentials.seal(runtime.sealer, source_id, checked)
    elif _sends_elsewhere(before.parsed, config):
        raise BadInput(
            "INVALID_CONFIG",
            "credentials: another address or kind of `auth` needs them again, because the stored"
            " ones are never sent elsewhere.",
        )
    taken = await store.get_source(conn, None, before.org_id, config.name)
    if taken is not None and taken.id != source_id:
        raise _name_taken(config.name)
    if not await store.change_source(conn, source_id, config, sealed):
        raise no_such_source()
    after = await get_source(conn, source_id)
    await audit_owned(
        conn,
        caller,
        "source",
        after,
        "change",
        before=_audit_values(before),
        after=_audit_values(after),
    )
    return after


def _name_taken(name: str) -> PermanentError:
    return PermanentError("INVALID_STATE", f"There is a source named {name!r} already.")


def _sends_elsewhere(before: SourceConfig, after: SourceConfig) -> bool:
    if after.auth.kind == "none":
        return False
    told = (before.origin, before.auth.kind, before.auth.token_url)
    return told != (after.origin, after.auth.kind, after.auth.token_url)


async def delete(conn: Connection, caller: Caller, source_id: UUID) -> None:
    found = await _get_changeable(conn, caller, source_id)
    if not await store.delete_source(conn, source_id):
        raise no_such_source()
    await audit_owned(conn, caller, "source", found, "delete", before=_audit_values(found))


async def test(
    runtime: Runtime, transaction: Transaction, caller: Caller, source_id: UUID, query: SearchQuery
) -> SourceTrial:
    """Ask the source, and store the result. No transaction is open meanwhile."""
    async with transaction() as conn:
        row = await get_source(conn, source_id)
        source = await store.open_source(conn, runtime.sealer, source_id)
    if source is None:
        raise no_such_source()
    profiles: Profiles = runtime.ports[Profiles]
    rates = await profiles.rates("USD", datetime.now(UTC).date())
    assert runtime.source_search is not None
    seconds = source.config.limits.timeout_seconds + 5.0
    trial = await runtime.source_search.test(source, query, seconds, rates)
    error = trial.error
    async with transaction() as conn:
        # Our own limits say nothing about the source.
        if not isinstance(error, Waiting):
            problem = None if error is None else error_shape(error)
            await store.save_test(conn, source_id, problem)
        outcome = "ok" if error is None else error.code
        await audit_owned(conn, caller, "source", row, "test", after={"result": outcome})
    return trial


async def health(runtime: Runtime, conn: Connection, source_id: UUID) -> dict[str, Any]:
    """The source's limit and circuit, and its calls of the last quarter of an hour."""
    row = await get_source(conn, source_id)
    limits = runtime.settings.provider_limits
    for one in await states.list_states(conn, limits, PROVIDER, row.name):
        if one["org"] == row.org:
            return one
    rate = row.parsed.limits.parsed_rate
    return {
        "provider": PROVIDER, "org": row.org, "company": None, "domain": row.name,
        "circuit": {"state": "closed", "failures": 0, "openedAt": None, "nextProbeAt": None},
        "limit": {"perSecond": round(rate.per_second, 4), "burst": rate.burst,
                  "tokens": rate.capacity, "reported": False, "pausedUntil": None},
        "calls": 0, "failed": 0, "throttled": 0, "errorRate": None, "p95Ms": None,
    }  # fmt: skip


async def _get_changeable(conn: Connection, caller: Caller, source_id: UUID) -> SourceRow:
    found = await get_source(conn, source_id)
    require_change(may_change(caller, found), "source")
    return found


def _audit_values(row: SourceRow) -> dict[str, Any]:
    config = row.parsed
    return {"name": row.name, "url": config.url, "enabled": row.enabled, "auth": config.auth.kind}
