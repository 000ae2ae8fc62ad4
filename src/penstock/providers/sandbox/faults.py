"""Faults that are switched on for a share of the calls."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from penstock.providers.sandbox.http import Response

# A hang lasts as long as a client waits, so few calls hang. An expired token ends an import, so it
# is only used when it is asked for.
_WEIGHTS = {
    "429": 25, "500": 25, "reset": 15, "slow": 10, "truncated": 12, "malformed": 12, "hang": 1,
    "expired": 0,
}  # fmt: skip
KINDS = tuple(_WEIGHTS)
_SLOW_SECONDS = 2.0
_HANG_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class FaultPlan:
    """Which calls fail, and how. Without ``kinds``: all but expired tokens."""

    share: float = 0.0
    kinds: Sequence[str] = ()
    # Only calls of these providers (`shopify`, `pictures`, …) or shops.
    providers: Sequence[str] = ()
    shops: Sequence[str] = ()
    # Until so many faults have happened.
    count: int | None = None

    @staticmethod
    def of(told: Mapping[str, Any]) -> FaultPlan:
        if told.get("down"):
            told = {"share": 1.0, "kinds": ["500"], **told}
        share = float(told.get("share", 0.0))
        kinds = tuple(str(one) for one in told.get("kinds") or ())
        unknown = [one for one in kinds if one not in KINDS]
        if not 0 <= share <= 1 or unknown:
            raise ValueError(f"share is from 0 to 1, and kinds are {', '.join(KINDS)}")
        count = told.get("count")
        return FaultPlan(
            share, kinds, tuple(told.get("providers") or ()), tuple(told.get("shops") or ()),
            None if count is None else int(count),
        )  # fmt: skip

    def as_json(self) -> dict[str, Any]:
        return {
            "share": self.share, "kinds": list(self.kinds or KINDS[:-1]),
            "providers": list(self.providers), "shops": list(self.shops), "count": self.count,
        }  # fmt: skip


@dataclass(slots=True)
class Faults:
    plan: FaultPlan
    seed: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    chance: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)

    def choose(self, provider: str, shop: str) -> str | None:
        plan = self.plan
        if plan.share == 0 or plan.count == 0:
            return None
        if plan.providers and provider not in plan.providers:
            return None
        if plan.shops and shop not in plan.shops:
            return None
        if self.chance.random() >= plan.share:
            return None
        kinds = plan.kinds or KINDS
        weights = [_WEIGHTS[one] or (1 if plan.kinds else 0) for one in kinds]
        kind = self.chance.choices(kinds, weights)[0]
        self.counts[kind] = self.counts.get(kind, 0) + 1
        if plan.count is not None:
            self.plan = replace(plan, count=plan.count - 1)
        return kind


async def before(kind: str) -> Response | None:
    """The answer of a fault that happens instead of the call; None if the call is made."""
    match kind:
        case "429":
            return Response.json({"errors": "Too Many Requests"}, 429, Retry_After="1")
        case "500":
            return Response.json({"errors": "Internal Server Error"}, 500)
        case "expired":
            return Response.json({"errors": "[API] Invalid API key or access token"}, 401)
        case "reset":
            return Response(reset=True)
        case "hang":
            await asyncio.sleep(_HANG_SECONDS)
            return Response(reset=True)
    return None


async def after(kind: str, response: Response) -> Response:
    """What a fault makes of the answer of a call. A slow call has counted when it arrived."""
    match kind:
        case "slow":
            await asyncio.sleep(_SLOW_SECONDS)
        case "truncated":
            return replace(response, keep_bytes=len(response.body) // 2)
        case "malformed":
            return replace(response, status=200, body=b"<html><body>Gateway</body></html>")
    return response
