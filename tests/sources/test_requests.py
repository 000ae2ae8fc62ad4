"""Requests, credentials, tokens and pages of configured sources, against a real server."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs
from uuid import uuid4

import pytest
from tests.providers.sandboxes import loopback_fetcher
from tests.reused_children import ReusedChildPool

from penstock.guards.call_limits import CallLimiter
from penstock.model.errors import NotAllowed, PermanentError, Unavailable
from penstock.model.sources.config import SourceConfig
from penstock.model.sources.search import OpenedSource, SearchQuery, SourceTools
from penstock.providers.configured.oauth import TokenCache
from penstock.providers.configured.requests import build_request, shown_request
from penstock.providers.configured.search import find_offers, search_page
from penstock.providers.sandbox.http import HttpServer, Request, Response

MAPPING = {"sourceId": "id", "title": "name", "price.amount": "price", "price.currency": "'EUR'"}


@dataclass
class Server:
    """Ten products, two to a page; notes what it is asked."""

    answer_of: Callable[[Request, Server], Response]
    asked: list[Request] = field(default_factory=list)
    tokens: int = 0
    url: str = ""

    async def answer(self, request: Request) -> Response:
        self.asked.append(request)
        return self.answer_of(request, self)


def items(start: int, count: int = 2) -> list[dict[str, Any]]:
    found = range(start, min(start + count, 10))
    return [{"id": f"p{n}", "name": f"Bolt {n}", "price": n + 0.5} for n in found]


@asynccontextmanager
async def serving(answer: Callable[[Request, Server], Response]) -> AsyncIterator[Server]:
    made = Server(answer)
    server = HttpServer(made.answer)
    made.url = f"http://127.0.0.1:{await server.start(0)}"
    try:
        yield made
    finally:
        await server.close()


@asynccontextmanager
async def tools(folder: Path) -> AsyncIterator[SourceTools]:
    children, limits = ReusedChildPool(512 * 1024 * 1024, 20, folder=folder), CallLimiter()
    async with loopback_fetcher() as fetcher:
        try:
            yield SourceTools(
                fetcher, children,
                lambda source: limits.call(
                    "source", source.name, until=float("inf"), time_is_up=lambda: False
                ),
                date(2026, 11, 16),
            )  # fmt: skip
        finally:
            await children.close()


def source(url: str, credentials: dict[str, str] | None = None, **config: Any) -> OpenedSource:
    given = {"name": "test", "url": url, "mapping": MAPPING, **config}
    given.setdefault("response", {"records": "items"})
    return OpenedSource(uuid4(), 1, SourceConfig.model_validate(given), credentials or {})


QUERY = SearchQuery(
    "M8 & bolts/?", ("bolts", "nuts"), region="Germany", price_max=Decimal("0.20"), currency="EUR"
)  # fmt: skip


def test_values_are_escaped_and_empty_parameters_left_out() -> None:
    made = source(
        "https://api.example/{region}/search?fixed=1",
        parameters={
            "q": "{query}",
            "cat": "{categories}",
            "from": "{priceMin}",
            "to": "{priceMax}",
        },
        headers={"X-Query": "{query}"},
    )
    request = build_request(made, SearchQuery("a\r\nX: 1", region="../x"), {})
    assert request.url == "https://api.example/..%2Fx/search?fixed=1&q=a%0D%0AX%3A+1"
    assert request.headers["X-Query"] == "a  X: 1"
    request = build_request(made, QUERY, {})
    assert parse_qs(request.url.partition("?")[2]) == {
        "fixed": ["1"], "q": ["M8 & bolts/?"], "cat": ["bolts,nuts"], "to": ["0.20"],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("auth", "credentials", "expected"),
    [
        ({"kind": "header", "name": "X-Key", "prefix": "Key "}, {"key": "s3cret-value"},
         ("x-key", "Key s3cret-value")),
        ({"kind": "bearer"}, {"token": "s3cret-value"}, ("authorization", "Bearer s3cret-value")),
        ({"kind": "basic"}, {"user": "me", "password": "s3cret-value"},
         ("authorization", "Basic " + base64.b64encode(b"me:s3cret-value").decode())),
        ({"kind": "query", "name": "apikey"}, {"key": "s3cret-value"}, None),
    ],
)  # fmt: skip
def test_credentials_are_sent_and_never_shown(
    auth: dict[str, str], credentials: dict[str, str], expected: tuple[str, str] | None
) -> None:
    made = source("https://api.example/x", credentials, auth=auth)
    request = build_request(made, QUERY, {})
    headers = {name.lower(): value for name, value in request.headers.items()}
    if expected is None:
        assert request.url.endswith("apikey=s3cret-value")
    else:
        assert headers[expected[0]] == expected[1]
    told = str(shown_request(made, request))
    assert "s3cret-value" not in told
    assert base64.b64encode(b"me:s3cret-value").decode() not in told


def test_a_body_is_a_template() -> None:
    body = {"search": {"text": "{query}", "limit": 5}, "in": ["{region}"]}
    made = source("https://api.example/x", method="POST", body=body)
    request = build_request(made, QUERY, {})
    assert request.method == "POST"
    assert request.body == b'{"search":{"text":"M8 & bolts/?","limit":5},"in":["Germany"]}'


@pytest.mark.parametrize("kind", ["page", "offset", "cursor", "link"])
async def test_every_kind_of_paging_reads_all_pages_once(tmp_path: Path, kind: str) -> None:
    def answer(request: Request, server: Server) -> Response:
        place = request.query.get("at", "")
        start = (int(place) - 1) * 2 if kind == "page" else int(place or 0)
        headers = {}
        if kind == "link" and start + 2 < 10:
            headers["Link"] = f'<{server.url}/list?at={start + 2}&key=leaked>; rel="next"'
        made = Response.json({"items": items(start), "next": str(start + 2) if start < 8 else None})
        return Response(200, made.body, headers=headers)

    paging: dict[str, Any] = {"kind": kind, "size": 2, "maxPages": 9}
    if kind != "link":
        paging["parameter"] = "at"
    if kind == "cursor":
        paging["next"] = "answer.next"
    async with serving(answer) as server, tools(tmp_path) as given:
        made = source(
            f"{server.url}/list", {"key": "k"}, paging=paging, auth={"kind": "query", "name": "key"}
        )
        found = await find_offers(made, QUERY, given, max_pages=9)
    assert [one.product["sourceId"] for one in found] == [f"p{n}" for n in range(10)]
    asked = [request.query.get("at") for request in server.asked]
    assert len(asked) == len(set(asked))
    assert {request.query["key"] for request in server.asked} == {"k"}


async def test_a_link_to_another_server_is_not_followed(tmp_path: Path) -> None:
    def answer(request: Request, server: Server) -> Response:
        body = Response.json({"items": items(0)}).body
        return Response(200, body, headers={"Link": '<http://127.0.0.2:9/x?at=2>; rel="next"'})

    async with serving(answer) as server, tools(tmp_path) as given:
        made = source(f"{server.url}/list", paging={"kind": "link", "maxPages": 9})
        assert len(await find_offers(made, QUERY, given, max_pages=9)) == 2
    assert len(server.asked) == 1


async def test_a_token_is_asked_for_once_and_again_when_it_is_refused(tmp_path: Path) -> None:
    def answer(request: Request, server: Server) -> Response:
        if request.path == "/token":
            server.tokens += 1
            assert parse_qs(request.body.decode())["grant_type"] == ["client_credentials"]
            pair = base64.b64encode(b"id:secret").decode()
            assert request.headers["authorization"] == f"Basic {pair}"
            return Response.json({"access_token": f"token-{server.tokens}", "expires_in": 3600})
        if request.headers.get("authorization") != f"Bearer token-{max(valid)}":
            return Response.json({"error": "expired"}, 401)
        return Response.json({"items": items(0)})

    valid = [1]
    async with serving(answer) as server, tools(tmp_path) as given:
        auth = {"kind": "oauth2", "tokenUrl": f"{server.url}/token", "scope": "read"}
        made = source(f"{server.url}/list", {"clientId": "id", "clientSecret": "secret"}, auth=auth)
        for _ in range(3):
            await search_page(made, QUERY, {}, given)
        assert server.tokens == 1
        valid.append(2)
        assert len((await search_page(made, QUERY, {}, given)).read.offers) == 2
        assert server.tokens == 2
        valid.append(99)
        with pytest.raises(NotAllowed):
            await search_page(made, QUERY, {}, given)


async def test_a_token_server_that_refuses_is_named(tmp_path: Path) -> None:
    def answer(request: Request, server: Server) -> Response:
        return Response.json({"error": "invalid_client"}, 400)

    async with serving(answer) as server, tools(tmp_path) as given:
        auth = {"kind": "oauth2", "tokenUrl": f"{server.url}/token"}
        made = source(f"{server.url}/list", {"clientId": "i", "clientSecret": "s"}, auth=auth)
        with pytest.raises(NotAllowed, match="token server"):
            await TokenCache().token(made, given.fetch)


@pytest.mark.parametrize(
    ("format", "body"),
    [
        ("json", b'{"items": [{"id": 1'), ("json", b"[" * 100_000), ("json", b'{"items": NaN}'),
        ("json", b'{"other": []}'), ("xml", b"<items><item></items>"),
        ("xml", b"<a>" * 200 + b"</a>" * 200), ("xml", b"<html><body>Gateway</body></html>"),
        ("csv", b"<html>Gateway</html>\n"), ("csv", b"\xff\xfe\xff"),
    ],
)  # fmt: skip
async def test_answers_in_another_form_are_errors_of_the_server(
    tmp_path: Path, format: str, body: bytes
) -> None:
    async with (
        serving(lambda request, server: Response(200, body)) as server,
        tools(tmp_path) as given,
    ):
        records = "" if format == "csv" else "items" if format == "json" else "items.item"
        made = source(f"{server.url}/x", response={"format": format, "records": records})
        with pytest.raises(Unavailable):
            await search_page(made, QUERY, {}, given)


async def test_entities_of_xml_are_not_expanded(tmp_path: Path) -> None:
    body = b'<!DOCTYPE x [<!ENTITY a "aaaa">]><items><item><id>&a;</id></item></items>'
    async with (
        serving(lambda request, server: Response(200, body)) as server,
        tools(tmp_path) as given,
    ):
        made = source(f"{server.url}/x", response={"format": "xml", "records": "items.item"})
        with pytest.raises(PermanentError, match="entity"):
            await search_page(made, QUERY, {}, given)


async def test_defaults_lookups_and_problems(tmp_path: Path) -> None:
    def answer(request: Request, server: Server) -> Response:
        return Response.json(
            {"items": [{"id": 1, "name": "Bolt", "st": "J", "big": "9" * 40}, {"name": "No id"}]}
        )

    async with serving(answer) as server, tools(tmp_path) as given:
        made = source(
            f"{server.url}/x",
            mapping={
                "sourceId": "id", "title": "name", "brand": "maker",
                "availability.status": "lookup('stock', st, 'out of stock')",
                "custom.note": "number(big) * number(big)",
            },
            defaults={"brand": "Acme"},
            lookups={"stock": {"j": "in stock"}},
        )  # fmt: skip
        page = await search_page(made, QUERY, {}, given)
    good, bad = page.read.offers
    assert good.product["brand"] == "Acme"
    assert good.lineage["brand"][0] == "default of brand"
    assert good.product["availability"]["status"] == "in_stock"
    assert [one["code"] for one in good.problems] == ["EXPRESSION_FAILED"]
    assert good.error is None
    assert bad.error is not None
    assert bad.error["code"] == "REQUIRED_MISSING"
