"""How requests are authenticated: basic authentication over HTTPS, OAuth 1.0a over HTTP, where a
password would be readable on the way."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Mapping
from datetime import datetime
from urllib.parse import quote, urlencode

_METHOD = "HMAC-SHA256"


def basic(key: str, secret: str) -> str:
    return "Basic " + base64.b64encode(f"{key}:{secret}".encode()).decode()


def signed_query(
    method: str, url: str, query: Mapping[str, str], key: str, secret: str, now: datetime,
    nonce: str | None = None,
) -> str:  # fmt: skip
    """The query with the parameters and the signature of OAuth 1.0a (RFC 5849)."""
    told = {
        **query,
        "oauth_consumer_key": key,
        "oauth_nonce": nonce or secrets.token_hex(16),
        "oauth_signature_method": _METHOD,
        "oauth_timestamp": str(int(now.timestamp())),
    }
    told["oauth_signature"] = signature(method, url, told, secret)
    return urlencode(told, quote_via=quote)


def signature(method: str, url: str, parameters: Mapping[str, str], secret: str) -> str:
    pairs = sorted((_escaped(name), _escaped(value)) for name, value in parameters.items())
    joined = "&".join(f"{name}={value}" for name, value in pairs)
    base = "&".join((method.upper(), _escaped(url), _escaped(joined)))
    # There is no token, so the second half of the key is empty.
    digest = hmac.digest(f"{_escaped(secret)}&".encode(), base.encode(), hashlib.sha256)
    return base64.b64encode(digest).decode()


def _escaped(text: str) -> str:
    return quote(text, safe="-._~")
