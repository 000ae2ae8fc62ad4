"""Requests to the Admin API, and how its answers are read."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlencode, urlsplit

import orjson

from penstock.model.errors import BadInput, NotAllowed, PenstockError, RateLimited, Unavailable
from penstock.model.network.fetching import FetchRequest, FetchResponse
from penstock.providers.base import (
    LIMITS,
    ProviderCall,
    Reading,
    Throttle,
    classify_status,
    read_answer,
    read_json,
)
from penstock.providers.shopify.queries import API_VERSION

TITLE = "Shopify"
T = TypeVar("T")
_BACK_MS = 1000


def _headers(call: ProviderCall) -> dict[str, str]:
    return {
        "X-Shopify-Access-Token": call.connection.credentials["token"],
        "Accept": "application/json",
    }


async def graphql(
    call: ProviderCall, query: str, variables: Mapping[str, Any], *, points: float
) -> tuple[Mapping[str, Any], FetchResponse]:
    """The data of the answer, and the answer for its headers."""
    request = FetchRequest(
        f"{call.connection.address}/admin/api/{API_VERSION}/graphql.json",
        "POST",
        _headers(call) | {"Content-Type": "application/json"},
        orjson.dumps({"query": query, "variables": dict(variables)}),
        LIMITS,
    )
    return await call.send(request, _read_graphql, points=points)


def _read_graphql(
    response: FetchResponse,
) -> Reading[tuple[Mapping[str, Any], FetchResponse]]:
    error = classify_status(response, TITLE)
    if error is not None:
        raise error
    body = read_json(response, TITLE)
    cost = (body.get("extensions") or {}).get("cost") or {}
    throttle = _throttle(cost)
    if body.get("errors"):
        raise _graphql_error(body["errors"], cost, throttle)
    if not isinstance(body.get("data"), dict):
        raise Unavailable("SERVICE_UNAVAILABLE", f"{TITLE} sent an answer without data.")
    return Reading((body["data"], response), cost.get("actualQueryCost"), throttle)


def _throttle(cost: Mapping[str, Any]) -> Throttle | None:
    told = cost.get("throttleStatus")
    if not told:
        return None
    return Throttle(
        float(told["maximumAvailable"]), float(told["currentlyAvailable"]),
        float(told["restoreRate"]),
    )  # fmt: skip


def _graphql_error(
    errors: Any, cost: Mapping[str, Any], throttle: Throttle | None
) -> PenstockError:
    first: Mapping[str, Any] = errors[0] if isinstance(errors, list) else {"message": errors}
    code = str((first.get("extensions") or {}).get("code") or "")
    said = str(first.get("message") or "")[:300]
    match code:
        case "THROTTLED":
            return RateLimited(
                "API_RATE_LIMIT", f"{TITLE} asks for fewer requests.",
                retry_after_ms=_wait_ms(cost, throttle),
            )  # fmt: skip
        case "ACCESS_DENIED" | "UNAUTHORIZED":
            return NotAllowed(
                "INSUFFICIENT_PERMISSIONS", f"The token may not read this at {TITLE}: {said}"
            )
        case "SHOP_INACTIVE":
            return NotAllowed("ACCOUNT_SUSPENDED", f"The shop is not active at {TITLE}.")
        case "INTERNAL_SERVER_ERROR" | "TIMEOUT":
            return Unavailable("SERVICE_UNAVAILABLE", f"{TITLE} failed: {said}")
    return BadInput("INVALID_PARAMETERS", f"{TITLE} refused the request: {said}")


def _wait_ms(cost: Mapping[str, Any], throttle: Throttle | None) -> int:
    """How long until the bucket holds what the query costs."""
    if throttle is None or throttle.restore_per_second <= 0:
        return _BACK_MS
    lacking = float(cost.get("requestedQueryCost") or 0) - throttle.available
    return max(_BACK_MS, math.ceil(lacking / throttle.restore_per_second * 1000))


async def rest(
    call: ProviderCall, path: str, query: Mapping[str, str], read: Callable[[FetchResponse, Any], T]
) -> T:
    """What ``read`` makes of the answer and its JSON."""
    asked = f"?{urlencode(query)}" if query else ""
    request = FetchRequest(
        f"{call.connection.address}/admin/api/{API_VERSION}/{path}{asked}",
        headers=_headers(call), limits=LIMITS,
    )  # fmt: skip
    return await call.send(request, lambda answer: read_answer(answer, TITLE, read))


def next_page(response: FetchResponse) -> str | None:
    """`page_info` of the link to the next page. Only that is used, not the host of the link, since
    the next request carries the token."""
    for link in (response.header("link") or "").split(","):
        target, _, told = link.strip().partition(";")
        if 'rel="next"' in told:
            found = parse_qs(urlsplit(target.strip(" <>")).query).get("page_info")
            return found[0] if found else None
    return None
