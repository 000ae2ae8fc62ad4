"""Ask many sources at once: checks of a request, its job, quotas, and the secret of webhooks."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from penstock.engine.runtime import Runtime
from penstock.engine.submit import Order
from penstock.model.errors import BadInput
from penstock.model.network.fetching import FetchPurpose
from penstock.model.quota import ResearchQuota
from penstock.store.accounts.audit_log import Caller, audit
from penstock.store.database import Connection
from penstock.store.research import requests, secrets
from penstock.store.research.requests import QuotaUse
from penstock.store.sources import sources

PIPELINE = "research"
_MOST_SOURCES = 1000


@dataclass(frozen=True, slots=True)
class ResearchOrder:
    """``config`` is that of the pipeline."""

    config: Mapping[str, Any]
    priority: int
    name: str = ""
    due_at: datetime | None = None


async def check_webhook(runtime: Runtime, url: str | None) -> None:
    """Refuse a URL that is not allowed. Call this outside of a transaction: it may take long to
    resolve a host name."""
    if url is not None:
        await runtime.fetchers[FetchPurpose.WEBHOOK].check(url)


async def research_order(
    conn: Connection, caller: Caller, asked: ResearchOrder, key: str | None
) -> Order:
    """The job of a request. Its sources must exist and be enabled."""
    rows = await sources.list_sources(conn, caller.who.org_id, _MOST_SOURCES)
    known = [row.name for row in rows if row.enabled]
    if not known:
        raise BadInput(
            "INVALID_PARAMETERS",
            "Your org has no enabled source. Add one with POST /api/sources or `penstock sources"
            " add`.",
        )
    for name in asked.config.get("sources") or ():
        if name not in known:
            shown = ", ".join(known[:20])
            raise BadInput(
                "INVALID_PARAMETERS", f"sources: there is no enabled source {name[:63]!r}. Known:"
                f" {shown}."
            )  # fmt: skip
    return Order(
        pipeline=PIPELINE, config=dict(asked.config), priority=asked.priority,
        name=asked.name or str(asked.config["query"])[:200], due_at=asked.due_at, ip=caller.ip,
        idempotency_key=key,
    )  # fmt: skip


async def quota_uses(runtime: Runtime, conn: Connection, caller: Caller) -> list[QuotaUse]:
    who = caller.who
    quota = await requests.quota_of(conn, who.org_id, runtime.settings.research_quota)
    return await requests.uses(conn, who.org_id, who.user_id, quota, datetime.now(UTC))


async def own_quota(conn: Connection, org_id: int) -> ResearchQuota:
    """Limits that were set for this org."""
    return await requests.own_quota(conn, org_id)


async def set_quota(conn: Connection, caller: Caller, org_id: int, quota: ResearchQuota) -> None:
    before = await requests.own_quota(conn, org_id)
    await requests.set_quota(conn, org_id, quota)
    await audit(
        conn, org_id, caller.who.user_id, "research.quota", f"org:{org_id}", ip=caller.ip,
        before=_audit_values(before), after=_audit_values(quota),
    )  # fmt: skip


def _audit_values(quota: ResearchQuota) -> dict[str, int | None]:
    return {
        "userDay": quota.user_day, "userMonth": quota.user_month, "orgDay": quota.org_day,
        "orgMonth": quota.org_month,
    }  # fmt: skip


async def request_secret(
    runtime: Runtime, conn: Connection, caller: Caller, *, rotate: bool
) -> str:
    """The secret that signs webhooks of requests of the caller's org, or another one."""
    org_id = caller.who.org_id
    if rotate:
        secret = await secrets.replace_secret(conn, runtime.sealer, org_id)
    else:
        opened = await secrets.secret_of(conn, runtime.sealer, org_id)
        secret = "whsec_" + base64.b64encode(opened).decode()
    await audit(
        conn, org_id, caller.who.user_id, "webhook.request_secret", f"org:{org_id}", ip=caller.ip,
        after={"rotated": rotate},
    )  # fmt: skip
    return secret
