"""The application over the real database, as the tests of the API have it."""

from __future__ import annotations

from tests.api.conftest import (
    api_db,
    app,
    browser,
    caller,
    client,
    gate,
    person,
    port,
    runtime,
    settings,
    shared_routes,
)

__all__ = [
    "api_db",
    "app",
    "browser",
    "caller",
    "client",
    "gate",
    "person",
    "port",
    "runtime",
    "settings",
    "shared_routes",
]
