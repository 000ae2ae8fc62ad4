"""The lists of the API, such as products and schedules, each with the same few methods."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from .calls import camel

# What a call answers, and what a list is: those of the async client are awaited.
AnswerT = TypeVar("AnswerT")
ListT = TypeVar("ListT")
ResourceT = TypeVar("ResourceT")

# By the name they have in the client. A test compares them with the routes of the API.
PATHS: Mapping[str, str] = {
    "alerts": "/api/monitor/alerts",
    "audit": "/api/audit",
    "bulk_operations": "/api/bulk",
    "connections": "/api/connections",
    "dead_letters": "/api/dead-letters",
    "export_templates": "/api/export-templates",
    "feeds": "/api/feeds",
    "keys": "/api/keys",
    "notifications": "/api/notifications",
    "orgs": "/api/orgs",
    "pages": "/api/pages",
    "pending": "/api/pending",
    "postings": "/api/postings",
    "product_links": "/api/product-links",
    "products": "/api/products",
    "profiles": "/api/profiles",
    "providers": "/api/providers",
    "queues": "/api/queues",
    "runs": "/api/runs",
    "saved_values": "/api/saved-values",
    "schedules": "/api/schedules",
    "sessions": "/api/sessions",
    "sources": "/api/sources",
    "users": "/api/users",
    "watchers": "/api/watchers",
    "webhooks": "/api/webhooks",
}


class Resource(Generic[AnswerT, ListT]):
    """One list. Fields are given as in the API, in Python's spelling: ``time_zone="UTC"``."""

    def __init__(self, client: Any, path: str) -> None:
        self._client = client
        self._path = path

    def list(self, **filters: Any) -> ListT:
        """All that match, page by page."""
        return self._list(self._path, filters)

    def get(self, name: Any) -> AnswerT:
        return self._call("GET", f"/{name}")

    def create(self, **fields: Any) -> AnswerT:
        return self._call("POST", "", fields)

    def change(self, name: Any, /, **fields: Any) -> AnswerT:
        """Some fields; the others stay."""
        return self._call("PATCH", f"/{name}", fields)

    def replace(self, name: Any, /, **fields: Any) -> AnswerT:
        """All fields."""
        return self._call("PUT", f"/{name}", fields)

    def delete(self, name: Any) -> AnswerT:
        return self._call("DELETE", f"/{name}")

    def act(self, name: Any, action: str, /, **fields: Any) -> AnswerT:
        """What can be done with one: ``schedules.act(id, "run")``."""
        return self._call("POST", f"/{name}/{action}", fields)

    def parts(self, name: Any, part: str, /, **filters: Any) -> ListT:
        """A list of one: ``webhooks.parts(id, "deliveries")``."""
        return self._list(f"{self._path}/{name}/{part}", filters)

    def _call(self, method: str, path: str, fields: Mapping[str, Any] | None = None) -> AnswerT:
        body = None if fields is None else {camel(name): one for name, one in fields.items()}
        answer: AnswerT = self._client.call(method, self._path + path, body=body)
        return answer

    def _list(self, path: str, filters: Mapping[str, Any]) -> ListT:
        found: ListT = self._client.listed(path, **filters)
        return found


SyncResource = Resource[dict[str, Any], Iterator[dict[str, Any]]]
AsyncResource = Resource[Awaitable[dict[str, Any]], AsyncIterator[dict[str, Any]]]


class Resources(Generic[ResourceT]):
    """The lists as attributes of a client."""

    alerts: ResourceT
    audit: ResourceT
    bulk_operations: ResourceT
    connections: ResourceT
    dead_letters: ResourceT
    export_templates: ResourceT
    feeds: ResourceT
    keys: ResourceT
    notifications: ResourceT
    orgs: ResourceT
    pages: ResourceT
    pending: ResourceT
    postings: ResourceT
    product_links: ResourceT
    products: ResourceT
    profiles: ResourceT
    providers: ResourceT
    queues: ResourceT
    runs: ResourceT
    saved_values: ResourceT
    schedules: ResourceT
    sessions: ResourceT
    sources: ResourceT
    users: ResourceT
    watchers: ResourceT
    webhooks: ResourceT

    def _add_resources(self, kind: Callable[[Any, str], ResourceT]) -> None:
        for name, path in PATHS.items():
            setattr(self, name, kind(self, path))
