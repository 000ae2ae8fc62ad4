"""The configuration of a source: how it is asked, how it answers, and how answers are mapped."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from functools import cached_property
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, ValidationInfo, field_validator, model_validator

from penstock.model.network.token_bucket import Rate
from penstock.model.pipeline import Config
from penstock.model.sources.expressions.evaluate import compiled
from penstock.model.sources.expressions.parser import Node, Path, parse

MAX_FIELDS = 100
MAX_LOOKUP_ENTRIES = 2_000
MAX_PAGES = 50
_SAFE_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_|~-]{1,100}")
# Headers that the client sets itself, or that belong to `auth`.
_OWN_HEADERS = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "authorization", "cookie"}
)
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
# What templates may contain. Values of lists are joined by commas.
PLACEHOLDERS = (
    "query", "categories", "suppliers", "region", "priceMin", "priceMax", "currency", "page",
    "offset", "cursor", "size",
)  # fmt: skip
_CREDENTIALS: Mapping[str, tuple[str, ...]] = {
    "none": (),
    "header": ("key",),
    "query": ("key",),
    "bearer": ("token",),
    "basic": ("user", "password"),
    "oauth2": ("clientId", "clientSecret"),
}


class Auth(Config):
    kind: Literal["none", "header", "query", "bearer", "basic", "oauth2"] = "none"
    name: str = Field("", max_length=100, description="The header or parameter of the key.")
    prefix: str = Field("", max_length=50, description="Text before the key in its header.")
    token_url: str = Field("", max_length=2000, description="Where OAuth2 tokens are asked for.")
    scope: str = Field("", max_length=500)

    @model_validator(mode="after")
    def _complete(self) -> Auth:
        if self.kind in ("header", "query") and not self.name:
            raise ValueError(f"auth.name: which {self.kind} carries the key?")
        if self.kind == "header" and not _SAFE_HEADER.fullmatch(self.name):
            raise ValueError("auth.name: this is not the name of a header")
        if (self.kind == "oauth2") != bool(self.token_url):
            raise ValueError("auth.tokenUrl: needed for `oauth2`, and only there")
        if self.token_url:
            check_url(self.token_url, "auth.tokenUrl")
        return self

    @property
    def credential_names(self) -> tuple[str, ...]:
        return _CREDENTIALS[self.kind]


class Paging(Config):
    kind: Literal["none", "page", "offset", "cursor", "link"] = "none"
    parameter: str = Field("", max_length=100, description="Of the page, offset or cursor.")
    size_parameter: str = Field("", max_length=100, description="Of the page size, if it has one.")
    size: int = Field(50, ge=1, le=1000, description="How many products one page has.")
    first: int = Field(1, ge=0, le=1, description="The number of the first page.")
    max_pages: int = Field(5, ge=1, le=MAX_PAGES)
    next: str = Field(
        "",
        max_length=2000,
        description="An expression for the next cursor, over `answer` and `headers`, such as"
        " `answer.next` or `headers.x-next`.",
    )
    total: str = Field(
        "", max_length=2000, description="An expression for the number of products, alike."
    )

    @model_validator(mode="after")
    def _complete(self) -> Paging:
        if self.kind in ("page", "offset", "cursor") and not self.parameter:
            raise ValueError(f"paging.parameter: which one carries the {self.kind}?")
        if self.kind == "cursor" and not self.next:
            raise ValueError("paging.next: an expression for the next cursor is missing")
        if self.kind != "cursor" and self.next:
            raise ValueError("paging.next: only for `cursor`")
        for name, text in (("next", self.next), ("total", self.total)):
            try:
                _ = compiled(text) if text else None
            except ValueError as error:
                raise ValueError(f"paging.{name}: {error}") from error
        return self


class Response(Config):
    format: Literal["json", "xml", "csv"] = "json"
    records: str = Field(
        "", max_length=500, description="The path of the list of products; XML: of the element."
    )
    delimiter: str = Field(",", min_length=1, max_length=1, description="Of CSV.")
    encoding: str = Field("", max_length=40, description="Of CSV; else UTF-8.")
    decimal: Literal["point", "comma"] = Field("point", description="Of numbers in texts.")
    dates: Literal["dmy", "mdy", "ymd"] | None = Field(None, description="Order in dates.")
    schema_: dict[str, Any] | None = Field(
        None, alias="schema", description="JSON Schema that an answer must fit."
    )

    @field_validator("records")
    @classmethod
    def _records(cls, value: str) -> str:
        if value and not isinstance(parse(value), Path):
            raise ValueError("write a path, such as `data.items`")
        return value


class Limits(Config):
    rate: str = Field("60/min burst 10", max_length=50, description="Calls, as `60/min burst 10`.")
    timeout_seconds: int = Field(30, ge=1, le=300, description="Of one call.")
    max_bytes: int = Field(10 * 1024 * 1024, ge=1024, le=50 * 1024 * 1024)

    @field_validator("rate")
    @classmethod
    def _rate(cls, value: str) -> str:
        Rate.parse(value)
        return value

    @cached_property
    def parsed_rate(self) -> Rate:
        return Rate.parse(self.rate)


class Cost(Config):
    per_call: Decimal = Field(Decimal(0), ge=0, le=1_000_000, max_digits=20)
    currency: str = Field("USD", pattern=r"^[A-Z]{3}$")


class SourceConfig(Config):
    """A source without its credentials."""

    name: str = Field(
        pattern=r"^[a-z0-9][a-z0-9._-]{0,62}$", description="Unique in the org.", examples=["acme"]
    )
    title: str = Field("", max_length=200)
    enabled: bool = Field(True, description="Whether research and lookups ask it.")
    url: str = Field(
        max_length=2000,
        description="A template; its host is fixed.",
        examples=["https://api.example.com/search?q={query}"],
    )
    method: Literal["GET", "POST"] = "GET"
    parameters: dict[str, str] = Field(default_factory=dict, max_length=50)
    headers: dict[str, str] = Field(default_factory=dict, max_length=30)
    body: dict[str, Any] | None = Field(None, description="JSON of a POST; texts are templates.")
    auth: Auth = Field(default_factory=Auth)
    paging: Paging = Field(default_factory=Paging)
    limits: Limits = Field(default_factory=Limits)
    response: Response = Field(default_factory=Response)
    mapping: dict[str, str] = Field(
        min_length=1,
        max_length=MAX_FIELDS,
        description="Fields and their expressions.",
        examples=[{"sourceId": "sku", "title": "name", "price.amount": "price"}],
    )
    defaults: dict[str, str] = Field(default_factory=dict, max_length=MAX_FIELDS)
    lookups: dict[str, dict[str, str]] = Field(default_factory=dict, max_length=30)
    cost: Cost = Field(default_factory=Cost)
    regions: tuple[str, ...] = Field((), max_length=50, description="Where it delivers to.")

    @field_validator("url")
    @classmethod
    def _url(cls, value: str) -> str:
        check_url(value, "url")
        check_template(value, "url")
        return value

    @field_validator("parameters", "headers")
    @classmethod
    def _templates(cls, value: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        for name, text in value.items():
            check_template(text, name)
            if not 1 <= len(name) <= 100 or len(text) > 2000:
                raise ValueError(f"{name[:40]!r} is too long")
            if info.field_name != "headers":
                continue
            if not _SAFE_HEADER.fullmatch(name) or name.lower() in _OWN_HEADERS:
                raise ValueError(f"{name[:40]!r} cannot be set here")
            if any(ord(one) < 0x20 or ord(one) > 0x7E for one in text):
                raise ValueError(f"{name[:40]!r} has characters that a header cannot have")
        return value

    @field_validator("lookups")
    @classmethod
    def _lookups(cls, value: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
        for name, table in value.items():
            if len(table) > MAX_LOOKUP_ENTRIES:
                raise ValueError(f"{name[:40]!r} has more than {MAX_LOOKUP_ENTRIES:,} entries")
        return value

    @model_validator(mode="after")
    def _expressions(self) -> SourceConfig:
        _ = self.rules
        if self.body is not None and self.method != "POST":
            raise ValueError("body: only for POST")
        return self

    @cached_property
    def rules(self) -> dict[str, Node]:
        """The compiled expressions of the mapping, by field."""
        found = {}
        for target, text in self.mapping.items():
            try:
                found[target] = compiled(text, self.lookups)
            except ValueError as error:
                raise ValueError(f"mapping.{target}: {error}") from error
        return found

    @property
    def shown_title(self) -> str:
        return self.title or self.name

    @property
    def origin(self) -> str:
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}".lower()


def check_url(url: str, field: str) -> None:
    """A URL with a fixed host: placeholders are allowed in its path and query only."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
        _ = parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https") or parts.fragment:
        raise ValueError(f"{field}: write a whole address, such as https://api.example/search")
    if "@" in parts.netloc or "{" in parts.netloc:
        raise ValueError(f"{field}: the host is fixed, without user name and password")


def check_template(text: str, field: str) -> None:
    for name in _PLACEHOLDER.findall(text):
        if name not in PLACEHOLDERS:
            known = ", ".join(f"{{{one}}}" for one in PLACEHOLDERS)
            raise ValueError(f"{field}: {{{name[:40]}}} is unknown. Known: {known}")


def filled(template: str, values: Mapping[str, str], quote: Any = lambda text: text) -> str:
    """The template with its placeholders replaced, each once."""
    return _PLACEHOLDER.sub(lambda found: quote(values.get(found[1], "")), template)
