"""An OpenAPI document as HTML. It needs no script: one only filters the list of calls."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from html import escape
from http import HTTPStatus
from typing import Any

_CODE = re.compile(r"`([^`]+)`")
_LIST = re.compile(r"^- ", re.MULTILINE)
_DEEPEST = 4


def page(document: Mapping[str, Any]) -> str:
    reference = _Reference(document)
    info = document["info"]
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(info["title"])} API</title>
<link rel="icon" href="/favicon.svg">
<link rel="stylesheet" href="/docs/reference.css">
<script src="/docs/reference.js" defer></script>
</head>
<body>
<a class="skip" href="#main">To the calls</a>
<nav aria-label="Calls">
<p class="brand"><a href="#main">{escape(info["title"])} <span>API</span></a></p>
<input id="filter" type="search" placeholder="Filter calls" aria-label="Filter calls" hidden>
{"".join(reference.menu())}
</nav>
<main id="main">
<header>
<h1>{escape(info["title"])} API</h1>
{_text(info.get("description", ""))}
<p class="meta">Version {escape(info["version"])} · OpenAPI {escape(document["openapi"])} ·
<a href="/openapi.json">openapi.json</a></p>
</header>
{"".join(reference.chapters())}
</main>
</body>
</html>
"""


class _Reference:
    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        self._known: Mapping[str, Any] = document["components"]["schemas"]

    def menu(self) -> Iterator[str]:
        for tag, _, calls in self._by_tag():
            yield f"<h2>{escape(tag)}</h2><ul>"
            for path, method, call in calls:
                words = escape(f"{method} {path} {call['summary']}".lower())
                yield (
                    f'<li data-words="{words}"><a href="#{escape(call["operationId"])}">'
                    f"{_badge(method)}<span>{escape(call['summary'])}</span></a></li>"
                )
            yield "</ul>"

    def chapters(self) -> Iterator[str]:
        for tag, about, calls in self._by_tag():
            yield f"<section><h2>{escape(tag)}</h2>{_text(about)}"
            for path, method, call in calls:
                yield "".join(self._call(path, method, call))
            yield "</section>"

    def _by_tag(self) -> Iterator[tuple[str, str, list[tuple[str, str, Mapping[str, Any]]]]]:
        for tag in self._document["tags"]:
            calls = [
                (path, method, call)
                for path, methods in self._document["paths"].items()
                for method, call in methods.items()
                if tag["name"] in call.get("tags", ())
            ]
            yield tag["name"], tag["description"], calls

    def _call(self, path: str, method: str, call: Mapping[str, Any]) -> Iterator[str]:
        going = ' <span class="going">goes</span>' if call.get("deprecated") else ""
        yield f'<article id="{escape(call["operationId"])}">'
        yield f"<h3>{escape(call['summary'])}{going}</h3>"
        yield f'<p class="address">{_badge(method)} <code>{escape(path)}</code></p>'
        yield _text(call.get("description", ""))
        yield from self._parameters(call)
        yield from self._body(call)
        yield f"<h4>Example</h4><pre>{escape(_curl(path, method, call))}</pre>"
        yield from self._answers(call)
        yield "</article>"

    def _parameters(self, call: Mapping[str, Any]) -> Iterator[str]:
        shown = [one for one in call.get("parameters", ()) if "$ref" not in one]
        if not shown:
            return
        yield "<h4>Parameters</h4>"
        rows = [
            (one["name"], one["in"], self._kind(one["schema"]), one.get("required", False),
             one.get("description") or one["schema"].get("description", ""))
            for one in shown
        ]  # fmt: skip
        yield _table(rows)

    def _body(self, call: Mapping[str, Any]) -> Iterator[str]:
        for kind, media in call.get("requestBody", {}).get("content", {}).items():
            yield f"<h4>Body <code>{escape(kind)}</code></h4>"
            yield from self._fields(media.get("schema", {}))

    def _answers(self, call: Mapping[str, Any]) -> Iterator[str]:
        yield "<h4>Answers</h4>"
        for status, response in call["responses"].items():
            if status == "default":
                continue
            good = "good" if status.startswith(("2", "3")) else "bad"
            codes = " ".join(f"<code>{escape(code)}</code>" for code in response.get("x-codes", ()))
            shown = (
                f'<span class="{good}">{status}</span> {codes or HTTPStatus(int(status)).phrase}'
            )
            yield f"<details><summary>{shown}</summary>"
            yield _text(response["description"])
            for kind, media in response.get("content", {}).items():
                if good == "good":
                    yield f"<p><code>{escape(kind)}</code></p>"
                    yield from self._fields(media.get("schema", {}))
                    if "example" in media:
                        example = json.dumps(media["example"], indent=2, ensure_ascii=False)
                        yield f"<pre>{escape(example)}</pre>"
            yield "</details>"

    def _fields(self, schema: Any) -> Iterator[str]:
        rows = list(self._rows(schema, "", 0))
        if rows:
            yield _table(rows)

    def _rows(
        self, schema: Any, above: str, depth: int
    ) -> Iterator[tuple[str, str, str, bool, str]]:
        whole = self._resolved(schema)
        for name, part in whole.get("properties", {}).items():
            found = self._resolved(part)
            needed = name in whole.get("required", ())
            about = part.get("description") or found.get("description", "")
            yield f"{above}{name}", "", self._kind(part), needed, about
            inner = found.get("items", found) if depth < _DEEPEST else {}
            step = "[]." if "items" in found else "."
            yield from self._rows(inner, f"{above}{name}{step}", depth + 1)

    def _resolved(self, schema: Any) -> Mapping[str, Any]:
        if not isinstance(schema, Mapping):
            return {}
        if "$ref" in schema:
            return {**self._known.get(schema["$ref"].rpartition("/")[2], {}), **schema}
        for several in ("anyOf", "allOf"):
            for one in schema.get(several, ()):
                if one.get("type") != "null":
                    return {**self._resolved(one), **schema}
        return schema

    def _kind(self, schema: Any) -> str:
        """A type in a few words."""
        if isinstance(schema, Mapping) and "anyOf" in schema:
            kinds = [self._kind(one) for one in schema["anyOf"]]
            return " or ".join(dict.fromkeys(kinds))
        found = self._resolved(schema)
        if "enum" in found or "const" in found:
            return " · ".join(str(one) for one in found.get("enum", [found.get("const")]))
        if found.get("type") == "array":
            return f"list of {self._kind(found.get('items', {}))}"
        kind = str(found.get("format") or found.get("type") or "any")
        low, high = found.get("minimum"), found.get("maximum")
        if low is not None and high is not None:
            kind += f" {low} to {high}"
        return kind + (
            "" if found.get("default") in (None, "", [], {}) else f" = {found['default']}"
        )


def _badge(method: str) -> str:
    return f'<b class="method {escape(method)}">{escape(method.upper())}</b>'


def _text(markdown: str) -> str:
    """Paragraphs, lists and `code`: all that our descriptions use."""
    shown = []
    for block in filter(None, markdown.strip().split("\n\n")):
        safe = _CODE.sub(r"<code>\1</code>", escape(block, quote=False))
        if _LIST.match(safe):
            items = "".join(f"<li>{one}</li>" for one in _LIST.split(safe) if one.strip())
            shown.append(f"<ul>{items}</ul>")
        else:
            shown.append(f"<p>{safe}</p>")
    return "".join(shown)


def _table(rows: list[tuple[str, str, str, bool, str]]) -> str:
    lines = []
    for name, where, kind, needed, about in rows:
        mark = ' <i title="needed">*</i>' if needed else ""
        place = f"<small>{escape(where)}</small>" if where else ""
        lines.append(
            f"<tr><th scope=row><code>{escape(name)}</code>{mark}{place}</th>"
            f"<td><span class=kind>{escape(kind)}</span>{_text(about)}</td></tr>"
        )
    return f'<div class="wide"><table>{"".join(lines)}</table></div>'


def _curl(path: str, method: str, call: Mapping[str, Any]) -> str:
    words = ["curl", "-X", method.upper(), f'"$API{path}"']
    if "security" in call:
        words += ["-H", '"Authorization: Bearer $KEY"']
    for one in call.get("parameters", ()):
        if one.get("name") == "Tus-Resumable":
            words += ["-H", "'Tus-Resumable: 1.0.0'"]
    content = call.get("requestBody", {}).get("content", {})
    if "multipart/form-data" in content:
        words += ["-F", "file=@goods.csv"]
    elif "application/json" in content:
        body = json.dumps(content["application/json"].get("example", {}), ensure_ascii=False)
        words += ["-H", "'Content-Type: application/json'", "-d", shlex.quote(body)]
    return " ".join(words)
