"""Signing in, in the words of a test."""

from __future__ import annotations

import httpx2
from tests.api.conftest import PASSWORD, shaped

from penstock.api.accounts.session import SessionShape


async def try_to_sign_in(
    client: httpx2.AsyncClient, email: str = "ann@acme", password: str = PASSWORD
) -> httpx2.Response:
    return await client.post("/api/session", json={"email": email, "password": password})


async def sign_in(client: httpx2.AsyncClient, email: str = "ann@acme") -> SessionShape:
    """Changes carry the token from now on."""
    found = shaped(SessionShape, await try_to_sign_in(client, email))
    assert found.csrf_token
    client.headers["X-CSRF-Token"] = found.csrf_token
    return found
