"""Requests that are wrong in one place: a field of a body, a parameter, a part of a path."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from tests.api.matrix import SENT, Route

from penstock.pipelines.extraction.pipeline import ExtractionConfig
from penstock.pipelines.noop import NoopConfig


@dataclass(frozen=True)
class Raw:
    """JSON as it is written, also where that is none."""

    text: str


@dataclass(frozen=True)
class Hostile:
    """One request. ``path`` has what it needs in place of its names only if ``fixed``."""

    route: Route
    about: str
    query: str = ""
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    replaced: tuple[str, str] | None = None


VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 2**31, 2**63, -(2**63), Raw("1" * 400), Raw("1e400"),
    Raw("-1e400"), Raw("NaN"), Raw("Infinity"), Raw("1e-400"), "", " ", "x", "0", "null",
    "x" * 300, "x" * 5000, "\u0130\u0131\ufb03\u202e", "\x01\x7f\x1f", Raw('"\\u0000"'),
    Raw('"a\\u0000b"'), Raw('"\\ud800"'), Raw('"\\udfff\\ud800"'), "'; DROP TABLE jobs; --",
    "../../etc/passwd", "%00", "{}", "[]", "2026-13-45T99:99:99Z", "99999-01-01T00:00:00Z",
    "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999-14:00",
    "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff",
    [], [[]], [None], [0], [{}], [""], ["x", "x"], ["x"] * 10_000, [[[[[[[[1]]]]]]]],
    Raw("[" * 100 + "]" * 100), Raw("[" * 5000 + "]" * 5000), Raw('{"a":' * 200 + "1" + "}" * 200),
    {}, {"": ""}, {"a": 1}, {"a": {"b": {"c": []}}}, {"x" * 3000: "y"}, {"__proto__": {}},
    {str(number): number for number in range(3000)}, Raw('{"a": 1, "a": 2}'),
    "http://", "https://x", "http://[::1", "http://a b/", "ftp://x/", "https://\u0130.example/",
    "a@b", "@", "*", "job.*", "noop", "gate", "webhooks", "extraction",
)  # fmt: skip
BODIES: tuple[bytes, ...] = (
    b"", b" ", b"null", b"true", b"0", b'""', b"[]", b"[{}]", b"{", b"}", b'{"a"}', b'{"a":}',
    b"NaN", b"1e400", b"[" * 100_000, b'{"a":' * 100_000, b"\xff\xfe\x00", b"\xef\xbb\xbf{}",
    b'{"\\u0000": 1}', b'{"\xed\xa0\x80": 1}', b"{}{}", b"{} x", b'{"a": 1, "a": 1}', b"\x00" * 100,
    b'{"' + b"x" * 200_000 + b'": 1}', b'{"x": "' + b"\\u0000" * 1000 + b'"}',
)  # fmt: skip
TEXTS = (
    "", " ", "x", "0", "-1", "1.5", "1e400", "NaN", "null", "true", "[]", "{}", "%00", "\x01",
    "x" * 3000, "9" * 400, str(2**31), str(2**63), str(-(2**63)), str(2**64), "\u0130\u202e\ufb03",
    "2026-13-45T99:99:99Z", "0001-01-01T00:00:00Z", "99999-01-01T00:00:00Z", "me", "all",
    "9999-12-31T23:59:59-14:00", "00000000-0000-0000-0000-000000000000", ",", ",,,", "a,b,c",
    "'; DROP TABLE jobs; --", "*", "(", "[", "\\", "%", "_", "../..", "csv", "xlsx", "errors",
    "WyJqb2JzIiwxXQ", "eyJhIjoxfQ", "AAAA", "=" * 50, "-sku", "sku desc", "1" * 20,
)  # fmt: skip
BYTES = ("%ff", "%ed%a0%80", "%00", "%c0%80", "%", "%zz", "+", "&", "=")
HEADERS = {
    "Idempotency-Key": ("", " ", "x" * 1000, "\x7f", "\xff", "a" * 255),
    "Content-Type": ("", "x", "application/json; charset=x", "application/json;" + ";" * 500,
                     "multipart/form-data", "multipart/form-data; boundary=",
                     "multipart/form-data; boundary=" + "x" * 300,
                     "multipart/form-data; boundary=\xff",
                     "application/toml", "application/offset+octet-stream", "text/plain"),
    "Accept": ("", "*/*;q=x", "application/toml", "text/event-stream;" * 50),
    "Last-Event-ID": ("", "x", "-1", "9" * 50, "1:2:3"),
    "Upload-Length": ("", "x", "-1", "9" * 50, "1.5"),
    "Upload-Offset": ("", "x", "-1", "9" * 50),
    "Upload-Metadata": ("", "filename", "filename !!!", "filename " + "A" * 5000, ",,,", "\xff"),
    "Upload-Checksum": ("", "x", "sha1", "sha1 !!!", "sha256 AAAA", "md5 " + "A" * 999),
    "Tus-Resumable": ("", "x", "1.0.0"),
    "Penstock-Version": ("", "x", "9999-99-99", "\xff"),
    "Range": ("bytes=0-", "bytes=x", "bytes=" + "9" * 50 + "-"),
    "Cookie": ("penstock_session=", "penstock_session=\xff", "=;=;" * 200,
               "penstock_session=" + "x" * 4000),
    "Authorization": ("", "Bearer", "Bearer ", "Bearer \xff", "Basic x", "Bearer " + "x" * 5000),
    "X-Forwarded-For": ("x", "\xff", ",,,", "::1%0"),
}  # fmt: skip
DISPOSITIONS = (
    b"", b"form-data", b"form-data; name", b"form-data; name=", b'form-data; name="\xff"',
    b'form-data; name="file"', b'form-data; name="file"; filename=""', b"attachment; name=file",
    b'form-data; name="file"; filename="../../x"', b"form-data; name=file; filename*=idna''%ff",
    b"form-data; name=file; filename*=utf-8''%ff",
    b'form-data; name="file"; filename="\xed\xa0\x80"',
    b'form-data; name="file"; filename="' + b"x" * 3000 + b'"', b"form-data;" + b";" * 3000,
    b'form-data; name="file"; filename="a\x01.csv"', b'form-data; name="config"', b"\xff\xfe",
)  # fmt: skip
_PLACE = "@@HOSTILE@@"


def with_value(body: Any, place: tuple[str | int, ...], value: Any) -> bytes:
    """The body as JSON, with one value of it replaced or added."""
    raw = value.text if isinstance(value, Raw) else json.dumps(value)
    return json.dumps(_placed(body, place)).replace(f'"{_PLACE}"', raw).encode()


def _placed(body: Any, place: tuple[str | int, ...]) -> Any:
    if not place:
        return _PLACE
    name, *rest = place
    if isinstance(name, int):
        return [_placed(None, tuple(rest))]
    known = body if isinstance(body, dict) else {}
    return {**known, name: _placed(known.get(name), tuple(rest))}


def places_of(schema: dict[str, Any], deepest: int = 4) -> Iterator[tuple[str | int, ...]]:
    """Each field of a body, also those inside of others."""
    if deepest == 0:
        return
    for way in ("anyOf", "oneOf", "allOf"):
        for one in schema.get(way, ()):
            yield from places_of(one, deepest)
    for name, inner in schema.get("properties", {}).items():
        yield (name,)
        for place in places_of(inner, deepest - 1):
            yield (name, *place)
    if isinstance(schema.get("additionalProperties"), dict):
        yield ("some name",)
        for place in places_of(schema["additionalProperties"], deepest - 1):
            yield ("some name", *place)
    if isinstance(schema.get("items"), dict):
        yield (0,)
        for place in places_of(schema["items"], deepest - 1):
            yield (0, *place)


def config_places(route: Route) -> Iterator[tuple[str | int, ...]]:
    """The document says of a pipeline's options only that they are an object."""
    if route.path.endswith(("/jobs", "/preview", "/remap", "/clone")):
        for kind in (ExtractionConfig, NoopConfig):
            for place in places_of(kind.model_json_schema(), 2):
                yield ("config", *place)


def hostile_requests(route: Route, operation: dict[str, Any]) -> Iterator[Hostile]:
    """All requests to a route that are wrong in one place."""
    own = SENT.get(route.name, {})
    yield from _bodies(route, operation, own.get("json", {}))
    for parameter in operation.get("parameters", ()):
        if parameter["in"] == "query":
            name = parameter["name"]
            for text in TEXTS:
                yield Hostile(route, f"?{name}", f"{name}={quote(text)}")
            for raw in BYTES:
                yield Hostile(route, f"?{name}", f"{name}={raw}")
            yield Hostile(route, f"?{name} twice", f"{name}=1&{name}=2")
    yield Hostile(route, "?unknown", "nope=1")
    for thing in route.things:
        for text in (*TEXTS, "a/b", "."):
            if text:
                yield Hostile(route, f"/{thing}", replaced=(thing, quote(text, safe="")))
        for raw in BYTES[:4]:
            yield Hostile(route, f"/{thing}", replaced=(thing, raw))
    for name, texts in HEADERS.items():
        for text in texts:
            yield Hostile(route, f"{name}:", headers={name: text})


def _forms(route: Route, schema: dict[str, Any]) -> Iterator[Hostile]:
    kinds = {"Content-Type": "multipart/form-data; boundary=b"}
    file = (b'form-data; name="file"; filename="a.csv"', b"sku,title\n1,Hammer\n")
    for name in schema["properties"]:
        head = f'form-data; name="{name}"'.encode()
        for text in TEXTS:
            body = form((head, text.encode()), file)
            yield Hostile(route, f"form {name}", body=body, headers=kinds)
    for head in DISPOSITIONS:
        yield Hostile(route, "form head", body=form((head, b"a,b\n1,2\n")), headers=kinds)
    for body in (b"--b", b"--b--", b"--b\r\n\r\n--b--", b"--b\r\n" * 500, b"x" * 100_000):
        yield Hostile(route, "form", body=body, headers=kinds)


def form(*parts: tuple[bytes, bytes]) -> bytes:
    made = [b"--b\r\nContent-Disposition: %b\r\n\r\n%b\r\n" % part for part in parts]
    return b"".join(made) + b"--b--\r\n"


def _bodies(route: Route, operation: dict[str, Any], usual: Any) -> Iterator[Hostile]:
    content = operation.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema")
    kinds = {"Content-Type": "application/json"}
    if "multipart/form-data" in content:
        yield from _forms(route, content["multipart/form-data"]["schema"])
    if schema is None:
        # Such a route reads no body, or one of another kind; it must not stumble over one.
        for body in BODIES[:8]:
            yield Hostile(route, "body", body=body, headers=kinds)
        return
    for body in BODIES:
        yield Hostile(route, "body", body=body, headers=kinds)
    for place in dict.fromkeys((*places_of(schema), *config_places(route), ("unknown",))):
        for value in VALUES:
            about = ".".join(map(str, place))
            yield Hostile(route, about, body=with_value(usual, place, value), headers=kinds)
