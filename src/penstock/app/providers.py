"""Health of providers, and the reset of their circuits."""

from __future__ import annotations

from typing import Any

from penstock.model.errors import NotThere
from penstock.model.network.provider_limits import ProviderLimits
from penstock.store.accounts.audit_log import Caller, audit
from penstock.store.database import Connection
from penstock.store.providers import states

_WORST = ("closed", "half_open", "open")


async def list_providers(conn: Connection, limits: ProviderLimits) -> list[dict[str, Any]]:
    """Configured providers and those that were called, each with its keys."""
    keys: dict[str, list[dict[str, Any]]] = {name: [] for name in limits.rates}
    for one in await states.list_states(conn, limits):
        keys.setdefault(one["provider"], []).append(one)
    return [_shape(name, keys[name], limits) for name in sorted(keys)]


def _shape(name: str, keys: list[dict[str, Any]], limits: ProviderLimits) -> dict[str, Any]:
    rate = limits.rate(name)
    circuits = [one["circuit"]["state"] for one in keys]
    return {
        "key": name,
        "circuit": max(circuits, key=_WORST.index, default="closed"),
        "limit": {"perSecond": round(rate.per_second, 4), "burst": rate.burst},
        **{what: sum(one[what] for one in keys) for what in ("calls", "failed", "throttled")},
        "keys": keys,
    }


async def reset_provider(conn: Connection, caller: Caller, key: str, limits: ProviderLimits) -> int:
    """Close the circuits that the caller may see; answers how many keys were reset."""
    count = await states.reset(conn, key)
    if not count and key not in limits.rates:
        raise NotThere("NOT_FOUND", f"No provider {key!r} is known here.")
    await audit(
        conn, caller.who.org_id, caller.who.user_id, "provider.reset", f"provider:{key}",
        ip=caller.ip, after={"keys": count},
    )  # fmt: skip
    return count
