"""The provider contract, and what several providers share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar
from urllib.parse import urlsplit

import orjson

from penstock.model.errors import (
    BadInput,
    NotAllowed,
    NotThere,
    PenstockError,
    RateLimited,
    Unavailable,
)
from penstock.model.network.fetching import FetchLimits, FetchResponse
from penstock.model.shops.products import (
    ProductStatus,
    ShopImage,
    ShopOption,
    ShopProduct,
    ShopVariant,
    StockStatus,
)
from penstock.model.shops.provider import (
    CredentialField,
    ListPage,
    OAuthApp,
    OAuthInstall,
    Provider,
    ProviderCall,
    Reading,
    ShopChange,
    ShopConnection,
    ShopInfo,
    Throttle,
)

__all__ = [
    "LIMITS",
    "CredentialField",
    "ListPage",
    "OAuthApp",
    "OAuthInstall",
    "ProductStatus",
    "Provider",
    "ProviderBase",
    "ProviderCall",
    "Reading",
    "ShopChange",
    "ShopConnection",
    "ShopImage",
    "ShopInfo",
    "ShopOption",
    "ShopProduct",
    "ShopVariant",
    "StockStatus",
    "Throttle",
    "base_url",
    "classify_status",
    "decimal_or_none",
    "read_answer",
    "read_cursor",
    "read_json",
    "server_time",
    "text_or_none",
    "time_or_none",
    "write_cursor",
]

T = TypeVar("T")
# Redirects are not followed: they would carry the credentials to another server.
LIMITS = FetchLimits(most_bytes=20 * 1024 * 1024, total_ms=30_000, silent_ms=15_000, hops=0)


class ProviderBase:
    """Defaults of the optional parts of `Provider`."""

    title = ""
    incremental = True
    signs_requests = False
    install: OAuthInstall | None = None

    def classify(self, response: FetchResponse) -> PenstockError | None:
        return classify_status(response, self.title)

    def batches(self, products: Sequence[ShopProduct]) -> Sequence[Sequence[ShopProduct]]:
        return [[one] for one in products]

    async def complete(
        self, call: ProviderCall, products: Sequence[ShopProduct]
    ) -> Sequence[ShopProduct]:
        return products

    def read_webhook(
        self, connection: ShopConnection, headers: Mapping[str, str], body: bytes
    ) -> ShopChange | None:
        raise BadInput("INVALID_PARAMETERS", f"{self.title} sends no webhooks to Penstock.")


def classify_status(response: FetchResponse, title: str) -> PenstockError | None:
    """The error that the status of an answer means; None for a success."""
    status = response.status
    match status:
        case _ if 200 <= status < 300:
            return None
        case 401:
            return NotAllowed(
                "AUTHENTICATION_FAILED", f"{title} does not accept the credentials (401).",
                status=status,
            )  # fmt: skip
        case 402 | 423:
            return NotAllowed(
                "ACCOUNT_SUSPENDED", f"The account at {title} is suspended ({status}).",
                status=status,
            )  # fmt: skip
        case 403:
            return NotAllowed(
                "INSUFFICIENT_PERMISSIONS", f"The credentials do not allow this at {title} (403).",
                status=status,
            )  # fmt: skip
        case 404 | 410:
            return NotThere("RESOURCE_NOT_FOUND", f"{title} does not have this.", status=status)
        case 408 | 504:
            return Unavailable(
                "API_TIMEOUT", f"{title} took too long to answer ({status}).",
                retry_after_ms=response.retry_after_ms, status=status,
            )  # fmt: skip
        case 429 | 430:
            return RateLimited(
                "API_RATE_LIMIT", f"{title} asks for fewer requests ({status}).",
                retry_after_ms=response.retry_after_ms, status=status,
            )  # fmt: skip
        case _ if status >= 500:
            return Unavailable(
                "SERVICE_UNAVAILABLE", f"{title} answered {status}.",
                retry_after_ms=response.retry_after_ms, status=status,
            )  # fmt: skip
        case _ if 300 <= status < 400:
            return BadInput(
                "INVALID_PARAMETERS",
                f"{title} redirects to another address. Correct the address of the connection.",
                status=status,
            )
        case _:
            return BadInput(
                "INVALID_PARAMETERS", f"{title} refused the request ({status}).", status=status
            )


def read_json(response: FetchResponse, title: str) -> Any:
    """The body as JSON. A body that is cut off or no JSON is an error of the server."""
    try:
        return orjson.loads(response.body)
    except orjson.JSONDecodeError as error:
        raise Unavailable(
            "SERVICE_UNAVAILABLE", f"{title} sent an answer that is not valid JSON."
        ) from error


def read_answer(
    response: FetchResponse, title: str, read: Callable[[FetchResponse, Any], T]
) -> Reading[T]:
    """What ``read`` makes of an answer and its JSON. An answer that is not a success raises its
    error; one in another form than documented is an error of the server."""
    error = classify_status(response, title)
    if error is not None:
        raise error
    body = read_json(response, title)
    try:
        return Reading(read(response, body))
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as cause:
        raise Unavailable(
            "SERVICE_UNAVAILABLE", f"{title} sent an answer in an unexpected form."
        ) from cause


def decimal_or_none(told: Any) -> Decimal | None:
    """A number that JSON has as text or as a number."""
    if told is None or told == "" or isinstance(told, bool):
        return None
    try:
        value = Decimal(str(told))
    except InvalidOperation:
        return None
    return value if value.is_finite() else None


def time_or_none(told: Any) -> datetime | None:
    """An ISO time; without a zone it is UTC."""
    if not isinstance(told, str) or not told:
        return None
    try:
        read = datetime.fromisoformat(told)
    except ValueError:
        return None
    return read if read.tzinfo is not None else read.replace(tzinfo=UTC)


def server_time(response: FetchResponse, fallback: datetime) -> datetime:
    """The time of the answer by the server's clock, which its products' times follow."""
    try:
        return parsedate_to_datetime(response.header("date") or "")
    except ValueError:
        return fallback


def text_or_none(told: Any) -> str | None:
    """A text without spaces around it; None if there is nothing else."""
    text = str(told).strip() if told is not None else ""
    return text or None


def write_cursor(**state: Any) -> str:
    return orjson.dumps(
        {name: value for name, value in state.items() if value is not None}
    ).decode()


def read_cursor(cursor: str | None) -> dict[str, Any]:
    """The state that a cursor carries; a cursor that we did not write is refused."""
    if cursor is None:
        return {}
    try:
        state = orjson.loads(cursor)
    except orjson.JSONDecodeError:
        state = None
    if not isinstance(state, dict):
        raise BadInput("INVALID_PARAMETERS", "This is not a cursor of the product list.")
    return state


def base_url(address: str, *, example: str) -> str:
    """The scheme, host and path of an address, without a slash at the end."""
    given = address.strip()
    if "://" not in given:
        given = f"https://{given}"
    try:
        parts = urlsplit(given)
        host = parts.hostname
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https") or parts.query or parts.fragment:
        raise BadInput("INVALID_PARAMETERS", f"address: enter the shop's address, like {example}.")
    if "@" in parts.netloc:
        raise BadInput("INVALID_PARAMETERS", "address: leave out user name and password.")
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}"
