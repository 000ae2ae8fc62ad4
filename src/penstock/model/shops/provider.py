"""The contract of shop providers.

A provider knows one kind of shop: which requests list its products, and how to read the answers. It
has no HTTP client, limiter or clock. It sends its requests through a `ProviderCall` that its caller
passes: the caller takes tokens before each request and reports the result, so that limits and
circuits hold for imports, tests and browsing alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, Literal, Protocol, TypeVar
from uuid import UUID

from penstock.model.errors import PenstockError
from penstock.model.network.fetching import FetchRequest, FetchResponse
from penstock.model.shops.products import ShopProduct

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ShopConnection:
    """A connected shop with its opened credentials, which must not be logged or stored.

    ``details`` is the result of the last test of the connection, such as the shop's currency;
    ``next_since`` is where the next incremental import begins."""

    id: UUID
    org_id: int
    provider: str
    address: str
    credentials: Mapping[str, str] = field(repr=False)
    name: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    next_since: datetime | None = None

    @property
    def source(self) -> str:
        """The source of its products in the catalog. The same for every connection to this shop, so
        that a connection that was deleted and created again finds its products."""
        return f"{self.provider}:{self.domain}"

    @property
    def domain(self) -> str:
        """The shop that limits and circuits are kept for: its host, and its path if it has one."""
        return self.address.partition("://")[2].rstrip("/")


@dataclass(frozen=True, slots=True)
class Throttle:
    """What a provider says about its cost bucket (Shopify: `throttleStatus`)."""

    maximum: float
    available: float
    restore_per_second: float


@dataclass(frozen=True, slots=True)
class Reading(Generic[T]):
    """A value read from an answer, and what the answer says about the provider's cost bucket."""

    value: T
    cost: float | None = None
    throttle: Throttle | None = None


class ProviderCall(Protocol):
    """Sends requests of a provider for one connection."""

    @property
    def connection(self) -> ShopConnection: ...

    def now(self) -> datetime:
        """The current time, for signed requests."""

    async def send(
        self,
        request: FetchRequest,
        read: Callable[[FetchResponse], Reading[T]],
        *,
        points: float = 0,
    ) -> T:
        """Wait for the provider's limits, send the request and return what ``read`` makes of the
        answer. An error that ``read`` raises counts like one of the request: a `RateLimited`
        slows further calls down, an `Unavailable` counts against the circuit. ``points`` is what
        the request will take from the provider's cost bucket; 0 if only requests count."""


@dataclass(frozen=True, slots=True)
class ListPage:
    """A page of products. Without ``next_cursor`` it is the last one, and ``next_since`` is where
    the next incremental list begins.

    With ``wait_ms`` the provider is still preparing the answer: ask again with ``next_cursor``
    after that time, and hold no slot meanwhile."""

    products: Sequence[ShopProduct]
    next_cursor: str | None = None
    total: int | None = None
    next_since: datetime | None = None
    wait_ms: int | None = None


@dataclass(frozen=True, slots=True)
class ShopInfo:
    """The result of a test of a connection. ``details`` is stored with the connection and passed to
    the provider's later calls."""

    name: str
    currency: str | None = None
    products: int | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CredentialField:
    """One field of a provider's credentials, for forms and checks. All values are secret."""

    name: str
    label: str
    required: bool = True
    help: str = ""


@dataclass(frozen=True, slots=True)
class ShopChange:
    """What an incoming webhook says: a product was changed or deleted."""

    kind: Literal["changed", "deleted"]
    product_id: str


class Provider(Protocol):
    """One kind of shop. Instances have no state and are shared by all connections."""

    @property
    def key(self) -> str:
        """The name in the API, such as `shopify`."""

    @property
    def title(self) -> str: ...

    @property
    def credential_fields(self) -> Sequence[CredentialField]: ...

    @property
    def address_help(self) -> str:
        """What to enter as the address, with an example."""

    @property
    def incremental(self) -> bool:
        """Whether `list` can list changed products only; else ``since`` is ignored."""

    @property
    def signs_requests(self) -> bool:
        """Whether requests over plain HTTP carry a signature instead of the secret."""

    @property
    def install(self) -> OAuthInstall | None:
        """The install flow, if the provider has one."""

    def normalize_address(self, address: str) -> str:
        """The base URL of the shop from what the user entered. Raises `BadInput`."""

    async def test(self, call: ProviderCall) -> ShopInfo:
        """Ask the shop for its name, and whether the credentials allow reading products."""

    async def list(
        self, call: ProviderCall, cursor: str | None = None, since: datetime | None = None
    ) -> ListPage:
        """The page after ``cursor``. ``since`` lists only products that changed after that time; it
        counts with the first page only, later ones continue it. Each call sends few requests, so
        that little is repeated after a crash."""

    async def get(self, call: ProviderCall, product_id: str) -> ShopProduct:
        """One complete product. Raises `NotThere` if the shop does not have it."""

    def batches(self, products: Sequence[ShopProduct]) -> Sequence[Sequence[ShopProduct]]:
        """Incomplete products, in groups that one request completes. A group is retried as a
        whole."""

    async def complete(
        self, call: ProviderCall, products: Sequence[ShopProduct]
    ) -> Sequence[ShopProduct]:
        """The products of one group, in order, with what a list left out."""

    async def search(
        self, call: ProviderCall, text: str = "", cursor: str | None = None
    ) -> ListPage:
        """Products for a picker, perhaps incomplete. Providers without a search list all."""

    def classify(self, response: FetchResponse) -> PenstockError | None:
        """The error that an answer means; None for a success. Errors without an answer (timeout,
        broken connection) come from the request itself."""

    def read_webhook(
        self, connection: ShopConnection, headers: Mapping[str, str], body: bytes
    ) -> ShopChange | None:
        """What an incoming webhook means; None if it is of no interest. Raises `NotAllowed` if its
        signature is wrong, and `BadInput` if this provider sends none."""


Providers = Mapping[str, Provider]


@dataclass(frozen=True, slots=True)
class OAuthApp:
    """The app that asks shops for access, as it is registered with the provider."""

    client_id: str
    client_secret: str = field(repr=False)


class OAuthInstall(Protocol):
    """How a merchant grants access without copying a token."""

    def authorize_url(self, address: str, app: OAuthApp, return_to: str, state: str) -> str:
        """Where the merchant's browser is sent."""

    def check_callback(self, address: str, app: OAuthApp, answer: Mapping[str, str]) -> str:
        """The code in what the browser came back with. Raises `NotAllowed` if it is not signed by
        the provider, or is about another shop."""

    async def exchange(self, call: ProviderCall, app: OAuthApp, code: str) -> Mapping[str, str]:
        """The credentials that the code is exchanged for."""
