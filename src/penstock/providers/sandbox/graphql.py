"""As much of GraphQL as the Admin API's clients need: fields, arguments, variables and fragments on
types, and the cost of a query by Shopify's rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_TOKEN = re.compile(
    r"""(?P<string>"(?:[^"\\]|\\.)*")|(?P<number>-?\d+)|(?P<name>[A-Za-z_]\w*)|(?P<var>\$\w+)"""
    r"""|(?P<spread>\.\.\.)|(?P<punctuation>[{}()\[\]:!=])|(?P<skipped>[\s,]+|\#[^\n]*)"""
)


class NotGraphQL(Exception):
    """The query cannot be read or answered; the message is for its author."""


@dataclass(slots=True)
class Field:
    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    fields: list[Field] = field(default_factory=list)
    # Only for objects of this type.
    on_type: str | None = None


def parse(text: str, variables: Mapping[str, Any]) -> tuple[str, list[Field]]:
    """`query` or `mutation`, and the fields that are asked for."""
    tokens = _Tokens(_tokens(text), variables)
    kind = "query"
    if tokens.peek != "{":
        kind = tokens.take()
        while tokens.peek not in ("{", "("):
            tokens.take()
        if tokens.peek == "(":
            _skip_definitions(tokens)
    if kind not in ("query", "mutation"):
        raise NotGraphQL(f"syntax error, unexpected {kind}")
    return kind, _selection(tokens)


def _tokens(text: str) -> Iterator[str]:
    place = 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            raise NotGraphQL(f"syntax error at {text[place : place + 10]!r}")
        place = found.end()
        if found.lastgroup != "skipped":
            yield found.group()


class _Tokens:
    def __init__(self, tokens: Iterator[str], variables: Mapping[str, Any]) -> None:
        self._all = list(tokens)
        self._next = 0
        self.variables = variables

    @property
    def peek(self) -> str:
        if self._next >= len(self._all):
            raise NotGraphQL("syntax error, unexpected end of file")
        return self._all[self._next]

    def take(self, wanted: str | None = None) -> str:
        token = self.peek
        if wanted is not None and token != wanted:
            raise NotGraphQL(f"syntax error, unexpected {token}, expecting {wanted}")
        self._next += 1
        return token


def _skip_definitions(tokens: _Tokens) -> None:
    while tokens.take() != ")":
        pass


def _selection(tokens: _Tokens) -> list[Field]:
    tokens.take("{")
    found: list[Field] = []
    while tokens.peek != "}":
        if tokens.peek == "...":
            tokens.take()
            tokens.take("on")
            on_type = tokens.take()
            for one in _selection(tokens):
                one.on_type = on_type
                found.append(one)
            continue
        one = Field(tokens.take())
        if tokens.peek == "(":
            tokens.take()
            while tokens.peek != ")":
                name = tokens.take()
                tokens.take(":")
                one.arguments[name] = _value(tokens)
            tokens.take()
        if tokens.peek == "{":
            one.fields = _selection(tokens)
        found.append(one)
    tokens.take("}")
    return found


def _value(tokens: _Tokens) -> Any:
    token = tokens.take()
    if token.startswith("$"):
        return tokens.variables.get(token[1:])
    if token.startswith('"'):
        return token[1:-1].replace('\\"', '"').replace("\\\\", "\\")
    if token.lstrip("-").isdigit():
        return int(token)
    return {"true": True, "false": False, "null": None}.get(token, token)


def cost_of(fields: Sequence[Field]) -> int:
    """The most that a query can cost: objects one point, connections two and their nodes."""
    return sum(_cost(one) for one in fields)


def _cost(one: Field) -> int:
    if not one.fields:
        return 0
    if one.name in ("nodes", "pageInfo", "edges", "node"):
        return cost_of(one.fields) + (one.name in ("nodes", "node") and bool(one.fields))
    inner = cost_of(one.fields)
    first = one.arguments.get("first") or one.arguments.get("last")
    return 2 + int(first) * inner if first else 1 + inner


def execute(fields: Sequence[Field], value: Any) -> Any:
    """The asked fields of a value. A field that is a function is called with its arguments."""
    if isinstance(value, list | tuple):
        return [execute(fields, one) for one in value]
    if not isinstance(value, Mapping):
        return value
    answer: dict[str, Any] = {}
    kind = value.get("__typename")
    for one in fields:
        if one.on_type is not None and kind not in (None, one.on_type):
            continue
        if one.name not in value:
            raise NotGraphQL(f"Field '{one.name}' doesn't exist on type '{kind or 'QueryRoot'}'")
        found = value[one.name]
        if callable(found):
            resolve: Callable[..., Any] = found
            found = resolve(**one.arguments)
        answer[one.name] = execute(one.fields, found) if one.fields else found
    return answer


def actual_cost(fields: Sequence[Field], answer: Mapping[str, Any]) -> int:
    """By the same rules, with the number of nodes that were returned."""
    total = 0
    for one in fields:
        found = answer.get(one.name)
        if not one.fields or found is None or one.name == "pageInfo":
            continue
        if isinstance(found, dict) and isinstance(found.get("nodes"), list):
            inner = next(part.fields for part in one.fields if part.name == "nodes")
            total += 2 + sum(1 + actual_cost(inner, node) for node in found["nodes"])
        else:
            total += 1 + (actual_cost(one.fields, found) if isinstance(found, dict) else 0)
    return total


def connection(
    nodes: Sequence[Any], show: Callable[[Any], Mapping[str, Any]] = lambda one: one
) -> Callable[..., Mapping[str, Any]]:
    """A list that is read in pages. Cursors are places in it; only the page is shown."""

    def page(first: int | None = None, after: str | None = None, **_: Any) -> Mapping[str, Any]:
        begin = int(after) if after else 0
        end = len(nodes) if first is None else min(begin + first, len(nodes))
        found = [show(one) for one in nodes[begin:end]]
        return {
            "nodes": found,
            "edges": [{"node": one} for one in found],
            "pageInfo": {
                "hasNextPage": end < len(nodes),
                "endCursor": str(end) if found else None,
            },
        }

    return page
