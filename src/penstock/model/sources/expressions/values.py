"""Values of expressions, their conversions, and the budget that bounds an evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Context, Decimal, DivisionByZero, InvalidOperation, Overflow
from typing import Any

from penstock.model.sources.expressions.tokens import ExpressionError

MAX_STEPS = 10_000
MAX_TEXT = 100_000
MAX_ELEMENTS = 1_000
# The text of an XML element that has attributes or children.
TEXT = "#text"
# Results that do not fit are errors, never infinite numbers.
NUMBERS = Context(
    prec=34, Emax=60, Emin=-60, traps=[InvalidOperation, DivisionByZero, Overflow]
)  # fmt: skip
_MAX_NUMBER_LENGTH = 60


@dataclass(slots=True)
class Budget:
    """What is left of an evaluation. Every node takes a step, and every hundred characters that a
    function reads or writes another one, so that the time is bounded too."""

    today: date
    lookups: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    steps: int = MAX_STEPS

    def take(self, characters: int = 0) -> None:
        self.steps -= 1 + characters // 100
        if self.steps < 0:
            raise ExpressionError(f"the expression takes more than {MAX_STEPS:,} steps")

    def fits(self, characters: int) -> None:
        """Check the length of a text before it is made."""
        if characters > MAX_TEXT:
            raise ExpressionError(f"a text has at most {MAX_TEXT:,} characters")
        self.take(characters)


def text_of(value: Any) -> str | None:
    """The text of a value; None for nothing, and for lists and objects without a text."""
    match value:
        case None | list() | tuple():
            return None
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case Decimal():
            return plain_number(value)
        case int():
            return str(value) if abs(value) < 10**_MAX_NUMBER_LENGTH else None
        case float():
            return plain_number(Decimal(repr(value))) if value == value else None
        case date():
            return value.isoformat()[:10]
        case Mapping():
            return text_of(value.get(TEXT)) if TEXT in value else None
    return None


def plain_number(value: Decimal) -> str:
    """Without an exponent. A number too large for that is an error."""
    if not value.is_finite():
        raise ExpressionError("the result is not a number")
    if abs(value.adjusted()) > _MAX_NUMBER_LENGTH:
        raise ExpressionError("the number is too large")
    return format(value, "f")


def number_of(value: Any) -> Decimal | None:
    """The number of a value; None if it is none. Text is read as a plain number with a point."""
    match value:
        case Decimal():
            return value
        case bool() | None:
            return None
        case int():
            return Decimal(value) if abs(value) < 10**_MAX_NUMBER_LENGTH else None
        case float():
            return Decimal(repr(value)) if value == value else None
    text = text_of(value)
    if text is None or len(text) > _MAX_NUMBER_LENGTH or "_" in text:
        return None
    try:
        found = Decimal(text.strip())
    except InvalidOperation:
        return None
    return found if found.is_finite() else None


def truth_of(value: Any) -> bool:
    """Nothing, false, zero, an empty text and an empty list are false."""
    if isinstance(value, Mapping):
        return bool(value)
    number = value if isinstance(value, Decimal) else None
    return number != 0 if number is not None else bool(value)
