"""Tokens of OAuth2 client credentials, kept in memory until they expire."""

from __future__ import annotations

import asyncio
import hashlib
import time
from dataclasses import dataclass, field
from urllib.parse import urlencode
from uuid import UUID

import orjson

from penstock.model.errors import NotAllowed, Unavailable
from penstock.model.network.fetching import FetchRequest
from penstock.model.ports import Fetch
from penstock.model.sources.search import OpenedSource
from penstock.model.text.redaction import register_secret
from penstock.providers.base import classify_status
from penstock.providers.configured.requests import basic, limits_of

_MAX_KEPT = 1000
_DEFAULT_SECONDS = 300.0
# A token is renewed this long before it expires.
_MARGIN_SECONDS = 30.0


@dataclass(slots=True)
class _Kept:
    token: str
    until: float


@dataclass
class TokenCache:
    """One per process. A token belongs to a source and its current credentials."""

    _kept: dict[tuple[UUID, bytes], _Kept] = field(default_factory=dict)
    _asking: dict[UUID, asyncio.Lock] = field(default_factory=dict)

    async def token(self, source: OpenedSource, fetch: Fetch) -> str:
        key = (source.id, _digest(source))
        found = self._kept.get(key)
        if found is not None and time.monotonic() < found.until:
            return found.token
        async with self._asking.setdefault(source.id, asyncio.Lock()):
            found = self._kept.get(key)
            if found is None or time.monotonic() >= found.until:
                if len(self._kept) >= _MAX_KEPT:
                    self._kept.clear()
                    self._asking.clear()
                found = self._kept[key] = await _ask(source, fetch)
        return found.token

    def forget(self, source: OpenedSource) -> None:
        self._kept.pop((source.id, _digest(source)), None)


TOKENS = TokenCache()


def _digest(source: OpenedSource) -> bytes:
    auth = source.config.auth
    told = orjson.dumps([sorted(source.credentials.items()), auth.token_url, auth.scope])
    return hashlib.sha256(told).digest()


async def _ask(source: OpenedSource, fetch: Fetch) -> _Kept:
    config, secrets = source.config, source.credentials
    form = {"grant_type": "client_credentials"}
    if config.auth.scope:
        form["scope"] = config.auth.scope
    answer = await fetch.fetch(
        FetchRequest(
            config.auth.token_url,
            "POST",
            {
                "Content-Type": "application/x-www-form-urlencoded",
                "Accept": "application/json",
                "Authorization": basic(
                    secrets.get("clientId", ""), secrets.get("clientSecret", "")
                ),
            },
            urlencode(form).encode(),
            limits_of(config),
        )
    )
    title = f"The token server of {config.shown_title}"
    if answer.status == 400:
        raise NotAllowed("AUTHENTICATION_FAILED", f"{title} does not accept the credentials (400).")
    error = classify_status(answer, title)
    if error is not None:
        raise error
    try:
        told = orjson.loads(answer.body)
        token, seconds = told["access_token"], float(told.get("expires_in") or _DEFAULT_SECONDS)
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError) as cause:
        raise Unavailable("SERVICE_UNAVAILABLE", f"{title} sent no token.") from cause
    if not isinstance(token, str) or not token.isprintable() or len(token) > 8000:
        raise Unavailable("SERVICE_UNAVAILABLE", f"{title} sent no usable token.")
    register_secret(token)
    return _Kept(token, time.monotonic() + max(0.0, seconds - _MARGIN_SECONDS))
