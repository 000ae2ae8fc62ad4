"""Split the text of an expression into tokens."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from string import ascii_letters, digits
from typing import Any, Literal

MAX_LENGTH = 2_000
MAX_TOKENS = 400
MAX_DIGITS = 30

TokenKind = Literal["number", "text", "name", "quoted", "sign", "end"]
_NAME_START = frozenset(ascii_letters + "_@#$")
_NAME = _NAME_START | frozenset(digits + "-:")
_SIGNS = ("==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "(", ")", "[", "]", ",", ".")
_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\", "'": "'", '"': '"'}


class ExpressionError(ValueError):
    """An expression that cannot be used. ``column`` counts from 1; 0: the whole expression."""

    def __init__(self, message: str, column: int = 0) -> None:
        super().__init__(f"column {column}: {message}" if column else message)
        self.column = column


@dataclass(frozen=True, slots=True)
class Token:
    kind: TokenKind
    value: Any
    column: int


def tokenize(text: str) -> list[Token]:
    """The tokens, with one of the kind `end` at the end."""
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"an expression has at most {MAX_LENGTH:,} characters")
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        if len(tokens) >= MAX_TOKENS:
            raise ExpressionError(f"an expression has at most {MAX_TOKENS} parts", at + 1)
        token, at = _next(text, at)
        tokens.append(token)
    tokens.append(Token("end", None, len(text) + 1))
    return tokens


def _next(text: str, at: int) -> tuple[Token, int]:
    character = text[at]
    if character in digits:
        return _number(text, at)
    if character in "'\"":
        return _text(text, at)
    if character == "`":
        return _quoted_name(text, at)
    if character in _NAME_START or character.isalpha():
        return _name(text, at)
    for sign in _SIGNS:
        if text.startswith(sign, at):
            return Token("sign", sign, at + 1), at + len(sign)
    raise ExpressionError(f"{character!r} is not allowed here", at + 1)


def _number(text: str, at: int) -> tuple[Token, int]:
    end = at
    while end < len(text) and text[end] in digits:
        end += 1
    if end + 1 < len(text) and text[end] == "." and text[end + 1] in digits:
        end += 1
        while end < len(text) and text[end] in digits:
            end += 1
    if end - at > MAX_DIGITS:
        raise ExpressionError(f"a number has at most {MAX_DIGITS} digits", at + 1)
    return Token("number", Decimal(text[at:end]), at + 1), end


def _text(text: str, at: int) -> tuple[Token, int]:
    quote, end, parts = text[at], at + 1, []
    while end < len(text) and text[end] != quote:
        if text[end] == "\\":
            escaped = text[end + 1 : end + 2]
            if escaped not in _ESCAPES:
                raise ExpressionError("after a backslash comes n, t, a quote or another", end + 1)
            parts.append(_ESCAPES[escaped])
            end += 2
            continue
        parts.append(text[end])
        end += 1
    if end >= len(text):
        raise ExpressionError("the text has no closing quote", at + 1)
    return Token("text", "".join(parts), at + 1), end + 1


def _quoted_name(text: str, at: int) -> tuple[Token, int]:
    end = text.find("`", at + 1)
    if end < 0:
        raise ExpressionError("the name has no closing backquote", at + 1)
    if end == at + 1:
        raise ExpressionError("the name is empty", at + 1)
    return Token("quoted", text[at + 1 : end], at + 1), end + 1


def _name(text: str, at: int) -> tuple[Token, int]:
    end = at + 1
    while end < len(text) and (text[end] in _NAME or text[end].isalnum()):
        end += 1
    # `a-b` is the name of a field; a minus needs a space before it.
    name = text[at:end].rstrip("-:")
    return Token("name", name, at + 1), at + len(name)
