"""Connect the shops and sources of a running `penstock sandbox`, for a demonstration."""

from __future__ import annotations

from typing import Any

import orjson

from penstock.app.shops.connections import CheckedOrder, ConnectionOrder, check_order
from penstock.engine.runtime import Runtime
from penstock.model.errors import PenstockError, PermanentError
from penstock.model.network.fetching import FetchLimits, FetchPurpose, FetchRequest
from penstock.model.sources.document import SourceDocument

_LIMITS = FetchLimits(most_bytes=256 * 1024, total_ms=3000, silent_ms=3000, hops=0)


async def is_allowed(runtime: Runtime) -> bool:
    """Whether the operator permits the sandbox's address. It may still not be running."""
    try:
        await runtime.fetchers[FetchPurpose.PROVIDER].check(runtime.settings.sandbox_url)
    except PenstockError:
        return False
    return bool(runtime.settings.fetch_exempt(FetchPurpose.PROVIDER))


async def demo_orders(runtime: Runtime, provider: str | None) -> list[CheckedOrder]:
    """Connections to the sandbox's shops, of one provider or of all."""
    shops = await _list_sandbox(runtime, "shops")
    found = [one for one in shops if provider in (None, one["provider"])]
    orders = [
        ConnectionOrder(
            f"Demo {runtime.providers[one['provider']].title}", one["provider"], one["address"],
            one["credentials"],
        )
        for one in found
        if one["provider"] in runtime.providers
    ]  # fmt: skip
    return [await check_order(runtime, one) for one in orders]


async def demo_sources(runtime: Runtime) -> list[SourceDocument]:
    """Configurations of the sandbox's sources, with their credentials."""
    return [
        SourceDocument(dict(one["config"]), {}) for one in await _list_sandbox(runtime, "sources")
    ]


async def _list_sandbox(runtime: Runtime, what: str) -> list[dict[str, Any]]:
    if not await is_allowed(runtime):
        raise PermanentError(
            "FEATURE_DISABLED",
            "This server may not reach a sandbox. Set PENSTOCK_PROVIDER_ALLOW=127.0.0.1.",
        )
    url = f"{runtime.settings.sandbox_url.rstrip('/')}/sandbox/shops"
    try:
        answer = await runtime.fetchers[FetchPurpose.PROVIDER].fetch(
            FetchRequest(url, limits=_LIMITS)
        )
        found: list[dict[str, Any]] = orjson.loads(answer.body)[what]
    except (PenstockError, ValueError, KeyError, TypeError) as error:
        raise PermanentError(
            "SANDBOX_NOT_RUNNING",
            f"No sandbox answers at {runtime.settings.sandbox_url}. Start it with"
            " `penstock sandbox`.",
        ) from error
    return found
