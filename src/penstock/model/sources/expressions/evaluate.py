"""Check an expression once, and evaluate it for each record."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import date
from decimal import Decimal, DecimalException
from typing import Any

from penstock.model.sources.expressions.functions import FUNCTIONS
from penstock.model.sources.expressions.parser import (
    Constant,
    Function,
    Node,
    Operation,
    Path,
    parse,
)
from penstock.model.sources.expressions.tokens import ExpressionError
from penstock.model.sources.expressions.values import (
    MAX_ELEMENTS,
    NUMBERS,
    Budget,
    number_of,
    text_of,
    truth_of,
)


def compiled(text: str, lookups: Collection[str] = ()) -> Node:
    """Parse an expression and check its functions, their arguments and its lookups."""
    node = parse(text)
    for one in _functions(node):
        rule = FUNCTIONS.get(one.name)
        if rule is None:
            known = ", ".join(FUNCTIONS)
            raise ExpressionError(
                f"there is no function {one.name[:40]!r}. Known: {known}", one.column
            )
        if not rule.least <= len(one.arguments) <= rule.most:
            many = str(rule.least) if rule.least == rule.most else f"{rule.least} to {rule.most}"
            raise ExpressionError(f"{one.name} takes {many} arguments", one.column)
        if one.name == "lookup":
            table = one.arguments[0]
            if not isinstance(table, Constant) or table.value not in lookups:
                raise ExpressionError("lookup: name one of the `lookups` in quotes", one.column)
    return node


def _functions(node: Node) -> Iterator[Function]:
    if isinstance(node, Function):
        yield node
        for one in node.arguments:
            yield from _functions(one)
    elif isinstance(node, Operation):
        for one in node.operands:
            yield from _functions(one)


def evaluate(
    node: Node, record: Any, today: date, lookups: Mapping[str, Mapping[str, Any]] | None = None
) -> Any:
    """The value of an expression for a record. Raises `ExpressionError` where it has none."""
    try:
        return _value(node, record, Budget(today, lookups or {}))
    except DecimalException as error:
        reason = type(error).__name__
        raise ExpressionError(f"the arithmetic has no result ({reason})") from None


def _value(node: Node, record: Any, budget: Budget) -> Any:
    budget.take()
    match node:
        case Constant():
            return node.value
        case Path():
            return _at(record, node.steps, budget)
        case Function():
            return _called(node, record, budget)
        case Operation():
            return _operated(node, record, budget)


def _called(node: Function, record: Any, budget: Budget) -> Any:
    if node.name == "if":
        test = truth_of(_value(node.arguments[0], record, budget))
        if not test and len(node.arguments) == 2:
            return None
        return _value(node.arguments[1 if test else 2], record, budget)
    if node.name == "coalesce":
        for one in node.arguments:
            found = _value(one, record, budget)
            if found is not None and found != "":
                return found
        return None
    work = FUNCTIONS[node.name].work
    assert work is not None
    return work(budget, [_value(one, record, budget) for one in node.arguments])


def _operated(node: Operation, record: Any, budget: Budget) -> Any:
    sign = node.sign
    first = _value(node.operands[0], record, budget)
    if sign == "not":
        return not truth_of(first)
    if sign in ("and", "or"):
        if truth_of(first) is (sign == "or"):
            return first
        return _value(node.operands[1], record, budget)
    if sign == "neg":
        number = number_of(first)
        return None if number is None else NUMBERS.minus(number)
    second = _value(node.operands[1], record, budget)
    if sign in ("==", "!="):
        return _equal(first, second) is (sign == "==")
    if sign in ("<", "<=", ">", ">="):
        return _ordered(sign, first, second)
    return _arithmetic(sign, number_of(first), number_of(second))


def _arithmetic(sign: str, a: Decimal | None, b: Decimal | None) -> Decimal | None:
    if a is None or b is None:
        return None
    match sign:
        case "+":
            return NUMBERS.add(a, b)
        case "-":
            return NUMBERS.subtract(a, b)
        case "*":
            return NUMBERS.multiply(a, b)
    if b == 0:
        return None
    return NUMBERS.divide(a, b) if sign == "/" else NUMBERS.remainder(a, b)


def _equal(a: Any, b: Any) -> bool:
    if a is None or b is None or isinstance(a, bool) or isinstance(b, bool):
        return a is b or (isinstance(a, bool) and isinstance(b, bool) and a == b)
    x, y = number_of(a), number_of(b)
    if x is not None and y is not None:
        return x == y
    return text_of(a) is not None and text_of(a) == text_of(b)


def _ordered(sign: str, a: Any, b: Any) -> bool | None:
    x: Any = number_of(a)
    y: Any = number_of(b)
    if x is None or y is None:
        x, y = text_of(a), text_of(b)
    if x is None or y is None:
        return None
    match sign:
        case "<":
            return bool(x < y)
        case "<=":
            return bool(x <= y)
        case ">":
            return bool(x > y)
    return bool(x >= y)


def _at(record: Any, steps: tuple[str | int | None, ...], budget: Budget) -> Any:
    """What is at a path: members of objects and elements of lists, nothing else."""
    place = record
    for number, step in enumerate(steps):
        budget.take()
        if step is None:
            if place is None:
                return None
            values = place if isinstance(place, list) else [place]
            rest = steps[number + 1 :]
            found = [_at(one, rest, budget) for one in values[:MAX_ELEMENTS]]
            return [one for one in found if one is not None]
        if isinstance(step, int):
            if not isinstance(place, list):
                # A single element and a list of one are the same in XML.
                place = [place]
            place = place[step] if step < len(place) else None
        elif isinstance(place, Mapping):
            place = place.get(step)
        else:
            return None
        if place is None:
            return None
    return place
