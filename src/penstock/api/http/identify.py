"""Authentication: programs use a key, people a session."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from base64 import urlsafe_b64encode
from collections import OrderedDict
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

from penstock.accounts.sign_in import network_of
from penstock.api.http.middleware import KNOWN_CALLER
from penstock.api.http.rate_limits import Buckets
from penstock.guards.cpu_budget import Account
from penstock.model.errors import NotAllowed
from penstock.settings import Settings
from penstock.store.accounts.accounts import Principal, principal_of
from penstock.store.accounts.sessions import holder_of
from penstock.store.database import Database

COOKIE = "penstock_session"
CSRF_HEADER = "x-csrf-token"
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_HOUR = 3600
_MOST_SEEN = 10_000


class Authenticator:
    """Finds the caller of a request. A key suffices. A session comes in a cookie, which a browser
    also sends with requests that another site caused, so a change must carry the session's CSRF
    token, too."""

    def __init__(self, settings: Settings, db: Database) -> None:
        self._db = db
        self._idle_seconds = settings.session_idle_minutes * 60
        self._requests = tuple(
            Buckets(settings.requests_per_second * times, settings.requests_burst * times)
            for times in (1, 2, 4)
        )
        self._seen: OrderedDict[bytes, Principal] = OrderedDict()
        # Half of them at once, the other half over the hour: never more than all in any hour.
        failures = settings.sign_in_failures_network / 2
        self._wrong_keys = Buckets(failures / _HOUR, failures)

    async def identify(self, asked: HTTPConnection) -> Principal:
        """The caller of this request, which counts towards their limit. Too many requests with a
        known key or session are refused without a query."""
        secret = _secret_of(asked)
        seen = self._seen.get(secret)
        if seen is not None:
            self.charge(seen)
        who = await self._find(asked, self._idle_seconds)
        asked.scope.setdefault("state", {})[KNOWN_CALLER] = True
        if seen is None:
            self.charge(who)
        self._seen[secret] = who
        if len(self._seen) > _MOST_SEEN:
            self._seen.popitem(last=False)
        return who

    def account_of(self, asked: HTTPConnection) -> Account:
        """Which account pays for the processor time of a request: the org of a key or session that
        was seen before, else the network it comes from."""
        seen = self._seen.get(_secret_of(asked))
        if seen is not None:
            return Account(seen.org_id, is_org=True)
        return Account(network_of(address_of(asked)), is_org=False)

    def charge(self, who: Principal) -> None:
        """Count a request of this key or session, of its user and of their org: RATE_LIMITED where
        one of them asks too often."""
        callers = ((who.key_id, who.session_id), who.user_id, who.org_id)
        for buckets, caller in zip(self._requests, callers, strict=True):
            buckets.take(caller, "Too many requests. Ask less often.")

    async def recognise(self, asked: HTTPConnection) -> Principal:
        """The principal of an earlier caller by now. Counts as no request, and does not extend a
        session."""
        return await self._find(asked, None)

    async def _find(self, asked: HTTPConnection, idle_seconds: float | None) -> Principal:
        """One error for every reason: no credentials, unknown, revoked, expired, disabled."""
        header = asked.headers.get("authorization")
        token = asked.cookies.get(COOKIE)
        if header is not None:
            return await self._by_key(asked, header)
        if token:
            return await self._by_session(asked, token, idle_seconds)
        raise _not_authenticated()

    async def _by_key(self, asked: HTTPConnection, header: str) -> Principal:
        kind, _, key = header.partition(" ")
        if kind.lower() != "bearer" or not key.strip():
            raise _not_authenticated()
        async with self._db.acquire() as conn:
            found = await principal_of(conn, key.strip())
        if found is None:
            self._wrong_keys.take(
                network_of(address_of(asked)), "Too many requests with a wrong key."
            )
            raise _not_authenticated()
        return found

    async def _by_session(
        self, asked: HTTPConnection, token: str, idle_seconds: float | None
    ) -> Principal:
        async with self._db.acquire() as conn:
            found = await holder_of(conn, token, idle_seconds)
        if found is None:
            raise _not_authenticated()
        if asked.scope["type"] == "websocket":
            _require_own_page(asked)
        elif asked.scope["method"] not in SAFE_METHODS:
            given = asked.headers.get(CSRF_HEADER, "")
            if not hmac.compare_digest(given.encode(), csrf_token(token).encode()):
                raise NotAllowed(
                    "CSRF_FAILED",
                    "A change made with a session needs its token: send the `csrfToken` of "
                    "GET /api/session as `X-CSRF-Token`.",
                )
        return found


def _secret_of(asked: HTTPConnection) -> bytes:
    """Identifies the key or session without storing it."""
    sent = asked.headers.get("authorization") or asked.cookies.get(COOKIE) or ""
    return hashlib.sha256(sent.encode("utf-8", "surrogateescape")).digest()


def csrf_token(session_token: str) -> str:
    """Derived from the token of the session, which cannot be derived from it."""
    digest = hmac.digest(session_token.encode(), b"penstock csrf", hashlib.sha256)
    return urlsafe_b64encode(digest).rstrip(b"=").decode()


def address_of(asked: HTTPConnection) -> str | None:
    """The caller's IP address; None over a socket file."""
    try:
        return str(ipaddress.ip_address(asked.client.host)) if asked.client else None
    except ValueError:
        return None


def _require_own_page(asked: HTTPConnection) -> None:
    """A web socket cannot carry the CSRF token, but the browser names the page that opens it."""
    origin = asked.headers.get("origin", "")
    if urlsplit(origin).netloc != asked.headers.get("host", ""):
        raise NotAllowed("CSRF_FAILED", "A web socket with a session must be opened by our page.")


def _not_authenticated() -> NotAllowed:
    return NotAllowed(
        "AUTHENTICATION_FAILED",
        "Sign in, or send a valid API key as `Authorization: Bearer <key>`.",
    )
