"""Requests of a configured source: the URL template, credentials and pages."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

import orjson

from penstock.model.network.fetching import FetchLimits, FetchRequest
from penstock.model.sources.config import SourceConfig, filled
from penstock.model.sources.search import OpenedSource, SearchQuery

HIDDEN = "***"
# Where a page is in the list: nothing for the first one.
PageState = Mapping[str, Any]


def values_of(config: SourceConfig, query: SearchQuery, state: PageState) -> dict[str, str]:
    """The values of the placeholders."""
    paging = config.paging

    def amount(value: Any) -> str:
        return "" if value is None else format(value, "f")

    return {
        "query": query.text,
        "categories": ",".join(query.categories),
        "suppliers": ",".join(query.suppliers),
        "region": query.region,
        "priceMin": amount(query.price_min),
        "priceMax": amount(query.price_max),
        "currency": query.currency,
        "page": str(state.get("page", paging.first)),
        "offset": str(state.get("offset", 0)),
        "cursor": str(state.get("cursor", "")),
        "size": str(paging.size),
    }


def build_request(
    source: OpenedSource, query: SearchQuery, state: PageState, token: str | None = None
) -> FetchRequest:
    """The request of one page. ``token`` is that of OAuth2."""
    config = source.config
    values = values_of(config, query, state)
    url = _url(source, values, state)
    headers = {name: _one_line(filled(text, values)) for name, text in config.headers.items()}
    headers.setdefault("Accept", _ACCEPTED[config.response.format])
    headers |= _auth_headers(source, token)
    body = b""
    if config.body is not None:
        body = orjson.dumps(_filled_json(config.body, values))
        headers["Content-Type"] = "application/json"
    return FetchRequest(url, config.method, headers, body, limits_of(config))


_ACCEPTED = {
    "json": "application/json",
    "xml": "application/xml, text/xml",
    "csv": "text/csv",
}


def limits_of(config: SourceConfig) -> FetchLimits:
    """Redirects are not followed: they would carry the credentials to another server."""
    ms = config.limits.timeout_seconds * 1000
    return FetchLimits(most_bytes=config.limits.max_bytes, total_ms=ms, silent_ms=ms, hops=0)


def _url(source: OpenedSource, values: Mapping[str, str], state: PageState) -> str:
    config = source.config
    if "url" in state:
        # A link of the answer before: its path and query, at the configured host.
        scheme, host, *_ = urlsplit(config.url)
        parts = urlsplit(str(state["url"]))
        pairs = parse_qsl(parts.query, keep_blank_values=True)
        path = parts.path
    else:
        parts = urlsplit(config.url)
        scheme, host = parts.scheme, parts.netloc
        path = filled(parts.path, values, lambda text: quote(text, safe=""))
        pairs = [
            (name, filled(text, values))
            for name, text in parse_qsl(parts.query, keep_blank_values=True)
        ]
        pairs += [(name, filled(text, values)) for name, text in config.parameters.items()]
        pairs += _paging_parameters(config, values)
        # A parameter without a value would restrict the search to nothing.
        pairs = [(name, text) for name, text in pairs if text]
    if config.auth.kind == "query":
        pairs.append((config.auth.name, source.credentials.get("key", "")))
    return urlunsplit((scheme, host, path or "/", urlencode(pairs), ""))


def _paging_parameters(config: SourceConfig, values: Mapping[str, str]) -> list[tuple[str, str]]:
    paging = config.paging
    pairs = []
    if paging.kind in ("page", "offset", "cursor"):
        pairs.append((paging.parameter, values[paging.kind]))
    if paging.size_parameter:
        pairs.append((paging.size_parameter, values["size"]))
    return pairs


def _auth_headers(source: OpenedSource, token: str | None) -> dict[str, str]:
    auth, secrets = source.config.auth, source.credentials
    match auth.kind:
        case "header":
            return {auth.name: f"{auth.prefix}{secrets.get('key', '')}"}
        case "bearer":
            return {"Authorization": f"Bearer {secrets.get('token', '')}"}
        case "basic":
            return {"Authorization": basic(secrets.get("user", ""), secrets.get("password", ""))}
        case "oauth2":
            return {"Authorization": f"Bearer {token or ''}"}
    return {}


def basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def _filled_json(value: Any, values: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return filled(value, values)
    if isinstance(value, dict):
        return {name: _filled_json(one, values) for name, one in value.items()}
    return [_filled_json(one, values) for one in value] if isinstance(value, list) else value


def _one_line(text: str) -> str:
    """A query must not add headers of its own."""
    return "".join(one if " " <= one <= "~" else " " for one in text)[:2000]


def shown_request(source: OpenedSource, request: FetchRequest) -> dict[str, Any]:
    """The request without its secrets."""
    secret_headers = {"authorization"}
    if source.config.auth.kind == "header":
        secret_headers.add(source.config.auth.name.lower())
    headers = {
        name: HIDDEN if name.lower() in secret_headers else value
        for name, value in request.headers.items()
    }
    shown: dict[str, Any] = {
        "method": request.method, "url": shown_url(source, request.url), "headers": headers,
    }  # fmt: skip
    if request.body:
        shown["body"] = request.body.decode("utf-8", "replace")
    return shown


def shown_url(source: OpenedSource, url: str) -> str:
    auth = source.config.auth
    if auth.kind != "query":
        return url
    parts = urlsplit(url)
    pairs = [
        (name, HIDDEN if name == auth.name else value)
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
    ]
    return urlunsplit(parts._replace(query=urlencode(pairs, safe="*")))


def next_state(
    config: SourceConfig, state: PageState, records: int, cursor: str | None, total: int | None
) -> dict[str, Any] | None:
    """Where the next page is; None after the last one."""
    paging = config.paging
    number = int(state.get("number", 1)) + 1
    if number > paging.max_pages:
        return None
    if paging.kind == "link":
        return {"number": number, "url": cursor} if cursor else None
    if paging.kind == "cursor":
        if not cursor or cursor == state.get("cursor"):
            return None
        return {"number": number, "cursor": cursor}
    seen = int(state.get("seen", 0)) + records
    if records < paging.size or (total is not None and seen >= total):
        return None
    match paging.kind:
        case "page":
            page = int(state.get("page", paging.first)) + 1
            return {"number": number, "page": page, "seen": seen}
        case "offset":
            return {"number": number, "offset": seen, "seen": seen}
    return None


def link_of(config: SourceConfig, header: str | None) -> str | None:
    """Path and query of the link to the next page, without the key. A link to another server is
    not followed: the credentials would go there."""
    for part in (header or "").split(",")[:20]:
        target, _, rest = part.partition(";")
        if 'rel="next"' not in rest.replace("rel=next", 'rel="next"'):
            continue
        parts = urlsplit(target.strip().strip("<>"))
        origin = f"{parts.scheme}://{parts.netloc}".lower()
        if parts.netloc and origin != config.origin:
            return None
        pairs = parse_qsl(parts.query, keep_blank_values=True)
        if config.auth.kind == "query":
            pairs = [pair for pair in pairs if pair[0] != config.auth.name]
        return urlunsplit(("", "", parts.path, urlencode(pairs), ""))[:2000]
    return None
