"""The tree of an expression.

expression  or-terms: `a or b`, `a and b`, `not a`, comparisons, `+ - * / %`, unary minus
primary     number · 'text' · true · false · null · ( expression ) · function(…) · path
path        name, `quoted name`, .name, [0], [*]; $ is the whole record
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from penstock.model.sources.expressions.tokens import ExpressionError, Token, tokenize

MAX_DEPTH = 32
MAX_ARGUMENTS = 20
_CONSTANTS: dict[str, Any] = {"true": True, "false": False, "null": None}
_COMPARISONS = ("==", "!=", "<=", ">=", "<", ">")
RECORD = "$"


@dataclass(frozen=True, slots=True)
class Constant:
    value: Decimal | str | bool | None


@dataclass(frozen=True, slots=True)
class Path:
    """Names, positions, and None for every element of a list."""

    steps: tuple[str | int | None, ...]

    @property
    def shown(self) -> str:
        parts = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.steps
                 if step is not None]  # fmt: skip
        return "".join(parts).removeprefix(".")


@dataclass(frozen=True, slots=True)
class Operation:
    """``sign`` is an operator; a unary minus is `neg`, and `not` has one operand."""

    sign: str
    operands: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Function:
    name: str
    arguments: tuple[Node, ...]
    column: int


Node = Constant | Path | Operation | Function


def parse(text: str) -> Node:
    """Raises `ExpressionError` with the column. Names of functions are checked by `check`."""
    return _Parser(tokenize(text)).whole()


class _Parser:
    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    def whole(self) -> Node:
        if len(self._tokens) == 1:
            raise ExpressionError("the expression is empty", 1)
        node = self._either()
        if self._peek.kind != "end":
            raise self._unexpected()
        return node

    @property
    def _peek(self) -> Token:
        return self._tokens[self._at]

    def _take(self) -> Token:
        token = self._tokens[self._at]
        self._at += 1
        return token

    def _is(self, value: str, kind: str = "sign") -> bool:
        return self._peek.kind == kind and self._peek.value == value

    def _skip(self, value: str, kind: str = "sign") -> bool:
        if self._is(value, kind):
            self._at += 1
            return True
        return False

    def _need(self, value: str) -> None:
        if not self._skip(value):
            raise ExpressionError(f"{value!r} is missing", self._peek.column)

    def _unexpected(self) -> ExpressionError:
        token = self._peek
        what = "the expression ends too early" if token.kind == "end" else (
            f"{str(token.value)[:40]!r} is not allowed here")  # fmt: skip
        return ExpressionError(what, token.column)

    def _either(self) -> Node:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ExpressionError(f"nested more than {MAX_DEPTH} deep", self._peek.column)
        found = self._both()
        while self._skip("or", "name"):
            found = Operation("or", (found, self._both()))
        self._depth -= 1
        return found

    def _both(self) -> Node:
        found = self._negated()
        while self._skip("and", "name"):
            found = Operation("and", (found, self._negated()))
        return found

    def _negated(self) -> Node:
        if self._skip("not", "name"):
            return Operation("not", (self._deeper(self._negated),))
        return self._compared()

    def _compared(self) -> Node:
        found = self._sum()
        if self._peek.kind == "sign" and self._peek.value in _COMPARISONS:
            sign = self._take().value
            return Operation(sign, (found, self._sum()))
        return found

    def _sum(self) -> Node:
        found = self._product()
        while self._peek.kind == "sign" and self._peek.value in ("+", "-"):
            sign = self._take().value
            found = Operation(sign, (found, self._product()))
        return found

    def _product(self) -> Node:
        found = self._signed()
        while self._peek.kind == "sign" and self._peek.value in ("*", "/", "%"):
            sign = self._take().value
            found = Operation(sign, (found, self._signed()))
        return found

    def _signed(self) -> Node:
        if self._skip("-"):
            return Operation("neg", (self._deeper(self._signed),))
        return self._primary()

    def _deeper(self, read: Any) -> Node:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ExpressionError(f"nested more than {MAX_DEPTH} deep", self._peek.column)
        node: Node = read()
        self._depth -= 1
        return node

    def _primary(self) -> Node:
        token = self._peek
        match token.kind:
            case "number" | "text":
                return Constant(self._take().value)
            case "quoted":
                return self._path()
            case "name":
                if token.value in _CONSTANTS:
                    self._at += 1
                    return Constant(_CONSTANTS[token.value])
                following = self._tokens[self._at + 1]
                if following.kind == "sign" and following.value == "(":
                    return self._function()
                return self._path()
        if self._skip("("):
            node = self._either()
            self._need(")")
            return node
        raise self._unexpected()

    def _function(self) -> Node:
        token = self._take()
        self._need("(")
        arguments: list[Node] = []
        while not self._is(")"):
            if arguments:
                self._need(",")
            if len(arguments) >= MAX_ARGUMENTS:
                raise ExpressionError(f"more than {MAX_ARGUMENTS} arguments", token.column)
            arguments.append(self._either())
        self._need(")")
        return Function(token.value, tuple(arguments), token.column)

    def _path(self) -> Node:
        first = self._take()
        if first.kind == "name" and first.value in ("and", "or", "not"):
            raise ExpressionError(f"{first.value!r} is not allowed here", first.column)
        steps: list[str | int | None] = []
        if first.kind == "quoted" or first.value != RECORD:
            steps.append(first.value)
        while True:
            if self._skip("."):
                token = self._take()
                if token.kind not in ("name", "quoted"):
                    raise ExpressionError("a name comes after the point", token.column)
                steps.append(token.value)
            elif self._skip("["):
                steps.append(self._position())
                self._need("]")
            else:
                return Path(tuple(steps))

    def _position(self) -> int | None:
        if self._skip("*"):
            return None
        token = self._take()
        if token.kind != "number" or token.value != int(token.value) or token.value > 100_000:
            raise ExpressionError("a position is a whole number, or * for all", token.column)
        return int(token.value)
